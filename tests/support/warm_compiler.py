"""Imported once by the process that all killed ones are forked from: they need not compile."""

from __future__ import annotations

import dashboard.jobs.compute
import dashboard.jobs.worker  # noqa: F401
import swiftcore.cli.fit  # noqa: F401
from support.tiny_store import tiny_dataset
from swiftcore.fitting import fit_dataset
from swiftcore.spec import ModelSpec

# One worker and no clustering: a process whose threads have worked cannot be forked safely.
fit_dataset(
    tiny_dataset(), ModelSpec(rank=2, start="random", n_restarts=1, max_iterations=1), n_jobs=1
)

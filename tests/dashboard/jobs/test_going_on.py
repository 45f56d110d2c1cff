"""A finished fit that ended at its limit goes on from there, to the bits of a larger limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.jobs.compute import compute_fit
from dashboard.jobs.progress_reporter import ProgressReporter
from dashboard.store.job_state import FIT_STATE
from dashboard.store.request import Request
from dashboard.store.results import LAST_STATE
from dashboard.store.store import Store
from swiftcore.swift.checkpoint import kept_iteration

ENDLESS: dict[str, Any] = {"rank": 2, "tolerance": 0.0}


def computed(store: Store, request: Request) -> str:
    """Do what the worker does, in this process."""
    job = store.job(request.key())
    if not job.exists:
        job.create(request, 1.0, 1)
    data = store.dataset(request.dataset)
    files = compute_fit(store, data, request, ProgressReporter(job), None)
    return store.publish_run(request, files, 1.0, 1.0)


def test_it_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_launch", lambda store, job: None)  # computed here instead
    store = Store(tmp_path / "one")
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    short = computed(store, Request("fit", dataset, {**ENDLESS, "max_iterations": 4}))
    assert store.fit(short).can_go_on and not store.fit(short).converged
    further = store.run(jobs.go_on(store, short)).request
    assert further.settings["max_iterations"] == 16
    assert kept_iteration(store.checkpoints(further.key()) / FIT_STATE) == 4
    longer = store.fit(computed(store, further))

    other = Store(tmp_path / "other")
    other.add_dataset(tiny_dataset(outcome=False))
    undisturbed = other.fit(computed(other, further))
    for mine, theirs in zip(longer.factors, undisturbed.factors, strict=True):
        assert mine.tobytes() == theirs.tobytes()
    assert list(longer.history["objective"]) == list(undisturbed.history["objective"])


def test_an_imported_fit_does_not_go_on(tmp_path: Path) -> None:
    store, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    short = computed(store, Request("fit", dataset, {**ENDLESS, "max_iterations": 2}))
    taken = other.import_run(store.export_run(short, with_data=True))
    assert not other.fit(taken).can_go_on
    assert not (other.root / "runs" / taken / LAST_STATE).exists()
    assert other.fit(taken).imported is not None


def test_a_converged_fit_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    store = Store(tmp_path)
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    done = store.fit(computed(store, Request("fit", dataset, {"rank": 2, "consensus": 2})))
    assert done.converged and not done.can_go_on
    assert done.agreement is not None and done.agreement.n_fits == 2

"""What a build may be but hardly is: it passes only with an explicit yes."""

from __future__ import annotations

import numpy as np

from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.tensor import SparseTensor

DOUBTS = ("modes-many", "mode-unique", "rows-lost")  # codes of problems that a yes settles
MAX_MODES = 4
LEAST_PATIENTS, MAX_LOST = 20, 1 / 3
LEAST_LABELS, ALONE = 20, 0.9  # features, and the share of them in one row only
_YES = "or say that it is meant so (--yes, or yes in the options)."


def check_doubts(
    tensor: SparseTensor, patients: int, options: BuildOptions, findings: Findings
) -> None:
    """Note as problems what looks like a table misread, unless the person said yes.

    Parameters
    ----------
    patients : int
        Distinct row ids in the tables; those missing from the tensor were lost.

    Raises
    ------
    InvalidData
        With every doubt.
    """
    if options.yes:
        return
    if len(tensor.modes) > MAX_MODES:
        findings.problem(
            "modes-many",
            "The tensor would have more modes than data of this kind have",
            ", ".join(mode.name for mode in tensor.modes[:8])[:200],
            f"{len(tensor.modes)} modes",
            f"Choose the columns of features (columns.features) or the layout, {_YES}",
        )
    for axis, mode in enumerate(tensor.modes[1:], start=1):
        alone = _alone(tensor, axis)
        if len(mode) >= LEAST_LABELS and alone > ALONE * len(mode):
            findings.problem(
                "mode-unique",
                "Hardly any two rows share a feature",
                f"mode {mode.name}",
                f"{alone:,} of {len(mode):,} entries in one row only, for example "
                f"'{mode.labels[0][:40]}'",
                f"Choose other features or a layout such as lists, {_YES}",
            )
    lost = patients - tensor.shape[0]
    if patients >= LEAST_PATIENTS and lost > MAX_LOST * patients:
        findings.problem(
            "rows-lost",
            "More than a third of the rows would be lost",
            tensor.modes[0].name,
            f"{lost:,} of {patients:,} have no entry that is left",
            f"See what was left out and why, {_YES}",
        )
    findings.stop_if_problems()


def _alone(tensor: SparseTensor, axis: int) -> int:
    """How many features of a mode only one row has."""
    pairs = np.unique(tensor.coordinates[:, [axis, 0]], axis=0)
    return int((np.bincount(pairs[:, 0], minlength=tensor.shape[axis]) == 1).sum())

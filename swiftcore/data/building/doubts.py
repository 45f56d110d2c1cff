"""What a build may be but hardly is, whatever it was read from: it passes only with a yes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from swiftcore.data.building.build_tensor import support_of
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse, where_list
from swiftcore.tensor import Mode, SparseTensor

# codes of problems that a yes settles
DOUBTS = ("modes-many", "mode-unique", "rows-lost", "table-on-its-side", "tables-alike")
MAX_MODES = 4
MIN_PATIENTS, MAX_LOST = 20, 1 / 3
MIN_LABELS, ALONE = 20, 0.9  # features, and the share of them in one row only
ALONE_ON_A_LINE = 0.5  # the same where every row has one cell, as lists read as names have
DOTTED = re.compile(
    r"(\d{3}|[A-Z]\d[0-9A-Z])\.[0-9A-Z]{1,4}"
)  # codes such as E11.9 may all be rare
_YES = "or say that it is meant so (--yes, or yes in the options)."


def check_modes(names: Sequence[str], options: BuildOptions) -> None:
    """Refuse more modes than data of this kind have, before anything is joined.

    Raises
    ------
    InvalidData
        Unless the person said yes.
    """
    if options.yes or len(names) <= MAX_MODES:
        return
    raise refuse(
        "modes-many",
        "The tensor would have more modes than data of this kind have",
        where_list(names, 8)[:200],
        f"{len(names):,} modes",
        f"Choose the columns of features (columns.features) or the layout, {_YES}",
    )


def check_doubts(
    tensor: SparseTensor,
    ids: Mapping[str, Iterable[str]],
    kept: Iterable[str],
    options: BuildOptions,
    findings: Findings,
) -> None:
    """Note as problems what looks misread, unless the person said yes.

    Each table is asked by itself how many of its patients are lost: that some patients have no
    medication at all is how hospitals are, that most of those in one table are missing in the
    other is how wrong ids look.

    Parameters
    ----------
    ids : mapping of str to iterable of str
        By table, whom it holds.
    kept : iterable of str
        Who is in the tensor.

    Raises
    ------
    InvalidData
        With every doubt.
    """
    if options.yes:
        return
    _ask_about_features(tensor, findings)
    if _on_its_side(tensor):
        findings.problem(
            "table-on-its-side",
            "The rows look like features, and the features like row ids",
            tensor.modes[0].name,
            f"the rows '{tensor.modes[0].labels[0][:40]}', ...; the features "
            f"'{tensor.modes[1].labels[0][:40]}', ...",
            f"Turn the table, so that each line is a patient (or document), {_YES}",
        )
    _ask_about_lost(ids, set(kept), findings)
    findings.stop_if_problems()


def _ask_about_features(tensor: SparseTensor, findings: Findings) -> None:
    for axis, mode in enumerate(tensor.modes[1:], start=1):
        alone = _alone(tensor, axis)
        dotted = _dotted(mode)
        most = ALONE_ON_A_LINE if tensor.n_entries == tensor.shape[0] else ALONE
        if len(mode) >= MIN_LABELS and alone > most * len(mode) and not dotted:
            findings.problem(
                "mode-unique",
                "Hardly any two rows share a feature",
                f"mode {mode.name}",
                f"{alone:,} of {len(mode):,} entries in one row only, for example "
                f"'{mode.labels[0][:40]}'",
                f"Choose other features or a layout such as lists, {_YES}",
            )


def _ask_about_lost(ids: Mapping[str, Iterable[str]], kept: set[str], findings: Findings) -> None:
    for table, some in ids.items():
        whole = {one for one in some if one.strip()}
        lost = len(whole - kept)
        if len(whole) >= MIN_PATIENTS and lost > MAX_LOST * len(whole):
            findings.problem(
                "rows-lost",
                "More than a third of those in a table would be lost",
                table,
                f"{lost:,} of {len(whole):,} have no entry that is left",
                f"See what was left out and why, {_YES}",
            )


def _dotted(mode: Mode) -> bool:
    """Whether most labels are codes such as E11.9."""
    return sum(bool(DOTTED.fullmatch(label)) for label in mode.labels) > 0.5 * len(mode)


def _on_its_side(tensor: SparseTensor) -> bool:
    """Whether rows are named by codes, or features by numbers where no row has a number."""
    rows, *features = tensor.modes
    numbered = any(len(one) >= MIN_LABELS and all(map(str.isdigit, one.labels)) for one in features)
    return _dotted(rows) or (numbered and not any(re.search(r"\d", one) for one in rows.labels))


def _alone(tensor: SparseTensor, axis: int) -> int:
    """How many features of a mode only one row has."""
    support = support_of(tensor.coordinates, axis, tensor.shape[axis])
    return int((support == 1).sum())

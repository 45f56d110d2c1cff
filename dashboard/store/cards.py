"""What a list shows of data sets and runs, and how asking for one can fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from dashboard.store.imported import ID, Origin
from dashboard.store.request import Request
from swiftcore.errors import InvalidData, SwiftError, refuse
from swiftcore.tensor import TensorSize

NEW_ROWS = "new rows"  # role of a data set: rows described by a fit, no data to compute with


class RunState(Enum):
    """How a run stands; each value is a sentence."""

    QUEUED = "Waiting until the computations before it have ended."
    RUNNING = "Running."
    DONE = "Done."
    CANCELLED = "Cancelled on request."
    FAILED = "Failed."
    INTERRUPTED = "Interrupted: its process ended without a result."
    REMOVED = "Removed to make room."

    @property
    def active(self) -> bool:
        """Whether there is anything to watch or to stop."""
        return self in (RunState.QUEUED, RunState.RUNNING)


@dataclass(frozen=True)
class DatasetCard:
    """A stored data set, without its numbers.

    Attributes
    ----------
    classes : tuple of str
        Values of the outcome: ("no", "yes"), categories, or none.
    synthetic : bool
        Whether it is known to hold no real persons.
    added : float
        Seconds since 1970.
    columns : tuple of int
        For each mode, how many columns of its unfolding hold anything; for estimates.
    damaged : bool
        True when the stored files are not what was written; then only the id is sure.
    imported : bool
        Whether it came with an imported result.
    role : str
        :data:`NEW_ROWS`, or nothing for data to compute with.
    longest : tuple of int
        For each mode, the entries of the fullest column; on older cards, at most how many.
    """

    id: str
    name: str
    shape: tuple[int, ...]
    mode_names: tuple[str, ...]
    entries: int
    outcome_name: str
    classes: tuple[str, ...]
    synthetic: bool
    origin: str
    added: float
    columns: tuple[int, ...] = ()
    damaged: bool = False
    imported: bool = False
    role: str = ""
    longest: tuple[int, ...] = ()

    @property
    def size(self) -> TensorSize:
        """What the memory of a computation with these data hangs on."""
        longest = self.longest or self.shape
        return TensorSize(self.shape, self.entries, self.columns, longest, self.mode_names)


@dataclass(frozen=True)
class RunCard:
    """A stored or running computation, without its numbers.

    Attributes
    ----------
    created, ended : float, float or None
        Seconds since 1970.
    seconds : float
        Computed so far, or in all.
    progress : mapping or None
        done, total, what, objective, seconds, seconds_left and, for fits, the objectives so far.
    message : str
        Why it failed, or the sentence of its state.
    damaged : bool
        True when the stored result is not what was written.
    imported : Origin or None
        Where the result came from; None if it was computed here.
    """

    id: str
    kind: str
    dataset: str
    request: Request
    state: RunState
    created: float
    ended: float | None
    seconds: float
    title: str
    progress: Mapping[str, Any] | None
    message: str
    damaged: bool
    imported: Origin | None = None


def select_runs(
    cards: Iterable[RunCard], dataset: str | None = None, kind: str | None = None
) -> list[RunCard]:
    """Those of one data set or one kind, in the order given."""
    return [card for card in cards if dataset in (None, card.dataset) and kind in (None, card.kind)]


def belongs(card: RunCard, run: str, origin: Origin | None) -> bool:
    """Whether an experiment or a projection is of this fit, which was imported or not.

    What was imported names the fit by the id that it had elsewhere; it is of a fit that was
    imported too, and never of the one that was computed here.
    """
    if card.imported is None:
        return card.request.run == run
    return origin is not None and card.request.run in (run, origin.run)


def newest_sound(cards: Iterable[RunCard], kind: str, run: str = "") -> RunCard | None:
    """The first whole result of a kind, one's own before imported ones.

    With ``run``, of those that belong to that fit; what was imported with an imported fit is
    found if the fit is among the cards.
    """
    listed = list(cards)
    origin = next((card.imported for card in listed if card.id == run), None)
    found = [
        card
        for card in select_runs(listed, kind=kind)
        if card.state is RunState.DONE and not card.damaged
        if not run or belongs(card, run, origin)
    ]
    return min(found, key=lambda card: card.imported is not None, default=None)


class UnknownRun(SwiftError):
    """There is no such run, or it has no result."""


class UnknownDataset(SwiftError):
    """There is no such data set."""


class DamagedRun(SwiftError):
    """The stored result is not what was written."""


class StoreBusy(SwiftError):
    """What is to be deleted is being computed."""


def is_id(text: object) -> bool:
    """Whether it looks like an id; nothing else ever becomes part of a path."""
    return ID.fits(text)


def unknown_run(run_id: object, found: str = "no such run") -> UnknownRun:
    """The refusal for an id that leads nowhere."""
    return refuse(
        "run-unknown",
        "This run is not in the store",
        f"run {_shown(run_id)}",
        found,
        "Choose one from the list of runs, or compute it again.",
        kind=UnknownRun,
    )


def unknown_dataset(dataset_id: object) -> UnknownDataset:
    """The refusal for a data set that is not there."""
    return refuse(
        "dataset-unknown",
        "This data set is not in the store",
        f"data set {_shown(dataset_id)}",
        "no such data set",
        "Choose one from the list, or load it again.",
        kind=UnknownDataset,
    )


def damaged_dataset(dataset_id: str, found: str) -> InvalidData:
    """The refusal for data whose bytes are not to be trusted."""
    return refuse(
        "dataset-damaged",
        "The stored data were changed after they were written",
        f"data set {dataset_id[:8]}",
        found,
        "Load the data again.",
    )


def said_synthetic(name: str) -> InvalidData:
    """The refusal for real data that are here as synthetic ones: their counts would be shown."""
    return refuse(
        "dataset-synthetic",
        "The same data are here already, as synthetic ones",
        f"data set {name[:60]!r}",
        "data of real persons",
        "Delete those that are here first, or say that these are synthetic too.",
    )


def damaged_run(run_id: str, found: str) -> DamagedRun:
    """The refusal for a result whose bytes are not to be trusted."""
    return refuse(
        "run-damaged",
        "The stored result was changed after it was written",
        f"run {run_id[:8]}",
        found,
        "Compute it again; the same settings give it back.",
        kind=DamagedRun,
    )


def _shown(text: object) -> str:
    return text[:8] if is_id(text) and isinstance(text, str) else repr(text)[:40]

"""What can be asked of a search for settings; light enough for every page to import."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from swiftcore.errors import InvalidSettings, Problem
from swiftcore.evaluation.experiments.settings import MAX_LISTED
from swiftcore.runtime.ranges import FLAG, MAX_WHOLE, Range, listed, real, shortened, whole
from swiftcore.spec import SETTINGS

TUNE_GRIDS = 2  # part of what a search is called: raise it when it would come out differently
MAX_MINUTES = 60.0 * 24 * 7
UNLIMITED = 0.0  # minutes


@dataclass(frozen=True)
class TuneSettings:
    """How long a search for settings may take, and among what it chooses.

    Attributes
    ----------
    ranks : tuple of int
        Numbers of components to try.
    minutes : float
        How long it may take; 0: until everything has been tried.
    guided : bool
        Try settings that weigh features by the outcome too.
    least_class_size : int
        Rows of classes with fewer rows judge nothing; 0: all do.
    seed : int
        Of the folds, and of the model that is chosen.
    jobs : int
        Fits side by side, as in joblib.
    """

    ranks: tuple[int, ...] = (5, 10, 20)
    minutes: float = 10.0
    guided: bool = False
    least_class_size: int = 0
    seed: int = 0
    jobs: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "ranks", tuple(self.ranks))
        if problems := list(_problems(self)):
            raise InvalidSettings(problems)
        object.__setattr__(self, "ranks", tuple(sorted(set(self.ranks))))
        object.__setattr__(self, "minutes", float(self.minutes))

    def plain(self) -> dict[str, Any]:
        """As plain values; the number of processes changes no fit and stays out."""
        values = asdict(self)
        del values["jobs"]
        return {**values, "ranks": list(self.ranks)}


_RANK = whole(1, int((SETTINGS["rank"].offered or (1, 500))[1]))
_RANGES: dict[str, Range] = {
    "ranks": listed(_RANK, MAX_LISTED),
    "minutes": real(UNLIMITED, MAX_MINUTES),
    "guided": FLAG,
    "least_class_size": whole(0),
    "seed": whole(0),
    "jobs": Range(
        lambda value: whole(-MAX_WHOLE).fits(value) and value != 0,
        "the number of processes, or -1 for one per core",
    ),
}


def _problems(chosen: TuneSettings) -> Iterator[Problem]:
    for name, allowed in _RANGES.items():
        value = getattr(chosen, name)
        plain = list(value) if isinstance(value, tuple) else value
        if not allowed.fits(plain):
            what, cure = "A setting is out of range", f"Give {allowed.words}."
            yield Problem(name, what, name, shortened(plain), cure)
    if not chosen.ranks:
        cure = "Give ranks such as 5 10 20."
        yield Problem("ranks", "There is no number of components to try", "ranks", "none", cure)

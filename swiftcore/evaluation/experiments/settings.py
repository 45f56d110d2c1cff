"""What can be asked of an experiment, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swiftcore.errors import InvalidSettings, Problem
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.runtime.ranges import MAX_WHOLE, is_real, shortened, whole
from swiftcore.spec import SETTINGS

PROTOCOL = 3  # part of every key: raise it when a trial would come out differently
NOISE_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # the paper's
RECIPES = SETTINGS["costs"].choices


@dataclass(frozen=True)
class ExperimentSettings:
    """How large an experiment is.

    Attributes
    ----------
    methods : tuple of str
        Keys of the catalogue of methods; empty takes the usual ones, and SWIFT alone for an
        ablation or a look at stability.
    ranks : tuple of int
        Numbers of components.
    folds, repeats : int
        Folds of 3 : 1 : 1 (in five), drawn anew ``repeats`` times.
    quick : bool
        Small grids instead of the paper's.
    features : int
        The most features per mode, chosen from the training rows of each fold; 0: all.
    seed, jobs : int
    levels, draws : tuple of float, int
        Of the noise.
    recipes : tuple of str
        Cost matrices of the ablation.
    seeds : int
        With how many other seeds stability is tried.
    fit : mapping
        Changes of the usual spec, for the fit whose phenotypes are followed through noise,
        seeds and folds.
    """

    methods: tuple[str, ...] = ()
    ranks: tuple[int, ...] = (10,)
    folds: int = 5
    repeats: int = 1
    quick: bool = True
    features: int = 0
    seed: int = 0
    jobs: int = 1
    levels: tuple[float, ...] = NOISE_LEVELS
    draws: int = 2
    recipes: tuple[str, ...] = RECIPES
    seeds: int = 5
    fit: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("methods", "ranks", "levels", "recipes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        problems = [*_wrong_names(self), *_wrong_numbers(self)]
        if problems:
            raise InvalidSettings(problems)

    def plain(self) -> dict[str, Any]:
        """As plain values; the number of processes changes no result and stays out."""
        values = asdict(self)
        del values["jobs"]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _wrong_names(chosen: ExperimentSettings) -> Iterator[Problem]:
    known = {"methods": CATALOGUE, "recipes": RECIPES}
    for name, word in (("methods", "method"), ("recipes", "cost recipe")):
        if unknown := [repr(one) for one in getattr(chosen, name) if one not in known[name]]:
            yield Problem(
                f"{name[:-1]}-unknown",
                f"There is no such {word}",
                name,
                ", ".join(unknown),
                f"Choose from {', '.join(known[name])}.",
            )


MAX_TIMES = 10_000  # folds, draws and the like: beyond it a number is a slip
RANGES = {
    "folds": whole(2, MAX_TIMES),
    "repeats": whole(1, MAX_TIMES),
    "draws": whole(1, MAX_TIMES),
    "seeds": whole(1, MAX_TIMES),
    "features": whole(0),
    "seed": whole(0),
}
RANK = whole(1, 1_000_000)
MAX_LISTED = 1_000  # ranks, levels, methods, recipes


def _wrong_numbers(chosen: ExperimentSettings) -> Iterator[Problem]:
    if not chosen.ranks or not all(map(RANK.fits, chosen.ranks)):
        found = ", ".join(map(shortened, chosen.ranks)) or "none"
        what, cure = "Every rank is a whole number of 1 or more", "Give ranks such as 5 10 20."
        yield Problem("ranks", what, "ranks", found[:80], cure)
    for name, allowed in RANGES.items():
        if not allowed.fits(value := getattr(chosen, name)):
            what, cure = "The number is out of range", f"Give {allowed.words}."
            yield Problem(name, what, name, shortened(value), cure)
    if not whole(-MAX_WHOLE).fits(chosen.jobs) or chosen.jobs == 0:
        cure = "Give the number of processes, or -1 for one per core."
        yield Problem("jobs", "No process would be left", "jobs", shortened(chosen.jobs), cure)
    if wrong := [
        shortened(level) for level in chosen.levels if not is_real(level) or not 0 <= level <= 1
    ]:
        what, cure = "A noise level is out of range", "Give shares from 0 to 1."
        yield Problem("noise-level", what, "levels", ", ".join(wrong)[:80], cure)
    for name in ("methods", "ranks", "levels", "recipes"):
        if (count := len(getattr(chosen, name))) > MAX_LISTED:
            cure = f"Give at most {MAX_LISTED:,}."
            yield Problem(name, "The list is too long", name, f"{count:,} of them", cure)

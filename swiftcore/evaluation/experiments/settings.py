"""What can be asked of an experiment, in one place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swiftcore.data.summary import USUAL_FOLDS
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.evaluation.methods.catalogue import CATALOGUE, factorization
from swiftcore.runtime.ranges import MAX_WHOLE, is_real, shortened, whole
from swiftcore.spec import SETTINGS, ModelSpec, renamed

PROTOCOL = 4  # part of every key: raise it when a trial would come out differently
NOISE_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # the paper's
LATER = ("subsets", "subset_size", "least_class_size")  # in keys only where they are not 0
AS_GIVEN = "as given"  # the costs that the spec itself has
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
    subsets, subset_size : int
        Draw the folds inside each of this many random subsets of so many rows; 0: in all rows.
    least_class_size : int
        Classes with fewer rows are left out; 0: none is.
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
        With how many other seeds stability is tried, and ranks are.
    fit : mapping
        The spec that is judged, by name: its method is fitted as it says, without a grid, and its
        phenotypes are followed through noise, seeds and folds. Its rank is that of ``ranks``.
        Empty: the validation rows choose SWIFT's settings, and the usual spec is followed.
    """

    methods: tuple[str, ...] = ()
    ranks: tuple[int, ...] = (10,)
    folds: int = USUAL_FOLDS
    repeats: int = 1
    subsets: int = 0
    subset_size: int = 0
    least_class_size: int = 0
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
        problems = [*_wrong_names(self), *_wrong_numbers(self), *_wrong_spec(self)]
        if problems:
            raise InvalidSettings(problems)

    @property
    def judged(self) -> str:
        """The method in whose row of a table the given spec stands; empty without one."""
        return str(self.fit.get("method", ""))

    @property
    def ours(self) -> str:
        """The method with which the others are compared."""
        return self.judged or "swift"

    def changes(self, method: str) -> dict[str, Any]:
        """In what the given spec of a method is not the usual one; nothing if it is of another.

        Its seed is always named, its rank never: these are not the method's to say.
        """
        if method != self.ours:
            return {}
        usual = {**CATALOGUE[method].spec().plain(), "seed": None}
        given = renamed(self.fit)
        return {k: v for k, v in given.items() if k != "rank" and v != usual.get(k)}

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


def _wrong_spec(chosen: ExperimentSettings) -> Iterator[Problem]:
    try:
        factorization(ModelSpec.of(chosen.fit).method)
    except InvalidSettings as error:
        yield from error.problems


MAX_TIMES = 10_000  # folds, draws and the like: beyond it a number is a slip
RANGES = {
    "folds": whole(2, MAX_TIMES),
    "repeats": whole(1, MAX_TIMES),
    "subsets": whole(0, MAX_TIMES),
    "subset_size": whole(0),
    "least_class_size": whole(0),
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
    if bool(chosen.subsets) != bool(chosen.subset_size):
        found = f"{shortened(chosen.subsets)} of {shortened(chosen.subset_size)} rows"
        cure = "Give both --subsets and --subset-size, or neither."
        yield Problem("subsets", "Random subsets need a number and a size", "subsets", found, cure)
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

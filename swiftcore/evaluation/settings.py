"""What can be asked of an experiment, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swiftcore.errors import InvalidSettings, Problem
from swiftcore.method_names import METHOD_TITLES

PROTOCOL = 2  # part of every key: raise it when a trial would come out differently
NOISE_LEVELS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)  # the paper's
RECIPES = ("cosine", "one-minus-identity", "random")


@dataclass(frozen=True)
class ExperimentSettings:
    """How large an experiment is.

    Attributes
    ----------
    methods : tuple of str
        Keys of :data:`swiftcore.method_names.METHOD_TITLES`; empty takes the usual ones.
    ranks : tuple of int
        Numbers of components.
    folds, repeats : int
        Folds of 3 : 1 : 1 (in five), drawn anew ``repeats`` times.
    quick : bool
        Small grids instead of the paper's.
    features : int
        At most so many features per mode, chosen from the training rows of each fold; 0: all.
    seed, jobs : int
    levels, draws : tuple of float, int
        Of the noise.
    recipes : tuple of str
        Cost matrices of the ablation.
    fit : mapping
        Settings of the fit whose phenotypes are followed through noise, seeds and folds.
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
    fit: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name in ("methods", "ranks", "levels", "recipes"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        problems = []
        if unknown := [repr(key) for key in self.methods if key not in METHOD_TITLES]:
            problems.append(
                Problem("method-unknown", "There is no such method", "methods",
                        ", ".join(unknown), f"Choose from {', '.join(METHOD_TITLES)}.")
            )  # fmt: skip
        if not self.ranks or any(rank < 1 for rank in self.ranks):
            problems.append(
                Problem("ranks", "Every rank is a whole number of 1 or more", "ranks",
                        repr(self.ranks), "Give ranks such as 5 10 20.")
            )  # fmt: skip
        for name in ("repeats", "draws"):
            if getattr(self, name) < 1:
                problems.append(
                    Problem(name, "At least one is needed", name, repr(getattr(self, name)),
                            "Give a whole number of 1 or more.")
                )  # fmt: skip
        if problems:
            raise InvalidSettings(problems)

    def plain(self) -> dict[str, Any]:
        """As plain values; the number of processes changes no result and stays out."""
        values = asdict(self)
        del values["jobs"]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

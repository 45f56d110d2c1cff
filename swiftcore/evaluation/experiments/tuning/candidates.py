"""What is tried, in which order: a search that runs out of time has tried the promising first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.spec import DEFAULTS, ModelSpec

Changes = Mapping[str, Any]
FREE = ("rank", "seed")  # changing these makes a spec no less usual


def _profile(
    entries: str, rows: str, features: str, sharpness: float, costs: str = "cosine"
) -> Changes:
    return {
        "entry_values": entries,
        "row_mass": rows,
        "feature_weighting": features,
        "sharpness": sharpness,
        "costs": costs,
    }


# Most promising first (docs/evidence.md, "What helped"); the shipped settings come before them.
# Each names all that is tried, so that another default changes none of them.
PROFILES: tuple[Changes, ...] = (
    _profile("counts", "equal", "rarity", 2.0),
    _profile("presence", "equal", "none", 10.0),
    _profile("presence", "equal", "rarity", 2.0),
    _profile("counts", "as recorded", "none", 2.0),
    _profile("log counts", "equal", "rarity", 2.0),
    _profile("counts", "as recorded", "none", 10.0),
    _profile("counts", "equal", "none", 10.0),
    _profile("counts", "equal", "rarity", 10.0),
    _profile("log counts", "as recorded", "none", 10.0),
    _profile("counts", "as recorded", "none", 50.0),
    _profile("counts", "equal", "rarity", 10.0, "one-minus-identity"),
)
GUIDED: tuple[Changes, ...] = (
    {
        **_profile("counts", "equal", "outcome", 2.0),
        "outcome_power": 4.0,
        "outcome_share": 0.3,
    },
    {**_profile("presence", "equal", "rarity and outcome", 5.0), "outcome_power": 1.0},
    {**_profile("counts", "equal", "outcome", 2.0), "outcome_power": 1.0},
    {**_profile("counts", "as recorded", "outcome", 10.0), "outcome_power": 2.0},
)
# Without an outcome a fit is judged by the entries it foresees. Weighting changes what an entry
# counts, so that only these can be compared.
UNWEIGHTED: tuple[Changes, ...] = (
    {"sharpness": 2.0},
    {"sharpness": 10.0},
    {"sharpness": 50.0},
    {"costs": "one-minus-identity"},
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One spec to be tried, with its place in the order."""

    number: int
    spec: ModelSpec

    @property
    def changes(self) -> dict[str, Any]:
        """Its settings that are not the shipped ones, besides rank and seed."""
        return changes_of(self.spec)

    @property
    def simplicity(self) -> tuple[int, int, int]:
        """The smaller, the simpler: fewer components, then fewer changes, then the order."""
        return self.spec.rank, len(self.changes), self.number

    @property
    def words(self) -> str:
        """For tables in a terminal and for progress lines."""
        return replace(self.spec, seed=DEFAULTS["seed"]).title()


def changes_of(spec: ModelSpec) -> dict[str, Any]:
    """The settings of a spec that are not the shipped ones, besides rank and seed."""
    return {name: one for name, one in spec.changed(DEFAULTS).items() if name not in FREE}


def make_candidates(settings: TuneSettings, *, outcome: bool, binary: bool) -> list[Candidate]:
    """Every spec to be tried: the shipped settings at each rank, then the others.

    Parameters
    ----------
    outcome : bool
        Whether there is an outcome by which fits are judged.
    binary : bool
        Whether every entry is 1: then all ways to count an entry are one.
    """
    ranks = sorted(settings.ranks, key=lambda rank: (abs(rank - DEFAULTS["rank"]), rank))
    specs: dict[tuple[Any, ...], ModelSpec] = {}
    for changes in _profiles(settings.guided, outcome):
        for rank in ranks:
            spec = ModelSpec.of({**changes, "rank": rank, "seed": settings.seed})
            known = {**spec.plain(), "entry_values": "" if binary else spec.entry_values}
            specs.setdefault(tuple(map(str, known.values())), spec)
    return [Candidate(number, spec) for number, spec in enumerate(specs.values())]


def sharpest() -> float:
    """The largest sharpness that is ever tried: it takes the most memory."""
    tried = [DEFAULTS, *PROFILES, *GUIDED, *UNWEIGHTED]
    return float(max(one.get("sharpness", 0.0) for one in tried))


def _profiles(guided: bool, outcome: bool) -> Iterator[Changes]:
    yield {}
    yield from PROFILES[:3] if outcome else UNWEIGHTED
    if guided and outcome:
        yield from GUIDED
    if outcome:
        yield from PROFILES[3:]

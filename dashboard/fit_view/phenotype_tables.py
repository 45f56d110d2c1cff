"""What the screens and charts say about phenotypes: plain tables from a fit, no Streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from dashboard.store.agreement import by_phenotype, votes_on
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from dashboard.store.rounds import Settlement
from swiftcore.data.building.diagnosis_groups import diagnosis_paths, suggested_group
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.phenotypes.describe import Phenotype
from swiftcore.phenotypes.item import Item
from swiftcore.phenotypes.matching import partners, similarity
from swiftcore.phenotypes.names import SLIGHT
from swiftcore.phenotypes.shares import profiles
from swiftcore.tensor import Mode, SparseTensor

WEAK = 0.01  # features that make up less of a phenotype are hidden and counted
MAX_BARS = 12
# A lasso weight is the change of the log odds when membership grows by one standard deviation:
# 0.5 is odds of 1.6 to 1, 0.2 of 1.2 to 1.
STRONG, MODERATE = 0.5, 0.2
SAME_PROFILE = 0.99  # cosine from which on two modes with the same labels are shown once


@dataclass(frozen=True, eq=False)
class Profile:
    """One phenotype in one mode.

    Attributes
    ----------
    table : DataFrame
        feature, weight, lift, rows, everywhere (rows that have it, carriers or not): the shown
        features, most relevant first; of a consensus also spread.
    weak : int
        Features with some weight that are not shown because they are weak.
    weak_share : float
        What the weak ones make up together.
    rare : int
        Features not shown because too few rows have them.
    """

    table: pd.DataFrame
    weak: int
    weak_share: float
    rare: int

    def top(self, most: int) -> Profile:
        """The first few; the others count as weak."""
        kept, left = self.table[:most], self.table[most:]
        share = self.weak_share + float(left["weight"].abs().sum())
        return Profile(kept, self.weak + len(left), share, self.rare)

    def notes(self, limit: int, rows: str) -> list[str]:
        """What is not listed and why, in words.

        Parameters
        ----------
        limit : int
            As given to :func:`profile`.
        rows : str
            What the rows are called, in the plural; user text.
        """
        said = []
        if self.weak:
            said.append(f"{self.weak} weaker ones are not listed (together {self.weak_share:.0%})")
        if self.rare:
            said.append(f"{self.rare} rare ones are hidden (fewer than {limit} {rows})")
        return said


@dataclass(frozen=True)
class Link:
    """How a phenotype goes with the outcome.

    Attributes
    ----------
    weight : float
        The lasso coefficient; of several classes the one it speaks for most.
    low, high : float
        The ends of its 95 % interval.
    steady : float
        Share of the folds in which the sign was the same.
    towards : str
        The class it speaks for, when there are several.
    several : bool
        Whether there are several classes: then it can only speak for one of them.
    """

    weight: float
    low: float
    high: float
    steady: float
    towards: str = ""
    several: bool = False

    @property
    def direction(self) -> int:
        """1 towards, -1 away; 0 if there is no link, or if its interval holds both."""
        if self.low <= 0 <= self.high or (self.several and self.weight < 0):
            return 0
        return int(np.sign(self.weight))

    @property
    def strength(self) -> str:
        """One word: strong, moderate, weak; unclear if the direction is; none without a weight."""
        if self.weight == 0 or (self.several and self.weight < 0):
            return "none"
        if not self.direction:
            return "unclear"
        size = abs(self.weight)
        return "strong" if size >= STRONG else "moderate" if size >= MODERATE else "weak"

    @property
    def arrow(self) -> str:
        """The direction as a sign; empty without one."""
        return {1: "\u25b2", -1: "\u25bc"}.get(self.direction, "")

    def words(self, outcome: str) -> str:
        """How strong, and towards or away from what; user text."""
        if not self.direction:
            return self.strength
        side = "towards" if self.direction > 0 else "away from"
        return f"{self.strength}, {side} {self.towards or outcome or 'the outcome'}"


def presence(tensor: SparseTensor, axis: int) -> sparse.csr_array:
    """Which row has which feature of a mode at all."""
    rows, features = (tensor.coordinates[:, place].astype(np.int32) for place in (0, axis))
    there = np.ones(len(rows), dtype=bool)  # flags and short indices: half the time of numbers
    shape = (tensor.shape[0], tensor.shape[axis])
    found = sparse.csr_array((there, (rows, features)), shape=shape)
    found.sum_duplicates()
    return sparse.csr_array(found.astype(np.float64))


def profile(
    phenotype: Phenotype, mode: str, factor: NDArray[np.float64], has: sparse.csr_array, limit: int
) -> Profile:
    """The features of one mode that are worth showing, with how many rows stand behind each.

    Parameters
    ----------
    phenotype : Phenotype
        Described with more features than are shown.
    mode : str
        As the phenotype's items name it.
    factor : ndarray, (features x rank)
    has : sparse array, (rows x features)
        From :func:`presence`.
    limit : int
        Features of fewer rows than this are hidden: a rare code can give a person away.
    """
    everywhere = row_counts(has)
    common = everywhere >= limit
    behind = np.asarray(has[list(phenotype.rows)].sum(axis=0)).ravel()
    listed = phenotype.items[mode]
    strong = [item for item in listed if abs(item.weight) >= WEAK and common[item.index]][:MAX_BARS]
    table = pd.DataFrame(
        {
            "feature": [item.label for item in strong],
            "weight": [item.weight for item in strong],
            "lift": [item.lift for item in strong],
            "rows": [int(behind[item.index]) for item in strong],
            "everywhere": [int(everywhere[item.index]) for item in strong],
        }
    )
    if phenotype.found_in is not None:
        table["spread"] = [item.spread for item in strong]
    column = np.abs(profiles(factor[:, [phenotype.component]])).ravel()
    known = int(np.count_nonzero((column > 0) & common))
    weak_share = float(column[common].sum()) - float(table["weight"].abs().sum())
    rare = int(np.count_nonzero((column > 0) & ~common))
    return Profile(table, known - len(table), max(0.0, weak_share), rare)


def row_counts(has: sparse.csr_array) -> NDArray[np.float64]:
    """How many rows have each feature."""
    return np.asarray(has.sum(axis=0)).ravel()


def nameable(
    phenotype: Phenotype, counts: Sequence[NDArray[np.float64]], limit: int
) -> list[list[Item]]:
    """The features of each mode that enough rows have and that stand for the phenotype."""
    found = []
    for items, count in zip(phenotype.items.values(), counts, strict=True):
        least = SLIGHT * max((abs(item.weight) for item in items), default=0.0)
        strong = [item for item in items if abs(item.weight) >= min(WEAK, least)]
        found.append([item for item in strong if count[item.index] >= limit])
    return found


def group_name(modes: Sequence[Sequence[Item]], labels: Sequence[tuple[str, ...]]) -> str:
    """The smallest CCS group that holds most of a phenotype's diagnoses, if codes are known."""
    for items, names in zip(modes, labels, strict=True):
        weights = {item.label: item.weight for item in items if item.weight > 0}
        if found := suggested_group(weights, diagnosis_paths(names)):
            return found
    return ""


def most_similar(fit: FittedRun, component: int, count: int = 3) -> list[tuple[str, float]]:
    """The phenotypes nearest to one, each with its similarity."""
    found = np.abs(similarity(fit.factors[1:], fit.factors[1:])[component])
    order = [int(other) for other in np.argsort(-found, kind="stable")]
    alive = [other for other in order if other != component and other not in fit.dead]
    return [(fit.identifiers[other], float(found[other])) for other in alive[:count]]


def match_runs(here: FittedRun, there: FittedRun) -> pd.DataFrame:
    """The best one-to-one partners of two fits of the same features, whatever their methods.

    Returns
    -------
    DataFrame
        here, there, similarity (by absolute value), turned (whether the two have opposite
        signs); phenotypes without a partner have an empty text and NaN.
    """
    mine = [part for part in range(here.rank) if part not in here.dead]
    theirs = [part for part in range(there.rank) if part not in there.dead]
    found = similarity(here.factors[1:], there.factors[1:])[np.ix_(mine, theirs)]
    pairs = {mine[row]: (theirs[column], found[row, column]) for row, column in partners(found)}
    taken = {partner for partner, _ in pairs.values()}
    rows = [
        (here.identifiers[part], there.identifiers[partner], float(abs(value)), bool(value < 0))
        for part, (partner, value) in pairs.items()
    ]
    rows += [(here.identifiers[part], "", np.nan, False) for part in mine if part not in pairs]
    rows += [("", there.identifiers[part], np.nan, False) for part in theirs if part not in taken]
    table = pd.DataFrame(rows, columns=["here", "there", "similarity", "turned"])
    return table.sort_values("similarity", ascending=False, ignore_index=True)


def repeats(fit: FittedRun, axis: int) -> int:
    """The earlier mode that says the same, as in words by words; 0 if there is none."""
    for earlier in range(1, axis):
        if fit.modes[earlier].labels == fit.modes[axis].labels:
            pair = [profiles(fit.factors[place]) for place in (earlier, axis)]
            sizes = np.prod([np.linalg.norm(one, axis=0) for one in pair], axis=0)
            inner = np.einsum("ij,ij->j", *pair)
            if np.all(inner >= SAME_PROFILE * sizes):
                return earlier
    return 0


def same_features(here: Sequence[Mode], there: Sequence[Mode]) -> bool:
    """Whether two fits speak of the same features, so that they can be compared."""
    return [mode.labels for mode in here[1:]] == [mode.labels for mode in there[1:]]


def links(experiment: Experiment | None) -> dict[str, Link]:
    """The link of every phenotype; empty when the data have no outcome."""
    if experiment is None or "links" not in experiment.tables:
        return {}
    table = experiment.tables["links"]
    found: dict[str, Link] = {}
    for name, rows in table.groupby("phenotype", sort=False):
        strongest = rows.loc[rows["weight"].idxmax() if len(rows) > 1 else rows.index[0]]
        weight, several = float(strongest["weight"]), len(rows) > 1
        found[str(name)] = Link(
            weight,
            float(strongest["low"]),
            float(strongest["high"]),
            float(strongest["same_sign"]),
            str(strongest["class"]) if several and weight > 0 else "",
            several,
        )
    return found


def stability(experiment: Experiment | None) -> dict[str, float]:
    """Share of repeated runs in which each phenotype was found again."""
    if experiment is None or "summary" not in experiment.tables:
        return {}
    table = experiment.tables["summary"]
    shares = table[["seeds", "folds"]].mean(axis=1, skipna=True)
    return dict(zip(table["phenotype"].astype(str), shares.astype(float), strict=True))


def clinical_names(reviews: Sequence[Review], settled: Mapping[str, Settlement]) -> dict[str, str]:
    """The agreed name of each phenotype, else the one that more reviewers gave than any other."""
    voted = {name: vote.name for name, vote in votes_on(reviews).items()}
    agreed = {name: one.name for name, one in settled.items()}
    names = voted | {name: given for name, given in agreed.items() if given}
    return {name: given for name, given in names.items() if given}


def review_states(reviews: Iterable[Review], settled: Mapping[str, Settlement]) -> dict[str, str]:
    """What was judged of each phenotype: 'yes', '1 yes, 1 no', or 'yes (agreed)'."""
    tallies = {
        name: _tally([review.verdict for review in group])
        for name, group in by_phenotype(reviews).items()
    }
    return tallies | {name: f"{one.verdict} (agreed)" for name, one in settled.items()}


def _tally(given: Sequence[str]) -> str:
    counts = {verdict: given.count(verdict) for verdict in ("yes", "possibly", "no")}
    said = {verdict: count for verdict, count in counts.items() if count}
    if len(given) == 1:
        return given[0]
    return ", ".join(f"{count} {verdict}" for verdict, count in said.items())


def pair_table(
    fits: tuple[FittedRun, FittedRun],
    components: Sequence[int],
    axis: int,
    common: NDArray[np.bool_],
    most: int = MAX_BARS,
) -> pd.DataFrame:
    """The strongest features of two phenotypes side by side: feature, left, right."""
    left, right = (
        profiles(fit.factors[axis][:, [part]]).ravel()
        for fit, part in zip(fits, components, strict=True)
    )
    strength = np.where(common, np.maximum(np.abs(left), np.abs(right)), 0.0)
    places = [
        int(place)
        for place in np.argsort(-strength, kind="stable")[:most]
        if strength[place] >= WEAK
    ]
    labels = fits[0].modes[axis].labels
    return pd.DataFrame(
        {
            "feature": [labels[place] for place in places],
            "left": left[places],
            "right": right[places],
        }
    )

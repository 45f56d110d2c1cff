"""One phenotype with all that may be shown of it: gathered once for the screen and every export.

Small counts are hidden here, and row-level data never enter, so that nobody who draws a card or
writes a file has to remember either.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.card_room import features_listed, lines_listed, room_below
from dashboard.fit_view.outcome_rates import OutcomeRates, outcome_rates
from dashboard.fit_view.phenotype_tables import Link, Profile
from dashboard.fit_view.summary import FitSummary
from dashboard.fit_view.table_one import TableOne, table_one
from dashboard.privacy.small_counts import hidden, hidden_overlap
from dashboard.store.reviews import Review
from dashboard.store.rounds import Settlement
from dashboard.text.wording import plural
from swiftcore.data.dataset import Dataset
from swiftcore.data.side_tables import Covariate
from swiftcore.phenotypes.describe import Phenotype
from swiftcore.phenotypes.names import LESS


@dataclass(frozen=True)
class Feature:
    """One feature of a phenotype; ``rows`` is how many carriers have it, small counts hidden.

    ``spread`` is how far the weight typically is from this one in the fits of a consensus.
    """

    name: str
    weight: float
    lift: float
    rows: str
    spread: float | None = None

    @property
    def said(self) -> str:
        """The name, with a word before it if the phenotype has less of it."""
        return f"{LESS}{self.name}" if self.weight < 0 else self.name

    @property
    def usual(self) -> float:
        """What the feature makes up of all phenotypes together."""
        return abs(self.weight) / self.lift


@dataclass(frozen=True)
class ModeSheet:
    """The features of a phenotype in one mode, and a note on what its card does not list.

    ``listed`` is how many of them the card has room for; ``repeats`` says that an earlier mode
    has the same features with the same weights.
    """

    mode: str
    features: tuple[Feature, ...]
    note: str
    listed: int
    repeats: bool = False

    @property
    def shown(self) -> tuple[Feature, ...]:
        """Those on the card."""
        return self.features[: self.listed]


@dataclass(frozen=True)
class Neighbour:
    """Another phenotype, and how similar it is: 1 has the same features, 0 none in common."""

    identifier: str
    name: str
    similarity: float


@dataclass(frozen=True)
class PhenotypeSheet:
    """One phenotype.

    Attributes
    ----------
    identifier, digest : str
        P01 and so on; the digest of its content, to which reviews are bound.
    name : str
        The clinician's name, else the working name.
    working_name : str
    group : str
        The CCS group that holds most of its diagnoses; empty if codes are not known.
    share : float
        Of the model's mass.
    carriers, rows : str
        How many rows carry it, small counts hidden; how many rows there are.
    found_link : Link or None
        None without an outcome.
    link : str
        The same in words; empty without an outcome.
    found_again : float or None
        Share of repeated runs with the phenotype.
    reviews : tuple of Review
    agreed : Settlement or None
        What the reviewers agreed on.
    modes : tuple of ModeSheet
    who : TableOne
        Carriers against others in what is known of the rows besides the outcome.
    rates : OutcomeRates or None
        None without an outcome, or without carriers or others.
    similar : tuple of Neighbour
        The three nearest, the nearest first.
    found_in : tuple of two ints, or None
        Of a consensus: in how many fits it was found, of how many.
    found_rarely : bool
        Whether most of those fits do not have it.
    """

    identifier: str
    digest: str
    name: str
    working_name: str
    group: str
    share: float
    carriers: str
    rows: str
    found_link: Link | None
    link: str
    found_again: float | None
    reviews: tuple[Review, ...]
    agreed: Settlement | None
    modes: tuple[ModeSheet, ...]
    who: TableOne
    rates: OutcomeRates | None
    similar: tuple[Neighbour, ...]
    found_in: tuple[int, int] | None = None
    found_rarely: bool = False

    @property
    def weight(self) -> float | None:
        """The lasso weight, if there is an outcome."""
        return None if self.found_link is None else self.found_link.weight

    @property
    def steady(self) -> float | None:
        """Share of the folds in which the weight has its sign, if there is an outcome."""
        return None if self.found_link is None else self.found_link.steady

    @property
    def found_words(self) -> str:
        """In how many fits of a consensus it was found; empty for a single fit."""
        return "{} of {} fits".format(*self.found_in) if self.found_in else ""

    @property
    def largest(self) -> float:
        """The longest bar of the card."""
        listed = [one for mode in self.modes for one in mode.shown]
        return max(
            (max(abs(one.weight) + (one.spread or 0.0), one.usual) for one in listed), default=1.0
        )


def gather_sheet(
    summary: FitSummary, phenotype: Phenotype, dataset: Dataset, *, blind: bool = False
) -> PhenotypeSheet:
    """All that may be shown of one phenotype.

    Parameters
    ----------
    phenotype : Phenotype
        Of the summary, its features perhaps in another order.
    dataset : Dataset
        The data that were fitted, for what is known of the rows.
    blind : bool
        Whether nothing may tell the outcome, nor what reviewers said: for those who judge.
    """
    name = phenotype.identifier
    link = None if blind else summary.links.get(name)
    names = summary.working_names if blind else summary.names
    rows = summary.card.shape[0]
    carries = np.zeros(rows, dtype=bool)
    carries[list(phenotype.rows)] = True
    group = summary.groups.get(name, "")
    about = bool(group) or names[name] != summary.working_names[name]
    room = room_below(names[name], about=about)
    modes = _modes(summary, phenotype, room)
    listed = [[one.said for one in mode.shown] for mode in modes if not mode.repeats]
    who = table_one(carries, describing(dataset.side.covariates, dataset.outcome), summary.limit)
    return PhenotypeSheet(
        identifier=name,
        digest=summary.fit.phenotype_digest(phenotype.component),
        name=names[name],
        working_name=summary.working_names[name],
        group=group,
        share=phenotype.share,
        carriers=hidden(len(phenotype.rows), summary.limit, rows),
        rows=f"{rows:,}",
        found_link=link,
        link="" if link is None else link.words(summary.card.outcome_name),
        found_again=summary.stability.get(name),
        reviews=() if blind else tuple(one for one in summary.reviews if one.phenotype == name),
        agreed=None if blind else summary.settled.get(name),
        modes=modes,
        who=replace(who, listed=lines_listed([line.height for line in who.lines], listed, room)),
        rates=None if blind else _rates(carries, dataset, link, summary.limit),
        similar=tuple(
            Neighbour(other, names[other], value)
            for other, value in phenotype_tables.most_similar(summary.fit, phenotype.component)
        ),
        found_in=phenotype.found_in,
        found_rarely=phenotype.found_rarely,
    )


def _rates(
    carries: NDArray[np.bool_], dataset: Dataset, link: Link | None, limit: int
) -> OutcomeRates | None:
    if dataset.outcome is None:
        return None
    towards = link.towards if link else ""
    return outcome_rates(carries, dataset.outcome, dataset.outcome_name, towards, limit)


def describing(
    covariates: tuple[Covariate, ...], outcome: NDArray[Any] | None
) -> tuple[Covariate, ...]:
    """The covariates that do not tell the outcome.

    A column that is known only of rows with one outcome, such as the date of the event, is a part
    of it: it describes nobody, and would tell a blind reviewer what must not be known.
    """
    if outcome is None or len(set(outcome.tolist())) < 2:
        return covariates
    return tuple(one for one in covariates if not _tells(one, outcome))


def _tells(one: Covariate, outcome: NDArray[Any]) -> bool:
    values = pd.Series(one.values)
    known = values.notna() & (values.astype(str) != "")
    groups = values if one.kind == "text" else known
    return bool(
        known.any() and pd.Series(outcome)[known].groupby(groups[known]).nunique().max() == 1
    )


def _modes(summary: FitSummary, phenotype: Phenotype, room: int) -> tuple[ModeSheet, ...]:
    """All modes; how much of each the card lists depends on how many there are."""
    profiles = [summary.profile(phenotype, axis) for axis, _ in enumerate(phenotype.items, start=1)]
    repeats = [phenotype_tables.repeats(summary.fit, axis + 1) for axis in range(len(profiles))]
    drawn = [axis for axis, again in enumerate(repeats) if not again]
    names = [profiles[axis].table["feature"].tolist() for axis in drawn]
    listed = dict(zip(drawn, features_listed(names, room), strict=True))
    return tuple(
        _mode(summary, phenotype, mode, profiles[axis], listed.get(axis, 0), repeats[axis])
        for axis, mode in enumerate(phenotype.items)
    )


def _mode(
    summary: FitSummary,
    phenotype: Phenotype,
    mode: str,
    profile: Profile,
    listed: int,
    repeats: bool,
) -> ModeSheet:
    carriers, rows = len(phenotype.rows), summary.card.shape[0]
    features = tuple(
        Feature(
            str(row.feature),
            float(row.weight),
            float(row.lift),
            hidden_overlap(int(row.rows), carriers, int(row.everywhere), rows, summary.limit),
            getattr(row, "spread", None),
        )
        for row in profile.table.itertuples()
    )
    notes = profile.top(listed).notes(summary.limit, plural(summary.row_noun))
    return ModeSheet(mode, features, "; ".join(notes) + "." if notes else "", listed, repeats)

"""Everything a screen needs to know about the chosen fit, read once per drawing."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.phenotype_tables import Link
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.cards import DatasetCard
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from swiftcore.errors import SwiftError
from swiftcore.phenotypes.describe import Phenotype


@dataclass(frozen=True, eq=False)
class FitSummary:
    """A finished fit with what is known about each of its phenotypes.

    Attributes
    ----------
    phenotypes : dict of str to Phenotype
        By identifier, the largest share first.
    names : dict of str to str
        The clinician's name, else a working name; user text.
    links : dict of str to Link
        Empty when the data set has no outcome.
    stability : dict of str to float
        Empty until a stability study of this fit is there.
    reviews : list of Review
        The newest of each reviewer and phenotype, of these very phenotypes.
    limit : int
        Counts below it are hidden.
    """

    run: str
    card: DatasetCard
    fit: FittedRun
    phenotypes: dict[str, Phenotype]
    names: dict[str, str]
    links: dict[str, Link]
    stability: dict[str, float]
    reviews: list[Review]
    limit: int

    @property
    def row_noun(self) -> str:
        """What a row is called: patient, document."""
        return self.card.mode_names[0]

    def title(self, identifier: str) -> str:
        """P03: its name; user text."""
        return f"{identifier}: {self.names.get(identifier, '')}"


def fit_summary() -> FitSummary | None:
    """The chosen fit, or None when there is none; raises SwiftError when it is damaged."""
    run, dataset = state.current_run(), state.current_dataset()
    if not run or not dataset:
        return None
    fitted, limit = cache.fit(run), state.small_cells()
    phenotypes = {each.identifier: each for each in cache.phenotypes(run)}
    counts = [
        phenotype_tables.row_counts(cache.presence(dataset, axis))
        for axis in range(1, len(fitted.modes))
    ]
    reviews = [review for review in cache.reviews().latest(run) if _is_of(review, fitted)]
    names = {
        each.identifier: phenotype_tables.working_name(each, counts, limit)
        for each in phenotypes.values()
    }
    return FitSummary(
        run,
        cache.card(dataset),
        fitted,
        phenotypes,
        names | phenotype_tables.clinical_names(reviews),
        phenotype_tables.links(fitted.links),
        _stability(dataset, run),
        reviews,
        limit,
    )


def resolve_phenotype(summary: FitSummary) -> bool:
    """Put the choice on a phenotype that exists; False when the link named another one."""
    wanted, notices = state.current_phenotype(), state.get(Key.DEAD_LINKS, [])
    if wanted not in summary.phenotypes:
        state.choose(phenotype=next(iter(summary.phenotypes), ""))
        state.set(Key.DEAD_LINKS, notices)
        state.set(Key.DEAD_PHENOTYPE, bool(wanted))
    return not state.get(Key.DEAD_PHENOTYPE, False)


def link_words(summary: FitSummary, name: str) -> str:
    """Towards, away or none; for data scientists the number too."""
    link = summary.links.get(name)
    if link is None:
        return ""
    if state.wording() == "scientist":
        number = f"{link.weight:+.3f}"
        return f"{number} {link.towards}".strip()
    words = {1: "towards", -1: "away from", 0: "none"}[link.direction]
    target = link.towards or (summary.card.outcome_name if link.direction else "")
    return f"{words} {target}".strip()


def _stability(dataset: str, run: str) -> dict[str, float]:
    """A study that cannot be read must not hide the phenotypes; its own page says what is wrong."""
    try:
        return phenotype_tables.stability(cache.latest_experiment(dataset, "stability", run))
    except SwiftError:
        return {}


def _is_of(review: Review, fitted: FittedRun) -> bool:
    """A review is bound to what the phenotype said when it was judged."""
    if review.phenotype not in fitted.identifiers:
        return False
    component = fitted.identifiers.index(review.phenotype)
    return review.phenotype_digest == fitted.phenotype_digest(component)

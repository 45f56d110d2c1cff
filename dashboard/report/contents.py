"""What may leave the house about a finished fit: gathered once, used by every export.

Small counts are hidden here, and row-level data never enter, so that no export has to
remember either.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.fit_view import phenotype_tables
from dashboard.privacy.small_counts import DEFAULT_LIMIT, LOWEST_LIMIT, hidden
from dashboard.report.sections import Section, experiment_sections
from dashboard.store.cards import DatasetCard, RunCard
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from dashboard.text.wording import NOT_A_CAUSE, NOT_A_DIAGNOSIS, capital, count_of, plural
from swiftcore import __version__
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.tensor import SparseTensor

FEATURES_READ = 60  # per mode; the strong ones of them are listed, the rest is counted


@dataclass(frozen=True)
class Feature:
    """One feature of a phenotype; ``rows`` is how many carriers have it, small counts hidden."""

    name: str
    weight: float
    lift: float
    rows: str


@dataclass(frozen=True)
class ModeSheet:
    """The features of a phenotype in one mode, and a note on what is not listed."""

    mode: str
    features: tuple[Feature, ...]
    note: str


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
    share : float
        Of the model's mass.
    carriers : str
        How many rows carry it, small counts hidden.
    link : str
        In words; empty without an outcome.
    weight, steady, found_again : float or None
        Lasso weight, share of folds with its sign, share of repeated runs with the phenotype.
    reviews : tuple of Review
    modes : tuple of ModeSheet
    """

    identifier: str
    digest: str
    name: str
    working_name: str
    share: float
    carriers: str
    link: str
    weight: float | None
    steady: float | None
    found_again: float | None
    reviews: tuple[Review, ...]
    modes: tuple[ModeSheet, ...]


@dataclass(frozen=True)
class Report:
    """Everything that an export may show.

    Attributes
    ----------
    title, subtitle, run : str
    row_noun : str
        What a row is called: patient, document.
    warnings : tuple of str
        What a reader must know before anything else.
    facts, settings : tuple of (str, str)
    phenotypes : tuple of PhenotypeSheet
        The largest share first.
    sections : tuple of Section
        Links, stability, evaluation and noise, as far as they were computed.
    limit : int
        Counts below it are hidden.
    """

    title: str
    subtitle: str
    run: str
    row_noun: str
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    phenotypes: tuple[PhenotypeSheet, ...]
    sections: tuple[Section, ...]
    limit: int


def gather_report(
    run: RunCard,
    card: DatasetCard,
    fit: FittedRun,
    tensor: SparseTensor,
    *,
    reviews: Iterable[Review] = (),
    experiments: Mapping[str, Experiment] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Report:
    """Gather what may be shown of a fit.

    Parameters
    ----------
    run, card : RunCard, DatasetCard
    fit : FittedRun
    tensor : SparseTensor
        The data, for counting how many rows stand behind a feature.
    reviews : iterable of Review
        Of this run; those of another content are left out.
    experiments : dict of Experiment
        Any of stability, evaluation, noise, ablation; links come with the fit.
    limit : int
        The smallest count that may be shown; below 5 only for synthetic data.

    Raises
    ------
    InvalidSettings
        If small counts of real data would be shown.
    """
    if limit < LOWEST_LIMIT and not card.synthetic:
        raise refuse(
            "small-cells",
            "Small counts of real data must stay hidden",
            "limit",
            str(limit),
            f"Give {LOWEST_LIMIT} or more.",
            kind=InvalidSettings,
        )
    known = dict(experiments or {})
    sheets = _Sheets(card, fit, tensor, _own(reviews, fit), known.get("stability"), limit)
    described = describe_phenotypes(fit.factors, fit.modes, FEATURES_READ)
    phenotypes = tuple(sheets.of(phenotype) for phenotype in described)
    names = {sheet.identifier: sheet.name for sheet in phenotypes}
    if fit.links is not None:
        known["links"] = fit.links
    return Report(
        title="Phenotype report",
        subtitle=card.name,
        run=run.id,
        row_noun=card.mode_names[0],
        warnings=_warnings(card, fit, limit),
        facts=_facts(run, card, fit, len(phenotypes)),
        settings=tuple(
            (name.replace("_", " "), str(value)) for name, value in fit.settings.items()
        ),
        phenotypes=phenotypes,
        sections=experiment_sections(known, names, limit),
        limit=limit,
    )


class _Sheets:
    """Makes the sheet of each phenotype of one fit."""

    def __init__(
        self,
        card: DatasetCard,
        fit: FittedRun,
        tensor: SparseTensor,
        reviews: tuple[Review, ...],
        stability: Experiment | None,
        limit: int,
    ) -> None:
        self.card, self.fit, self.reviews, self.limit = card, fit, reviews, limit
        self.has = [phenotype_tables.presence(tensor, axis) for axis in range(1, tensor.n_modes)]
        self.counts = [phenotype_tables.row_counts(one) for one in self.has]
        self.links = phenotype_tables.links(fit.links)
        self.found = phenotype_tables.stability(stability)
        self.names = phenotype_tables.clinical_names(reviews)

    def of(self, phenotype: Phenotype) -> PhenotypeSheet:
        name = phenotype.identifier
        working = phenotype_tables.working_name(phenotype, self.counts, self.limit)
        link = self.links.get(name)
        return PhenotypeSheet(
            identifier=name,
            digest=self.fit.phenotype_digest(phenotype.component),
            name=self.names.get(name, working),
            working_name=working,
            share=phenotype.share,
            carriers=hidden(len(phenotype.rows), self.limit, self.card.shape[0]),
            link="" if link is None else self._link_words(link),
            weight=None if link is None else link.weight,
            steady=None if link is None else link.steady,
            found_again=self.found.get(name),
            reviews=tuple(review for review in self.reviews if review.phenotype == name),
            modes=tuple(
                self._mode(phenotype, axis, mode)
                for axis, mode in enumerate(phenotype.items, start=1)
            ),
        )

    def _mode(self, phenotype: Phenotype, axis: int, mode: str) -> ModeSheet:
        profile = phenotype_tables.profile(
            phenotype, mode, self.fit.factors[axis], self.has[axis - 1], self.limit
        )
        carriers = len(phenotype.rows)
        features = tuple(
            Feature(
                str(row.feature),
                float(row.weight),
                float(row.lift),
                hidden(int(row.rows), self.limit, carriers),
            )
            for row in profile.table.itertuples()
        )
        notes = []
        if profile.weak:
            notes.append(
                f"{profile.weak} weaker ones are not listed (together {profile.weak_share:.0%})"
            )
        if profile.rare:
            notes.append(
                f"{profile.rare} are hidden because fewer than {self.limit} "
                f"{plural(self.card.mode_names[0])} have them"
            )
        return ModeSheet(mode, features, "; ".join(notes) + "." if notes else "")

    def _link_words(self, link: phenotype_tables.Link) -> str:
        if link.direction == 0:
            return "none"
        target = link.towards or self.card.outcome_name or "the outcome"
        return f"{'towards' if link.direction > 0 else 'away from'} {target}"


def _own(reviews: Iterable[Review], fit: FittedRun) -> tuple[Review, ...]:
    """Reviews of what these phenotypes say; a number alone proves nothing."""
    digests = {name: fit.phenotype_digest(part) for part, name in enumerate(fit.identifiers)}
    return tuple(one for one in reviews if digests.get(one.phenotype) == one.phenotype_digest)


def _warnings(card: DatasetCard, fit: FittedRun, limit: int) -> tuple[str, ...]:
    said = [NOT_A_DIAGNOSIS, NOT_A_CAUSE]
    if not fit.converged:
        said.append(f"Read with care. {fit.outcome}")
    if card.synthetic:
        said.append("Made from synthetic data: no real persons.")
    if limit:
        said.append(
            f"Counts of 1 to {limit - 1} are shown as <{limit}, "
            "and counts that would give them away are hidden too."
        )
    return tuple(said)


def _facts(
    run: RunCard, card: DatasetCard, fit: FittedRun, alive: int
) -> tuple[tuple[str, str], ...]:
    sizes = ", ".join(
        count_of(size, name) for size, name in zip(card.shape, card.mode_names, strict=True)
    )
    dead = f"; {len(fit.dead)} more died out" if fit.dead else ""
    when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.ended or run.created))
    return (
        ("Data", f"{capital(sizes)}; {card.entries:,} entries"),
        ("Origin", card.origin or "not stated"),
        ("Outcome", card.outcome_name or "none"),
        ("Phenotypes", f"{alive}{dead}"),
        ("How the fit ended", fit.outcome),
        ("Fit error", f"{fit.objective:,.1f}"),
        ("Computed", f"{when}, in {run.seconds:,.0f} s, by SWIFT Phenotyping {__version__}"),
        ("Run", run.id),
    )

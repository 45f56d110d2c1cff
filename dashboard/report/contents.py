"""What may leave the house about a finished fit: gathered once, used by every export.

Small counts are hidden here, and row-level data never enter, so that no export has to
remember either.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.fit_view.phenotype_tables import presence
from dashboard.fit_view.summary import FEATURES_READ, FitSummary, summarize_fit
from dashboard.privacy.small_counts import DEFAULT_LIMIT, LOWEST_LIMIT, hidden
from dashboard.report.sections import Section, experiment_sections, in_words_of
from dashboard.store.cards import DatasetCard, RunCard
from dashboard.store.imported import Origin
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from dashboard.text.wording import NOT_A_CAUSE, capital, count_of, label, plural, vocabulary
from swiftcore import __version__
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import factorization, title_of
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.phenotypes.names import LESS
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor


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
    group : str
        The CCS group that holds most of its diagnoses; empty if codes are not known.
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
    link: str
    weight: float | None
    steady: float | None
    found_again: float | None
    reviews: tuple[Review, ...]
    modes: tuple[ModeSheet, ...]
    found_in: tuple[int, int] | None = None
    found_rarely: bool = False

    @property
    def found_words(self) -> str:
        """In how many fits of a consensus it was found; empty for a single fit."""
        return "{} of {} fits".format(*self.found_in) if self.found_in else ""


@dataclass(frozen=True)
class Report:
    """Everything that an export may show.

    Attributes
    ----------
    title, subtitle, run : str
    method : str
        Title of the factorization.
    signed : bool
        Whether features may have a weight below 0.
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
    source : str
        Where the fit was imported from; empty if it was computed here.
    made_for : str
        The mark of a fit that was guided by the outcome; empty for others.
    """

    title: str
    subtitle: str
    run: str
    method: str
    signed: bool
    row_noun: str
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    phenotypes: tuple[PhenotypeSheet, ...]
    sections: tuple[Section, ...]
    limit: int
    source: str = ""
    made_for: str = ""

    @property
    def of_consensus(self) -> bool:
        """Whether several fits stand behind it."""
        return any(each.found_in for each in self.phenotypes)


def gather_report(
    run: RunCard,
    card: DatasetCard,
    fit: FittedRun,
    tensor: SparseTensor,
    *,
    reviews: Iterable[Review] = (),
    experiments: Mapping[str, Experiment] | None = None,
    origins: Mapping[str, Origin] | None = None,
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
    experiments, origins : dict of Experiment, dict of Origin
        Any of stability, evaluation, noise, ablation (links come with the fit), and by kind
        where those that were imported came from.
    limit : int
        The smallest count that may be shown; below 5 only for synthetic data.

    Raises
    ------
    InvalidSettings
        If small counts of real data would be shown.
    """
    _check_limit(limit, card)
    known = {**(experiments or {}), **({} if fit.links is None else {"links": fit.links})}
    summary = summarize_fit(
        run.id,
        card,
        fit,
        describe_phenotypes(fit.factors, fit.modes, FEATURES_READ, agreement=fit.agreement),
        [presence(tensor, axis) for axis in range(1, tensor.n_modes)],
        reviews,
        known.get("stability"),
        limit,
    )
    phenotypes = tuple(_sheet(summary, each) for each in summary.phenotypes.values())
    return Report(
        title=vocabulary(card.mode_names).phrase("Phenotype report"),
        subtitle=card.name,
        run=run.id,
        method=title_of(fit.method),
        signed=fit.signed,
        row_noun=summary.row_noun,
        warnings=_warnings(card, fit, limit),
        facts=_facts(run, card, fit, len(phenotypes)),
        settings=_settings(fit),
        phenotypes=phenotypes,
        sections=_sections(summary, known, origins or {}, run.request.spec),
        limit=limit,
        source=fit.imported.words if fit.imported else "",
    )


def _sections(
    summary: FitSummary,
    known: Mapping[str, Experiment],
    origins: Mapping[str, Origin],
    spec: ModelSpec,
) -> tuple[Section, ...]:
    """What the experiments say, in the words of the data."""
    made = experiment_sections(known, summary.names, summary.limit, origins, spec)
    return in_words_of(made, vocabulary(summary.card.mode_names))


def _settings(fit: FittedRun) -> tuple[tuple[str, str], ...]:
    """Those that change anything for the method."""
    method = factorization(fit.method)
    used = [name for name in fit.settings if method.uses(name)]
    return tuple((name.replace("_", " "), str(fit.settings[name])) for name in used)


def _check_limit(limit: int, card: DatasetCard) -> None:
    if limit < LOWEST_LIMIT and not card.synthetic:
        raise refuse(
            "small-cells",
            "Small counts of real data must stay hidden",
            "limit",
            str(limit),
            f"Give {LOWEST_LIMIT} or more.",
            kind=InvalidSettings,
        )


def _sheet(summary: FitSummary, phenotype: Phenotype) -> PhenotypeSheet:
    name = phenotype.identifier
    link = summary.links.get(name)
    return PhenotypeSheet(
        identifier=name,
        digest=summary.fit.phenotype_digest(phenotype.component),
        name=summary.names[name],
        working_name=summary.working_names[name],
        group=summary.groups.get(name, ""),
        share=phenotype.share,
        carriers=hidden(len(phenotype.rows), summary.limit, summary.card.shape[0]),
        link="" if link is None else link.words(summary.card.outcome_name),
        weight=None if link is None else link.weight,
        steady=None if link is None else link.steady,
        found_again=summary.stability.get(name),
        reviews=tuple(review for review in summary.reviews if review.phenotype == name),
        modes=tuple(
            _mode(summary, phenotype, axis, mode)
            for axis, mode in enumerate(phenotype.items, start=1)
        ),
        found_in=phenotype.found_in,
        found_rarely=phenotype.found_rarely,
    )


def _mode(summary: FitSummary, phenotype: Phenotype, axis: int, mode: str) -> ModeSheet:
    profile = summary.profile(phenotype, axis)
    carriers = len(phenotype.rows)
    features = tuple(
        Feature(
            str(row.feature),
            float(row.weight),
            float(row.lift),
            hidden(int(row.rows), summary.limit, carriers),
            getattr(row, "spread", None),
        )
        for row in profile.table.itertuples()
    )
    notes = profile.notes(summary.limit, plural(summary.row_noun))
    return ModeSheet(mode, features, "; ".join(notes) + "." if notes else "")


def _warnings(card: DatasetCard, fit: FittedRun, limit: int) -> tuple[str, ...]:
    said = [vocabulary(card.mode_names).caution, NOT_A_CAUSE]
    if fit.imported is not None:
        said.append(fit.imported.sentence())
    if card.imported:
        said.append("Its data came with an imported result.")
    if not fit.converged:
        said.append(f"Read with care. {fit.outcome}")
    if fit.signed:
        said.append(label("signs", "clinician"))
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
        ("Method", title_of(fit.method)),
        (vocabulary(card.mode_names).phrase("Phenotypes"), f"{alive}{dead}"),
        ("How the fit ended", fit.outcome),
        ("Fit error", f"{fit.objective:,.1f}"),
        ("Computed", f"{when}, in {run.seconds:,.0f} s, {_by(fit)}"),
        ("Run", run.id),
    )


def _by(fit: FittedRun) -> str:
    if fit.imported is None:
        return f"by SWIFT Phenotyping {__version__}"
    return f"as its file says, by SWIFT Phenotyping {fit.imported.version}; {fit.imported.words}"

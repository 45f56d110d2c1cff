"""What may leave the house about a finished fit: gathered once, used by every export.

Small counts are hidden here, and row-level data never enter, so that no export has to
remember either.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.fit_view.phenotype_sheet import PhenotypeSheet, gather_sheet
from dashboard.fit_view.phenotype_tables import presence
from dashboard.fit_view.summary import FEATURES_READ, FitSummary, summarize_fit
from dashboard.privacy.small_counts import DEFAULT_LIMIT, LOWEST_LIMIT
from dashboard.report.sections import Section, experiment_sections, in_words_of
from dashboard.store.cards import DatasetCard, RunCard
from dashboard.store.imported import Origin
from dashboard.store.results import FittedRun
from dashboard.store.rounds import Judged
from dashboard.text.wording import (
    NOT_A_CAUSE,
    PHENOTYPES,
    Vocabulary,
    capital,
    count_of,
    label,
    vocabulary,
)
from swiftcore import __version__
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import factorization, title_of
from swiftcore.phenotypes.describe import describe_phenotypes
from swiftcore.spec import ModelSpec

NOTHING_SAID = Judged()
BLIND = (
    "Written for a reviewer whose round is open: links to the outcome and what other reviewers "
    "said are left out."
)


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
    row_noun, outcome : str
        What a row is called: patient, document; what the outcome is called, if there is one.
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
    vocabulary : Vocabulary
        What the data call the things that our own sentences speak of.
    """

    title: str
    subtitle: str
    run: str
    method: str
    signed: bool
    row_noun: str
    outcome: str
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    phenotypes: tuple[PhenotypeSheet, ...]
    sections: tuple[Section, ...]
    limit: int
    source: str = ""
    made_for: str = ""
    vocabulary: Vocabulary = PHENOTYPES

    @property
    def of_consensus(self) -> bool:
        """Whether several fits stand behind it."""
        return any(each.found_in for each in self.phenotypes)


def gather_report(
    run: RunCard,
    card: DatasetCard,
    fit: FittedRun,
    dataset: Dataset,
    *,
    judged: Judged = NOTHING_SAID,
    experiments: Mapping[str, Experiment] | None = None,
    origins: Mapping[str, Origin] | None = None,
    limit: int = DEFAULT_LIMIT,
) -> Report:
    """Gather what may be shown of a fit.

    Parameters
    ----------
    run, card : RunCard, DatasetCard
    fit, dataset : FittedRun, Dataset
        The fit, and the data that were fitted.
    judged : Judged
        Of this run; what was said of another content is left out.
    experiments, origins : dict of Experiment, dict of Origin
        Any of stability, evaluation, noise, ablation; where those imported came from.
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
        [presence(dataset.tensor, axis) for axis in range(1, dataset.tensor.n_modes)],
        judged,
        known.get("stability"),
        limit,
    )
    phenotypes = tuple(gather_sheet(summary, each, dataset) for each in summary.phenotypes.values())
    return Report(
        title=vocabulary(card.mode_names).phrase("Phenotype report"),
        subtitle=card.name,
        run=run.id,
        method=title_of(fit.method),
        signed=fit.signed,
        row_noun=summary.row_noun,
        outcome=card.outcome_name,
        warnings=(*_warnings(card, fit, limit), *((BLIND,) if judged.blind_for else ())),
        facts=_facts(run, card, fit, len(phenotypes)),
        settings=_settings(fit),
        phenotypes=phenotypes,
        sections=_sections(summary, known, origins or {}, run.request.spec),
        limit=limit,
        source=fit.imported.words if fit.imported else "",
        vocabulary=vocabulary(card.mode_names),
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


def _warnings(card: DatasetCard, fit: FittedRun, limit: int) -> tuple[str, ...]:
    known = vocabulary(card.mode_names)
    said = [known.caution, NOT_A_CAUSE]
    if fit.imported is not None:
        said.append(fit.imported.sentence())
    if card.imported:
        said.append("Its data came with an imported result.")
    if not fit.converged:
        said.append(f"Read with care. {fit.outcome}")
    if fit.signed:
        said.append(known.phrase(label("signs", "clinician")))
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

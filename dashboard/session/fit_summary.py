"""The chosen fit and what is known about it, read once per drawing."""

from __future__ import annotations

from dashboard.fit_view.summary import FitSummary, summarize_fit
from dashboard.session import cache, state
from dashboard.session.state import Key
from swiftcore.errors import SwiftError
from swiftcore.evaluation.experiments.result import Experiment


def fit_summary() -> FitSummary | None:
    """The chosen fit, or None when there is none; raises SwiftError when it is damaged."""
    run, dataset = state.current_run(), state.current_dataset()
    return summary_of(run, dataset) if run and dataset else None


def summary_of(run: str, dataset: str) -> FitSummary:
    """Any finished fit of a data set; raises SwiftError when it is damaged."""
    fitted = cache.fit(run)
    return summarize_fit(
        run,
        cache.card(dataset),
        fitted,
        cache.phenotypes(run),
        [cache.presence(dataset, axis) for axis in range(1, len(fitted.modes))],
        cache.judged(run),
        _stability(dataset, run),
        state.small_cells(),
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
        return f"{link.weight:+.3f} {link.towards}".strip()
    return link.words(summary.card.outcome_name)


def _stability(dataset: str, run: str) -> Experiment | None:
    """A study that cannot be read must not hide the phenotypes; its own page says what is wrong."""
    try:
        return cache.latest_experiment(dataset, "stability", run)
    except SwiftError:
        return None

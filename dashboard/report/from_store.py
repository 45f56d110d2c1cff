"""The report of a stored run: the newest of everything known about it."""

from __future__ import annotations

from dataclasses import replace

from dashboard.fit_view.blind import blind_data, blind_fit
from dashboard.report.contents import Report, gather_report
from dashboard.store.cards import newest_sound
from dashboard.store.lineage import made_for
from dashboard.store.request import EXPERIMENTS, OF_A_FIT
from dashboard.store.review_file import ReviewsUnavailable
from dashboard.store.reviews import Reviews
from dashboard.store.rounds import Judged, Rounds
from dashboard.store.store import Store


def report_of_run(
    store: Store, reviews: Reviews, run_id: str, limit: int, blind_for: str = ""
) -> Report:
    """Gather the report of a finished fit.

    Parameters
    ----------
    store : Store
    reviews : Reviews
    run_id : str
        Of a fit. Experiments of its data set come along; phenotypes are followed only where
        they are its own.
    limit : int
        The smallest count that may be shown; below 5 only for synthetic data.
    blind_for : str
        The reviewer who asked for it in the middle of a round: then it is without links to the
        outcome and without what others said.

    Raises
    ------
    SwiftError
        If the run or its data are unknown or damaged, or the limit is too low.
    """
    judged, unread = _judged(reviews, run_id, blind_for)
    run, fit, data = store.run(run_id), store.fit(run_id), store.dataset(store.run(run_id).dataset)
    if blind_for:
        fit, data = blind_fit(fit), blind_data(data)
    runs, experiments = store.runs(run.dataset), {}
    origins = {"links": run.imported}
    for kind in EXPERIMENTS:
        newest = newest_sound(runs, kind, run_id)
        if newest is None and kind not in OF_A_FIT:  # of the data, if not of this result
            newest = newest_sound(runs, kind)
        if newest is not None:
            experiments[kind], origins[kind] = store.experiment(newest.id), newest.imported
    noise = newest_sound(runs, "noise")
    if "noise" not in experiments and noise is not None:
        found = store.experiment(noise.id)
        if "scores" in found.tables:  # they are of the data; P01, P02 ... are of another fit
            experiments["noise"] = replace(found, tables={"scores": found.tables["scores"]})
            origins["noise"] = noise.imported
    report = gather_report(
        run,
        store.card(run.dataset),
        fit,
        data,
        judged=judged,
        experiments=experiments,
        origins={kind: origin for kind, origin in origins.items() if origin is not None},
        limit=limit,
    )
    guided = made_for(run, runs, store.card(run.dataset).outcome_name)
    first = (guided,) if guided else ()
    return replace(report, made_for=guided, warnings=(*report.warnings, *first, *unread))


def _judged(reviews: Reviews, run_id: str, blind_for: str) -> tuple[Judged, list[str]]:
    """What was said of it, and what a reader must know if that cannot be read."""
    try:
        return Rounds(reviews).judged(run_id, blind_for), []
    except ReviewsUnavailable as error:
        said = f"{error.problems[0].what}. 'Not reviewed' says nothing here."
        return Judged(blind_for=blind_for), [said]

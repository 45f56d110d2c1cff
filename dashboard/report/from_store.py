"""The report of a stored run: the newest of everything known about it."""

from __future__ import annotations

from dataclasses import replace

from dashboard.report.contents import Report, gather_report
from dashboard.store.request import EXPERIMENTS, OF_A_FIT
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store


def report_of_run(store: Store, reviews: Reviews, run_id: str, limit: int) -> Report:
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

    Raises
    ------
    SwiftError
        If the run or its data are unknown or damaged, or the limit is too low.
    """
    run, fit = store.run(run_id), store.fit(run_id)
    experiments = {}
    for kind in EXPERIMENTS:
        newest = store.latest(run.dataset, kind, run_id if kind in OF_A_FIT else "")
        if newest is not None:
            experiments[kind] = store.experiment(newest.id)
    if "noise" not in experiments and (newest := store.latest(run.dataset, "noise")) is not None:
        found = store.experiment(newest.id)
        if "scores" in found.tables:  # they are of the data; P01, P02 ... are of another fit
            experiments["noise"] = replace(found, tables={"scores": found.tables["scores"]})
    return gather_report(
        run,
        store.card(run.dataset),
        fit,
        store.dataset(run.dataset).tensor,
        reviews=reviews.latest(run_id),
        experiments=experiments,
        limit=limit,
    )

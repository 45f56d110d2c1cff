"""The report of a stored run: the newest of everything known about it."""

from __future__ import annotations

from dashboard.report.contents import Report, gather_report
from dashboard.runs.request import EXPERIMENTS
from dashboard.runs.reviews import Reviews
from dashboard.runs.store import Store


def report_of_run(store: Store, reviews: Reviews, run_id: str, limit: int) -> Report:
    """Gather the report of a finished fit.

    Parameters
    ----------
    store : Store
    reviews : Reviews
    run_id : str
        Of a fit. Experiments of its data set come along; a stability study must be its own.
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
        newest = store.latest(run.dataset, kind, run_id if kind == "stability" else "")
        if newest is not None:
            experiments[kind] = store.experiment(newest.id)
    return gather_report(
        run, store.card(run.dataset), fit, store.dataset(run.dataset).tensor,
        reviews=reviews.latest(run_id), experiments=experiments, limit=limit,
    )  # fmt: skip

"""A fit and its data for a reviewer in the middle of a round: nothing in them tells the outcome."""

from __future__ import annotations

from dataclasses import replace

from dashboard.fit_view.phenotype_sheet import describing
from dashboard.store.results import FittedRun
from swiftcore.data.dataset import Dataset


def blind_fit(fit: FittedRun) -> FittedRun:
    """The fit without its links to the outcome."""
    return replace(fit, links=None)


def blind_data(dataset: Dataset) -> Dataset:
    """The data without the outcome of each row, of which links and rates could be made.

    Covariates that tell the outcome go with it: without it nobody could tell which they are.
    """
    known = describing(dataset.side.covariates, dataset.outcome)
    return replace(dataset, outcome=None, side=replace(dataset.side, covariates=known))

"""Results through the store of the dashboard: asked for at the terminal, found on the pages."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from swiftcore.cli.data_argument import is_sample, screen
from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.store_argument import store_root, way_to_open
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.fitting import FittedModel
from swiftcore.progress import duration
from swiftcore.spec.cost_text import TABLE, read_cost_text

STOPPED = "Stopped; the same command goes on from what is done."


@dataclass(frozen=True, eq=False)
class StoredAnswer:
    """A result in a store.

    Attributes
    ----------
    store : dashboard.store.store.Store
    run : str
        Its id.
    from_store : bool
        Whether it was there already.
    """

    store: Any
    run: str
    from_store: bool

    @property
    def seconds(self) -> float:
        """That computing it took."""
        return float(self.store.run(self.run).seconds)

    def model(self) -> FittedModel:
        """Of a fit; raises if its files were changed."""
        from dashboard.jobs.compute import load_fit  # late: it is an extra

        return load_fit(self.store, self.run)

    def experiment(self) -> Experiment:
        """Of an experiment; raises if its files were changed."""
        found: Experiment = self.store.experiment(self.run)
        return found


def ask_store(
    chosen: argparse.Namespace,
    dataset: Dataset,
    kind: str,
    settings: Mapping[str, Any],
    run: str = "",
) -> StoredAnswer | None:
    """The stored answer to a request, computed if it is not there; None if it was stopped.

    Parameters
    ----------
    run : str
        Id of the fit that an experiment is about.
    """
    check_dashboard()
    from dashboard.jobs.ask import ask, keep_data  # late: they are an extra
    from dashboard.store.request import Request
    from dashboard.store.store import Store

    store = Store(store_root(chosen))
    data = keep_data(store, dataset, synthetic=is_sample(chosen.data))
    for mode, text in settings.get("mode_costs", {}).items():
        for term in read_cost_text(text):
            if (digest := term.name.removeprefix(TABLE)) in dataset.outside.tables:
                store.attach_cost(data, mode, dataset.outside.tables[digest])
    with _StoreLine() as line:
        answer = ask(store, Request(kind, data, settings, run), line)
    if answer is None:
        screen.print(STOPPED)
        return None
    where = "was in the store already" if answer.from_store else "is in the store now"
    told = f"The result {where}. To look at it: {way_to_open(answer.run, chosen)}"
    screen.print(escape(told), highlight=False, soft_wrap=True)
    return StoredAnswer(store, answer.run, answer.from_store)


def stored_settings(kind: str, settings: ExperimentSettings) -> dict[str, Any]:
    """The settings that a request of the store names, so that its key is the dashboard's."""
    from dashboard.store.request import defaults  # late: it is an extra

    given = settings.plain()
    unused = {"quick"} if kind == "stability" else set()  # it tries one setting
    return {name: given[name] for name in defaults(kind) if name not in unused}


def check_for_store(kind: str, settings: ExperimentSettings) -> None:
    """Refuse what no page shows, all at once."""
    check_dashboard()
    from dashboard.store.request import OF_A_FIT  # late: it is an extra

    cure = "or --out without --data-dir."
    problems = []
    if kind in OF_A_FIT and len(settings.ranks) > 1:
        what, found = "one number of phenotypes", " ".join(map(str, settings.ranks))
        problems.append(("--ranks", what, found, f"Give one rank at a time, {cure}"))
    if kind == "stability" and settings.quick:
        what = f"{ExperimentSettings().seeds} other seeds"
        problems.append(("--quick", what, "--quick", f"Leave it out, {cure}"))
    if problems:
        raise InvalidSettings(
            Problem(f"{where[2:]}-in-store", f"In the store it is of {what}", where, found, cure)
            for where, what, found, cure in problems
        )


class _StoreLine(StoppableLine):
    """How far a job of the store is; Ctrl-C stops it, and what is done is kept."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[parts]}"),
            TextColumn("{task.fields[left]}"),
        )
        super().__init__(Progress(*columns, console=screen, transient=True), "step")
        self._task = self.progress.add_task("Waiting for its turn", total=None, parts="", left="")

    def __call__(self, card: Any) -> bool:
        noted = card.progress or {}
        done, total, left = (noted.get(name) for name in ("done", "total", "seconds_left"))
        self.progress.update(
            self._task,
            description=escape(str(noted.get("what", "Waiting for its turn"))),
            completed=done or 0,
            total=total or None,
            parts=f"{done}/{total}" if total else "",
            left=f"{duration(round(left))} left" if left else "",
        )
        return self.stop

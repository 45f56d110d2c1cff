"""``swift evaluate``, ``noise``, ``ablate`` and ``stability``: the evidence, as commands."""

from __future__ import annotations

import argparse
import signal
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import parallel_config
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from swiftcore.cli.data_argument import add_data, load_data, screen
from swiftcore.cli.extras import how_to_install, missing
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import NOISE_LEVELS, RECIPES, ExperimentSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE, title_of
from swiftcore.progress import duration

COMMANDS = {
    "evaluate": ("evaluation", "how well phenotypes predict the outcome, beside other methods"),
    "noise": ("noise", "what false entries do to scores and phenotypes"),
    "ablate": ("ablation", "what the cost matrices are worth"),
    "stability": ("stability", "which phenotypes come back with other seeds and other rows"),
}
QUICK_SEEDS = 2
QUICK = {
    "": "small grids; on large data without the slowest methods, unless named",
    "ablate": "small grids",
    "stability": f"{QUICK_SEEDS} other seeds instead of 5",
}


def add_experiments(commands: Any) -> None:
    """One command per experiment, with the same options."""
    for name, (kind, words) in COMMANDS.items():
        parser = commands.add_parser(name, help=words)
        add_data(parser)
        parser.add_argument(
            "--methods",
            nargs="+",
            default=[],
            metavar="METHOD",
            help=f"of {', '.join(CATALOGUE)}",
        )
        parser.add_argument("--ranks", nargs="+", type=int, default=[10], help="default 10")
        parser.add_argument("--folds", type=int, default=5, help="default 5, split 3 : 1 : 1")
        if name != "stability":
            parser.add_argument("--repeats", type=int, default=1, help="folds drawn anew so often")
        parser.add_argument(
            "--features",
            type=int,
            default=0,
            help="features per mode, chosen per fold from training rows; 0: all",
        )
        parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--quick", action="store_true", help=QUICK.get(name, QUICK[""]))
        parser.add_argument("--out", type=Path, required=True, help="folder for the results")
        if name == "noise":
            parser.add_argument("--levels", nargs="+", type=float, default=list(NOISE_LEVELS))
            parser.add_argument("--draws", type=int, default=2, help="draws of noise per level")
        if name == "ablate":
            parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=RECIPES)
        parser.set_defaults(run=_run, kind=kind)


def _run(chosen: argparse.Namespace) -> int:
    given = {field.name for field in fields(ExperimentSettings)} & set(vars(chosen))
    settings = ExperimentSettings(**{name: getattr(chosen, name) for name in given})
    if chosen.kind == "stability" and chosen.quick:
        settings = replace(settings, seeds=QUICK_SEEDS)
    dataset = load_data(chosen.data, chosen.settings)
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    try:
        # Ctrl-C reaches the whole group; workers finish their part and leave it to this process
        with _ExperimentLine() as line, parallel_config("loky", initializer=ignore_ctrl_c):
            experiment = run_experiment(
                chosen.kind, dataset, settings, checkpoints=chosen.out / "parts", progress=line
            )
    except Stopped as stopped:
        screen.print(escape(str(stopped)), highlight=False)
        return 130
    experiment.write(chosen.out)
    _write_page(experiment, chosen.out)
    _show(experiment)
    for note in experiment.about["notes"]:
        screen.print(escape(note), highlight=False)
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def ignore_ctrl_c() -> None:
    """In a worker: let the process that asked for the work decide."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _write_page(experiment: Experiment, folder: Path) -> None:
    if missing("charts"):
        screen.print(escape(f"For a page with charts: {how_to_install('charts')}"), highlight=False)
        return
    from dashboard.charts.pages import write_page  # late: plotly is slow to load

    write_page(experiment, folder / f"{experiment.kind}.html")


class _ExperimentLine(StoppableLine):
    """Parts done and the time left; Ctrl-C stops and keeps the finished parts."""

    def __init__(self) -> None:
        columns = (
            BarColumn(),
            TextColumn("{task.fields[parts]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        super().__init__(Progress(*columns, console=screen), "part")
        self._task = self.progress.add_task("starting", total=None, parts="", left="")

    def __call__(self, progress: ExperimentProgress) -> bool:
        left = duration(round(progress.seconds_left))
        self.progress.update(
            self._task,
            total=progress.total,
            completed=progress.done,
            description=escape(progress.what),
            parts=f"{progress.done}/{progress.total}",
            left=f"{left} left",
        )
        return self.stop


def _show(experiment: Experiment) -> None:
    """The table a person looks for first."""
    rows = _overview(experiment)
    table = Table(title=experiment.about.get("metric_title", ""))
    for name in rows:
        table.add_column(str(name), justify="left" if rows[name].dtype == object else "right")
    for line in rows.itertuples(index=False):
        table.add_row(
            *(f"{cell:.3f}" if isinstance(cell, float) else escape(str(cell)) for cell in line)
        )
    Console(file=sys.stdout).print(table)


def _overview(experiment: Experiment) -> pd.DataFrame:
    tables = experiment.tables
    if experiment.kind == "stability":
        return _titled(tables["summary"])
    if experiment.kind == "noise" and "scores" not in tables:
        survival = tables["survival"]
        return survival.pivot_table(index=["rank", "level"], values="cosine").reset_index()
    by, across = {
        "evaluation": (["method"], "rank"),
        "noise": (["method", "rank"], "level"),
        "ablation": (["method", "recipe"], "rank"),
    }[experiment.kind]
    means = tables["scores"].pivot_table(index=by, columns=across, values="score", sort=False)
    means.columns = [
        f"{across} {value}" if value else "no rank" if across == "rank" else "clean"
        for value in means.columns
    ]
    return _titled(means.reset_index())


def _titled(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(method=table["method"].map(title_of))

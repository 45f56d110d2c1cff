"""``swift tune``: the settings of a model, chosen by rows that were held back."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from swiftcore.cli.data_argument import add_data, load_data, screen
from swiftcore.cli.experiments import add_least_class, side_by_side, write_experiment_page
from swiftcore.cli.fit_means import add_cluster, refuse_in_store
from swiftcore.cli.in_store import ask_store
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.store_argument import add_results, check_results
from swiftcore.data.dataset import Dataset
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.tuning.settings import UNLIMITED, TuneSettings
from swiftcore.evaluation.experiments.tuning.tune import tune
from swiftcore.progress import duration
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.spec import ModelSpec

USUAL = TuneSettings()
SCHEMA = 1  # of what --json prints: raise it when a field changes its meaning
UNITS = {"s": 1 / 60, "m": 1.0, "h": 60.0, "": 1.0}  # in minutes
SHOWN = ("rank", "setting", "folds", "loss", "behind", "stability", "state")


def add_commands(commands: Any) -> None:
    """The data, the time, and among what is chosen."""
    parser = commands.add_parser("tune", help="choose the settings of a model for me")
    add_data(parser)
    parser.add_argument(
        "--budget",
        dest="minutes",
        type=_minutes,
        default=USUAL.minutes,
        metavar="TIME",
        help="time it may take: 90s, 10m (default), 2h, or none for no limit",
    )
    parser.add_argument(
        "--ranks",
        nargs="+",
        type=int,
        default=list(USUAL.ranks),
        help=f"numbers of components to try (default {' '.join(map(str, USUAL.ranks))})",
    )
    parser.add_argument(
        "--guided",
        action="store_true",
        help="try settings that weigh features by the outcome, too",
    )
    add_least_class(parser)
    parser.add_argument("--seed", type=int, default=USUAL.seed)
    parser.add_argument("--jobs", type=int, default=USUAL.jobs, help="processes (default 1)")
    add_cluster(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    add_results(parser)
    parser.set_defaults(run=_run)


def _minutes(text: str) -> float:
    if text == "none":
        return UNLIMITED
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text)
    if found is None or float(found[1]) == 0:
        raise argparse.ArgumentTypeError("give a time such as 90s, 10m or 2h, or none")
    return float(found[1]) * UNITS[found[2]]


def _run(chosen: argparse.Namespace) -> int:
    check_results(chosen)
    refuse_in_store(chosen)
    names = ("ranks", "minutes", "guided", "least_class_size", "seed", "jobs")
    settings = TuneSettings(**{name: getattr(chosen, name) for name in names})
    dataset = load_data(chosen.data, chosen.settings)
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    run, known = "", False
    if chosen.data_dir is None:
        answer = _compute(dataset, settings, chosen.out / "parts", chosen.cluster)
    else:
        stored = ask_store(chosen, dataset, "tune", settings.plain())
        answer = None if stored is None else stored.experiment()
        run, known = ("", False) if stored is None else (stored.run, stored.from_store)
    if answer is None:
        return 130
    if chosen.out is not None:
        answer.write(chosen.out)
        write_atomic(chosen.out / "spec.json", json.dumps(answer.about["spec"], indent=2).encode())
        write_experiment_page(answer, chosen.out)
    if chosen.json:
        json.dump(_summary(answer, run, known), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(answer)
    _say(answer, chosen.out)
    return 0


def _compute(
    dataset: Dataset, settings: TuneSettings, parts: Path, cluster: str | None
) -> Experiment | None:
    """The choice, made in this process; None if it was stopped."""
    try:
        with _TuneLine() as line, side_by_side(cluster):
            return tune(dataset, settings, checkpoints=parts, progress=line)
    except Stopped as stopped:
        screen.print(escape(str(stopped)), highlight=False)
        return None


def _say(found: Experiment, out: Path | None) -> None:
    """What was chosen and why, and where it is."""
    title = ModelSpec.from_json(found.about["spec"]).title()
    for said in (f"Chosen: {title}. {found.about['reason']}", *found.about["notes"]):
        screen.print(escape(said), highlight=False)
    if "not tried" in set(found.tables["candidates"]["state"]):
        screen.print("The same command with more time goes on from here.", highlight=False)
    if out is not None:
        screen.print(escape(f"Results are in {out}"), highlight=False)


class _TuneLine(StoppableLine):
    """Fits done, the time that is left at most, and what was tried last."""

    def __init__(self) -> None:
        columns = (BarColumn(), TextColumn("{task.fields[said]}"), TextColumn("{task.description}"))
        super().__init__(Progress(*columns, console=screen), "fit")
        self._task = self.progress.add_task("starting", total=None, said="")

    def __call__(self, progress: ExperimentProgress) -> bool:
        self.progress.update(
            self._task,
            total=progress.seconds + progress.seconds_left,
            completed=progress.seconds,
            description=escape(progress.what),
            said=f"{progress.done} fits, {duration(round(progress.seconds_left))} left",
        )
        return self.stop


def _summary(found: Experiment, run: str, from_store: bool) -> dict[str, Any]:
    """The choice as plain values; what was not tried has no loss."""
    table = found.tables["candidates"]
    lines = json.loads(table.to_json(orient="records"))
    return {
        "schema": SCHEMA,
        "run": run or None,
        "from_store": from_store,
        "spec": found.about["spec"],
        "reason": found.about["reason"],
        "notes": found.about["notes"],
        "candidates": [{**line, "setting": json.loads(line["setting"])} for line in lines],
        "not_tried": int((table["state"] == "not tried").sum()),
    }


def _show(found: Experiment) -> None:
    """The candidates, the chosen one first, then the smaller error."""
    rows = found.tables["candidates"]
    tried = rows[rows["folds"] > 0].assign(other=rows["state"] != "chosen")
    order = tried.sort_values(["other", "folds", "behind"], ascending=[True, False, True])
    table = Table(title="What was tried")
    for name in SHOWN:
        table.add_column(name, justify="left" if name in ("setting", "state") else "right")
    for line in order[list(SHOWN)].itertuples(index=False):
        table.add_row(*(_cell(cell) for cell in line))
    Console(file=sys.stdout).print(table)


def _cell(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if pd.isna(cell) else f"{cell:.3f}"
    if isinstance(cell, str) and cell.startswith("{"):
        changes = json.loads(cell)
        cell = ", ".join(f"{name.replace('_', ' ')} {one}" for name, one in changes.items())
        cell = cell or "as usual"
    return escape(str(cell))

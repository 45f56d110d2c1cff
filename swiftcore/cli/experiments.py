"""``swift evaluate``, ``noise``, ``ablate``, ``stability``, ``ranks``: evidence as commands."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

from joblib import parallel_config
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from swiftcore.cli.data_argument import add_data, load_data, screen
from swiftcore.cli.experiment_tables import experiment_tables
from swiftcore.cli.extras import how_to_install, missing
from swiftcore.cli.fit_means import add_cluster, refuse_in_store
from swiftcore.cli.in_store import ask_store, check_for_store, stored_settings
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.progress_log import ProgressLog
from swiftcore.cli.spec_flags import add_spec, given_settings, say_unused
from swiftcore.cli.store_argument import add_results, check_results
from swiftcore.cluster.independent_parts import experiments_on
from swiftcore.data.dataset import Dataset
from swiftcore.errors import SwiftError
from swiftcore.evaluation.experiments.checkpoints import Stopped
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import NOISE_LEVELS, RECIPES, ExperimentSettings
from swiftcore.evaluation.methods.catalogue import methods_for, spec_for
from swiftcore.model_costs import attach_costs
from swiftcore.progress import duration
from swiftcore.spec import DEFAULTS, ModelSpec

COMMANDS = {
    "evaluate": ("evaluation", "how well phenotypes predict the outcome, beside other methods"),
    "noise": ("noise", "what false entries do to scores and phenotypes"),
    "ablate": ("ablation", "what the cost matrices are worth"),
    "stability": ("stability", "which phenotypes come back with other seeds and other rows"),
    "ranks": ("ranks", "how many phenotypes to ask for: stability and error against the rank"),
}
OF_THE_EXPERIMENT = ("rank", "seed", "method")  # it has flags of its own: --ranks, --seed
QUICK_SEEDS = 2
QUICK = {
    "": "small grids; on large data without the slowest methods, unless named",
    "ablate": "small grids",
    "stability": f"{QUICK_SEEDS} other seeds instead of 5",
    "ranks": f"{QUICK_SEEDS} other seeds instead of 5",
}


def add_commands(commands: Any) -> None:
    """One command per experiment, with the same options."""
    for name, (kind, words) in COMMANDS.items():
        parser = commands.add_parser(name, help=words)
        add_data(parser)
        parser.add_argument(
            "--methods",
            nargs="+",
            default=[],
            metavar="METHOD",
            help=f"of {', '.join(methods_for(kind))}",
        )
        parser.add_argument("--ranks", nargs="+", type=int, help="default 10, or that of the spec")
        parser.add_argument("--folds", type=int, default=5, help="default 5, split 3 : 1 : 1")
        if name == "ranks":
            parser.add_argument("--consensus", type=_several, help="fits per rank (default 6)")
        if name not in ("stability", "ranks"):
            _add_rows(parser)
        parser.add_argument(
            "--features",
            type=int,
            default=0,
            help="features per mode, chosen per fold from training rows; 0: all",
        )
        parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
        add_cluster(parser)
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--quick", action="store_true", help=QUICK.get(name, QUICK[""]))
        add_results(parser)
        if name == "noise":
            parser.add_argument("--levels", nargs="+", type=float, default=list(NOISE_LEVELS))
            parser.add_argument("--draws", type=int, default=2, help="draws of noise per level")
        if name == "ablate":
            parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=RECIPES)
        _add_judged(parser, kind)
        parser.set_defaults(run=_run, kind=kind)


def _add_rows(parser: argparse.ArgumentParser) -> None:
    """Which rows take part, and how often they are split."""
    parser.add_argument("--repeats", type=int, default=1, help="folds drawn anew so often")
    parser.add_argument(
        "--subsets", type=int, default=0, metavar="N", help="folds inside each of N random subsets"
    )
    parser.add_argument(
        "--subset-size", type=int, default=0, metavar="K", help="rows of each random subset"
    )
    add_least_class(parser)


def add_least_class(parser: argparse.ArgumentParser) -> None:
    """Which classes are too small to take part."""
    parser.add_argument(
        "--least-class-size",
        type=int,
        default=0,
        metavar="N",
        help="leave out the rows of classes with fewer than N rows",
    )


def _add_judged(parser: argparse.ArgumentParser, kind: str) -> None:
    """The model that is judged; without any of these its settings are chosen in each fold."""
    judged = parser.add_argument_group(
        "the model that is judged", "as a file or as flags; without any, validation rows choose"
    )
    add_spec(judged, _own_flags(kind))


def _own_flags(kind: str) -> tuple[str, ...]:
    """Settings of a model for which the experiment has flags of its own, or none."""
    return (*OF_THE_EXPERIMENT, "consensus") if kind == "ranks" else OF_THE_EXPERIMENT


def _several(text: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise argparse.ArgumentTypeError("give a whole number of 2 or more")
    return int(text)


def _judged_spec(chosen: argparse.Namespace) -> ModelSpec | None:
    given = given_settings(chosen, _own_flags(chosen.kind))
    if chosen.spec is None and not given:
        return None
    method = given.pop("method", DEFAULTS["method"])
    return spec_for(method, **{"seed": chosen.seed, **given})


def _settings(chosen: argparse.Namespace, spec: ModelSpec | None) -> ExperimentSettings:
    known = {field.name for field in fields(ExperimentSettings)} & set(vars(chosen))
    given = {name: getattr(chosen, name) for name in known}
    if spec is not None:
        given["fit"] = spec.plain()
    if chosen.ranks is None:
        given["ranks"] = (DEFAULTS["rank"] if spec is None else spec.rank,)
    if chosen.kind in ("stability", "ranks") and chosen.quick and chosen.data_dir is None:
        given["seeds"] = QUICK_SEEDS
    if chosen.kind == "ranks" and chosen.consensus:
        given["seeds"] = chosen.consensus - 1
    return ExperimentSettings(**given)


def _run(chosen: argparse.Namespace) -> int:
    spec = _judged_spec(chosen)
    settings = _settings(chosen, spec)
    check_results(chosen)
    refuse_in_store(chosen)
    if chosen.data_dir is not None:
        check_for_store(chosen.kind, settings)
    dataset = load_data(chosen.data, chosen.settings)
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    if spec is not None:
        if chosen.kind != "ranks":  # its fits are always several, whatever the spec says
            say_unused(chosen, spec)
        dataset, spec = attach_costs(dataset, spec, chosen.cost_tables)
        settings = replace(settings, fit=spec.plain())
    if chosen.data_dir is not None:
        experiment = _run_in_store(chosen, dataset, settings, spec)
    else:
        experiment = _run_here(chosen, dataset, settings)
    if experiment is None:
        return 130
    _show(experiment)
    if "reason" in experiment.about:
        screen.print(escape(experiment.about["reason"]), highlight=False)
    if chosen.out is not None:
        experiment.write(chosen.out)
        write_experiment_page(experiment, chosen.out)
    for note in experiment.about["notes"]:
        screen.print(escape(note), highlight=False)
    if chosen.out is not None:
        screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _run_in_store(
    chosen: argparse.Namespace,
    dataset: Dataset,
    settings: ExperimentSettings,
    spec: ModelSpec | None,
) -> Experiment | None:
    """By the dashboard's worker; a spec is judged as the fit that it makes. None: stopped."""
    fit = None
    if spec is not None:
        fit = ask_store(chosen, dataset, "fit", replace(spec, rank=settings.ranks[0]).plain())
        if fit is None:
            return None
    named = stored_settings(chosen.kind, settings)
    answer = ask_store(chosen, dataset, chosen.kind, named, fit.run if fit else "")
    return None if answer is None else answer.experiment()


def _run_here(
    chosen: argparse.Namespace, dataset: Dataset, settings: ExperimentSettings
) -> Experiment | None:
    """In this process and its workers; None if it was stopped. Finished parts are kept."""
    with ProgressLog(chosen.out / "progress.log", screen) as log:
        log.note(f"{chosen.kind} of {dataset.name}: {json.dumps(settings.plain())}")
        try:
            with _ExperimentLine(log) as line, side_by_side(chosen.cluster):
                experiment = run_experiment(
                    chosen.kind, dataset, settings, checkpoints=chosen.out / "parts", progress=line
                )
        except SwiftError as error:
            log.note(f"ended: {error}")
            if not isinstance(error, Stopped):
                raise
            screen.print(escape(str(error)), highlight=False)
            return None
        log.note("done")
    return experiment


@contextmanager
def side_by_side(cluster: str | None) -> Iterator[None]:
    """Within it, parts of an experiment run on a cluster, or in processes that ignore Ctrl-C.

    Ctrl-C reaches the whole group; workers finish their part and leave it to this process.
    """
    if not cluster:
        with parallel_config("loky", initializer=_ignore_ctrl_c):
            yield
        return
    with experiments_on(cluster) as team:
        screen.print(f"On {cluster}: {team.count} parts at a time.", highlight=False, markup=False)
        yield


def _ignore_ctrl_c() -> None:
    """In a worker: let the process that asked for the work decide."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def write_experiment_page(experiment: Experiment, folder: Path) -> None:
    """The charts as one HTML file, or how to get what draws them."""
    if missing("charts"):
        screen.print(escape(f"For a page with charts: {how_to_install('charts')}"), highlight=False)
        return
    from dashboard.charts.pages import write_page  # late: plotly is slow to load

    write_page(experiment, folder / f"{experiment.kind}.html")


class _ExperimentLine(StoppableLine):
    """Parts done and the time left; Ctrl-C stops and keeps the finished parts."""

    def __init__(self, log: ProgressLog) -> None:
        self._log = log
        columns = (
            BarColumn(),
            TextColumn("{task.fields[parts]}"),
            TextColumn("{task.fields[left]}"),
            TextColumn("{task.description}"),
        )
        super().__init__(Progress(*columns, console=screen), "part")
        self._task = self.progress.add_task("starting", total=None, parts="", left="")

    def __call__(self, progress: ExperimentProgress) -> bool:
        self._log(progress)
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
    """The tables a person looks for first."""
    console = Console(file=sys.stdout)
    for shown in experiment_tables(experiment):
        table = Table(title=escape(shown.title))
        for number, heading in enumerate(shown.headings):
            justify: Literal["left", "right"] = "right" if number else "left"
            table.add_column(escape(heading), justify=justify, no_wrap=number > 0)
        for line in shown.lines:
            table.add_row(*(escape(cell) for cell in line))
        console.print(table)

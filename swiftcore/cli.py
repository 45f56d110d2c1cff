"""The ``swift`` command: from data to phenotypes without writing a program."""

from __future__ import annotations

import argparse
import csv
import json
import signal
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from swiftcore.cost import CostRecipe, build_costs
from swiftcore.data.commands import build_bundle, inspect_text
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import BuildOptions, options_from_text
from swiftcore.data.samples import load_sample, sample_names
from swiftcore.data.sandbox import build_path
from swiftcore.errors import SwiftError
from swiftcore.factorization import Swift, save_model
from swiftcore.phenotypes import Phenotype, describe_phenotypes
from swiftcore.progress import FitProgress

screen = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, or 2 with the reasons on the screen."""
    chosen = _parser().parse_args(arguments)
    try:
        return int(chosen.run(chosen))
    except SwiftError as error:
        screen.print(f"[bold red]{len(error.problems)} problem(s):[/]")
        for problem in error.problems:
            screen.print(f"  [bold]{problem.code}[/] {escape(str(problem))}", highlight=False)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="swift", description="Find phenotypes or topics in sparse nonnegative tensors."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_fit(commands.add_parser("fit", help="factorize a data set and describe its phenotypes"))
    data = commands.add_parser("data", help="look at or build data sets from files")
    actions = data.add_subparsers(required=True, metavar="ACTION")
    inspect = actions.add_parser("inspect", help="what a file or folder is, and its problems")
    build = actions.add_parser("build", help="build a data set and save it as a bundle")
    for action in (inspect, build):
        action.add_argument("path", type=Path, help="file or folder")
        _add_set(action)
    build.add_argument("--out", type=Path, required=True, help="the bundle to write")
    inspect.set_defaults(run=_inspect)
    build.set_defaults(run=_build)
    return parser


def _add_set(parser: argparse.ArgumentParser) -> None:
    known = ", ".join(option.name for option in fields(BuildOptions))
    parser.epilog = f"NAME is one of: {known}. Example: --set values=binary --set columns.row=mrn"
    parser.add_argument("--set", dest="settings", action="append", default=[],
                        metavar="NAME=VALUE", help="how to read and build")  # fmt: skip


def _add_fit(parser: argparse.ArgumentParser) -> None:
    samples = " or ".join(sample_names())
    parser.add_argument("data", help=f"a sample ({samples}), a file or a folder")
    parser.add_argument("--rank", type=int, required=True, help="number of phenotypes")
    parser.add_argument("--sharpness", type=float, default=10.0, help="rho (default 10)")
    parser.add_argument("--marginal-weight", type=float, default=1.0, help="lambda (default 1)")
    parser.add_argument("--iterations", type=int, default=50, help="at most so many (default 50)")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="relative change to stop at")
    parser.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    parser.add_argument("--restarts", type=int, default=4, help="starts tried (default 4)")
    parser.add_argument("--jobs", type=int, default=None, help="workers (default: all cores)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument("--costs", choices=[recipe.value for recipe in CostRecipe],
                        default=CostRecipe.COSINE.value, help="how features compare")  # fmt: skip
    parser.add_argument("--top", type=int, default=5, help="features shown per phenotype")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    _add_set(parser)
    parser.set_defaults(run=_fit)


def _fit(chosen: argparse.Namespace) -> int:
    dataset = _load(chosen.data, chosen.settings)
    tensor = dataset.tensor
    screen.print(escape(f"{dataset.name}: {tensor!r}"), highlight=False)
    costs = build_costs(
        tensor, chosen.costs, reference=tensor, word_counts=dataset.word_counts, seed=chosen.seed
    )
    model = Swift(
        chosen.rank,
        sharpness=chosen.sharpness,
        marginal_weight=chosen.marginal_weight,
        max_iterations=chosen.iterations,
        tolerance=chosen.tolerance,
        n_restarts=chosen.restarts,
        random_state=chosen.seed,
        n_jobs=chosen.jobs,
        dtype=chosen.dtype,
    )
    with _FitLine(chosen.iterations) as line:
        model.fit(tensor, costs, callback=line)
    phenotypes = describe_phenotypes(model.factors_, model.modes_, chosen.top)
    _write_results(chosen.out, model, phenotypes)
    if chosen.json:
        json.dump(_summary(model, phenotypes), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(phenotypes, tensor.modes[0].name)
    screen.print(model.outcome_.value)
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _load(name: str, settings: Sequence[str]) -> Dataset:
    if name in sample_names() and not Path(name).exists():
        return load_sample(name)
    return build_path(Path(name), options_from_text(settings))


class _FitLine:
    """A progress line; Ctrl-C ends the fit after the running iteration and keeps it."""

    def __init__(self, iterations: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"), BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("objective {task.fields[objective]}"), TimeRemainingColumn(), console=screen,
        )  # fmt: skip
        self._task = self._progress.add_task("Fitting", total=iterations, objective="-")
        self._stop = False

    def __enter__(self) -> _FitLine:
        self._before = signal.signal(signal.SIGINT, self._asked_to_stop)
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()
        signal.signal(signal.SIGINT, self._before)

    def _asked_to_stop(self, number: int, frame: FrameType | None) -> None:
        if self._stop:
            raise KeyboardInterrupt
        self._stop = True
        screen.print("Stopping after this iteration; press Ctrl-C again to leave at once.")

    def __call__(self, progress: FitProgress) -> bool:
        self._progress.update(
            self._task, completed=progress.iteration, objective=f"{progress.objective:,.6g}"
        )
        return self._stop


def _write_results(folder: Path, model: Swift, phenotypes: Sequence[Phenotype]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    save_model(model, folder / "model.npz")
    (folder / "phenotypes.json").write_text(json.dumps(_summary(model, phenotypes), indent=2))
    with (folder / "history.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(vars(model.history_[0])))
        writer.writeheader()
        writer.writerows(vars(entry) for entry in model.history_)


def _summary(model: Swift, phenotypes: Sequence[Phenotype]) -> dict[str, object]:
    """The result as plain values; the schema number changes when a field does."""
    return {
        "schema": 1,
        "settings": model.get_params(),
        "outcome": model.outcome_.name,
        "iterations": model.n_iterations_,
        "objective": model.objective_,
        "gap": model.history_[-1].gap,
        "dead_components": [f"P{component + 1:02d}" for component in model.dead_components_],
        "phenotypes": [
            {
                "id": phenotype.identifier,
                "share": phenotype.share,
                "rows": len(phenotype.rows),
                "items": {
                    mode: [vars(item) for item in items] for mode, items in phenotype.items.items()
                },
            }
            for phenotype in phenotypes
        ],
    }


def _show(phenotypes: Sequence[Phenotype], rows: str) -> None:
    modes = list(phenotypes[0].items) if phenotypes else []
    table = Table(show_lines=True)
    for heading in ("id", "share", f"{rows}s", *modes):
        table.add_column(heading, justify="right" if heading == "share" else "left")
    for phenotype in phenotypes:
        cells = [
            "\n".join(f"{item.weight:4.0%} {item.label}" for item in items)
            for items in phenotype.items.values()
        ]
        table.add_row(phenotype.identifier, f"{phenotype.share:.1%}", str(len(phenotype.rows)),
                      *(escape(cell) for cell in cells))  # fmt: skip
    Console().print(table)


def _inspect(chosen: argparse.Namespace) -> int:
    sys.stdout.write(inspect_text(chosen.path, options_from_text(chosen.settings)) + "\n")
    return 0


def _build(chosen: argparse.Namespace) -> int:
    dataset, seal = build_bundle(chosen.path, chosen.out, options_from_text(chosen.settings))
    sys.stdout.write(f"{dataset!r}\nSaved to {chosen.out}, SHA-256 {seal}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

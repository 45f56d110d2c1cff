"""``swift fit``: phenotypes of a data set, on the screen and in files."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from swiftcore.cli.data_argument import add_data, load_data, screen
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cost import CostRecipe, build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.progress import FitProgress
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.spreadsheet_text import csv_safe
from swiftcore.swift import Swift, save_model
from swiftcore.swift.settings import check_settings

SHOWN = 0.005  # weaker features are left out of the table on the screen


def add_fit(parser: argparse.ArgumentParser) -> None:
    """The settings of a fit."""
    add_data(parser)
    parser.add_argument("--rank", type=int, required=True, help="number of phenotypes")
    parser.add_argument("--sharpness", type=float, default=10.0, help="rho (default 10)")
    parser.add_argument("--marginal-weight", type=float, default=1.0, help="lambda (default 1)")
    parser.add_argument("--iterations", type=int, default=50, help="limit (default 50)")
    parser.add_argument("--tolerance", type=float, default=3e-6, help="relative change to stop at")
    parser.add_argument("--seed", type=int, default=0, help="of the random start (default 0)")
    parser.add_argument("--restarts", type=int, default=4, help="starts tried (default 4)")
    parser.add_argument("--jobs", type=int, default=None, help="workers (default: all cores)")
    parser.add_argument("--dtype", choices=("float32", "float64"), default="float32")
    parser.add_argument(
        "--costs",
        choices=[recipe.value for recipe in CostRecipe],
        default=CostRecipe.COSINE.value,
        help="how features compare",
    )
    parser.add_argument(
        "--row-cost",
        choices=("as costs", "none"),
        default="as costs",
        help="none: no mass moves between rows",
    )
    parser.add_argument("--top", type=_at_least_one, default=5, help="features shown per phenotype")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=_fit)


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number of 1 or more")
    return int(text)


def _fit(chosen: argparse.Namespace) -> int:
    model = _model(chosen)
    check_settings(model.get_params())
    chosen.out.mkdir(parents=True, exist_ok=True)
    dataset = load_data(chosen.data, chosen.settings)
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    with _FitLine(chosen.iterations) as line:
        model.fit(dataset.tensor, _costs(dataset, chosen), callback=line)
    phenotypes = describe_phenotypes(model.factors_, model.modes_, chosen.top)
    _write_results(chosen.out, model, phenotypes)
    if chosen.json:
        json.dump(_summary(model, phenotypes), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(phenotypes, model.modes_[0].name)
    screen.print(model.outcome_.value)
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _costs(dataset: Dataset, chosen: argparse.Namespace) -> list[Any]:
    """One cost per mode; without a row cost the largest matrix is never built."""
    still = chosen.row_cost == "none"
    tensor = dataset.tensor
    rows = tensor.select(0, [0]) if still else tensor
    costs = build_costs(
        rows,
        chosen.costs,
        reference=tensor,
        seed=chosen.seed,
        word_counts=None if still else dataset.word_counts,
    )
    return [None if still else costs[0], *costs[1:]]


def _model(chosen: argparse.Namespace) -> Swift:
    return Swift(
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


class _FitLine(StoppableLine):
    """Iterations and objective; Ctrl-C ends the fit after the running iteration and keeps it."""

    def __init__(self, iterations: int) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TextColumn("objective {task.fields[objective]}"),
            TimeRemainingColumn(),
        )
        super().__init__(Progress(*columns, console=screen), "iteration")
        self._task = self.progress.add_task("Fitting", total=iterations, objective="-")

    def __call__(self, progress: FitProgress) -> bool:
        self.progress.update(
            self._task, completed=progress.iteration, objective=f"{progress.objective:,.6g}"
        )
        return self.stop


def _write_results(folder: Path, model: Swift, phenotypes: Sequence[Phenotype]) -> None:
    """The model first: whatever happens after, the fit is kept."""
    save_model(model, folder / "model.npz")
    _write_text(folder / "phenotypes.json", json.dumps(_summary(model, phenotypes), indent=2))
    history = [list(vars(model.history_[0]))]
    history += [list(vars(entry).values()) for entry in model.history_]
    _write_table(folder / "history.csv", history)
    ids = [component_id(component, model.rank) for component in range(model.rank)]
    rows = zip(model.modes_[0].labels, model.memberships_.tolist(), strict=True)
    _write_table(
        folder / "memberships.csv",
        [[model.modes_[0].name, *ids], *([csv_safe(label), *values] for label, values in rows)],
    )


def _write_table(path: Path, rows: Sequence[Sequence[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    _write_text(path, text.getvalue())


def _write_text(path: Path, text: str) -> None:
    write_atomic(path, text.encode("utf-8", "surrogatepass"))


def _summary(model: Swift, phenotypes: Sequence[Phenotype]) -> dict[str, object]:
    """The result as plain values; the schema number changes when a field does."""
    return {
        "schema": 1,
        "settings": model.get_params(),
        "outcome": model.outcome_.name,
        "iterations": model.n_iterations_,
        "objective": model.objective_,
        "gap": model.history_[-1].gap,
        "dead_components": [
            component_id(component, model.rank) for component in model.dead_components_
        ],
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
    for heading in ("id", "share", f"{rows} rows", *modes):
        table.add_column(heading, justify="right" if heading == "share" else "left")
    for phenotype in phenotypes:
        cells = [
            "\n".join(f"{item.weight:4.0%} {item.label}" for item in items if item.weight >= SHOWN)
            for items in phenotype.items.values()
        ]
        table.add_row(
            phenotype.identifier,
            f"{phenotype.share:.1%}",
            str(len(phenotype.rows)),
            *(escape(cell) for cell in cells),
        )
    Console().print(table)

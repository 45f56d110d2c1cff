"""``swift fit``: phenotypes of a data set, on the screen and in files."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from swiftcore.cli.data_argument import add_data, load_data, screen
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.spec_flags import add_spec, read_spec
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.runtime.atomic_file import forget_drafts, write_atomic
from swiftcore.runtime.memory import in_units
from swiftcore.runtime.spreadsheet_text import csv_safe
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import TensorSize

SCHEMA = 1  # of phenotypes.json: raise it when a field changes its meaning
RESULTS = ("model.npz", "phenotypes.json", "history.csv", "memberships.csv")
STATE = ".fit-checkpoint.npz"  # of a fit that is not finished, in the folder for its results
SHOWN = 0.005  # weaker features are left out of the table on the screen


def add_fit(parser: argparse.ArgumentParser) -> None:
    """The data, the settings of the model, and what is shown of it."""
    add_data(parser)
    add_spec(parser)
    parser.add_argument("--jobs", type=int, default=None, help="workers (default: all cores)")
    parser.add_argument("--top", type=_at_least_one, default=5, help="features shown per phenotype")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=_fit)


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number of 1 or more")
    return int(text)


def _fit(chosen: argparse.Namespace) -> int:
    spec = read_spec(chosen)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in RESULTS:
        forget_drafts(chosen.out / name)
    dataset = load_data(chosen.data, chosen.settings)
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    needed = fit_need(TensorSize.of(dataset.tensor), spec, chosen.jobs).bytes
    screen.print(f"It takes about {in_units(needed)} of memory.", highlight=False)
    checkpoint = FitCheckpoint(chosen.out / STATE, resumed=_say_resumed)
    with _FitLine(spec.max_iterations) as line:
        fitted = fit_dataset(
            dataset, spec, callback=line, n_jobs=chosen.jobs, checkpoint=checkpoint
        )
    phenotypes = describe_phenotypes(fitted.factors, fitted.modes, chosen.top)
    _write_results(chosen.out, fitted, phenotypes)
    if fitted.outcome is not FitOutcome.STOPPED:
        checkpoint.remove()
    if chosen.json:
        json.dump(_summary(fitted, phenotypes), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(phenotypes, fitted.modes[0].name)
    screen.print(fitted.outcome.value)
    if checkpoint.path.exists():
        screen.print("The same command goes on from here.")
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _say_resumed(history: tuple[FitProgress, ...]) -> None:
    screen.print(f"Going on after iteration {len(history) - 1}, where it was left.")


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


def _write_results(folder: Path, fitted: FittedModel, phenotypes: Sequence[Phenotype]) -> None:
    """The model first: whatever happens after, the fit is kept."""
    model, summary, progress, memberships = (folder / name for name in RESULTS)
    fitted.save(model)
    _write_text(summary, json.dumps(_summary(fitted, phenotypes), indent=2))
    history = [list(vars(fitted.history[0]))]
    history += [list(vars(entry).values()) for entry in fitted.history]
    _write_table(progress, history)
    rank, rows = fitted.spec.rank, fitted.modes[0]
    ids = [component_id(component, rank) for component in range(rank)]
    lines = zip(rows.labels, fitted.memberships.tolist(), strict=True)
    _write_table(
        memberships,
        [[rows.name, *ids], *([csv_safe(label), *values] for label, values in lines)],
    )


def _write_table(path: Path, rows: Sequence[Sequence[object]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    _write_text(path, text.getvalue())


def _write_text(path: Path, text: str) -> None:
    write_atomic(path, text.encode("utf-8", "surrogatepass"))


def _summary(fitted: FittedModel, phenotypes: Sequence[Phenotype]) -> dict[str, object]:
    """The result as plain values; the schema number changes when a field does."""
    dead = fitted.contents().dead_components
    return {
        "schema": SCHEMA,
        "settings": fitted.spec.to_json(),
        "outcome": fitted.outcome.name,
        "iterations": len(fitted.history) - 1,
        "objective": fitted.history[-1].objective,
        "gap": fitted.history[-1].gap,
        "dead_components": [component_id(component, fitted.spec.rank) for component in dead],
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

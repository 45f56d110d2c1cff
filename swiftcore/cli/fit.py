"""``swift fit``: phenotypes of a data set, on the screen and in files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from swiftcore.cli.cost_flags import say_missing
from swiftcore.cli.data_argument import add_data, is_sample, screen
from swiftcore.cli.fit_means import ChosenFit, add_means, load_for_fit, refuse_in_store
from swiftcore.cli.in_store import ask_store
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.result_files import RESULTS, summarize_fit, write_results
from swiftcore.cli.spec_flags import COSTS, add_spec, read_spec, say_unused
from swiftcore.cli.store_argument import add_results, check_results
from swiftcore.consensus_fits import FitsStopped
from swiftcore.cost.outside.table_folder import write_tables
from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.data.shards.reader import ShardedDataset
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.guided import made_to_predict
from swiftcore.evaluation.methods.memory_need import fit_need
from swiftcore.fitting import FittedModel
from swiftcore.model_costs import attach_costs
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.phenotypes.names import frequencies_in_blocks
from swiftcore.progress import FitOutcome, FitProgress, FitsProgress
from swiftcore.row_parts import RowsInBlocks
from swiftcore.runtime.atomic_file import forget_drafts
from swiftcore.runtime.memory import in_units
from swiftcore.runtime.spent import Spent, stopwatch
from swiftcore.spec import ModelSpec
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.tensor import TensorSize

STATE = ".fit-checkpoint.npz"  # of a fit that is not finished, in the folder for its results
WAYS_ON = {
    FitOutcome.STOPPED: "The same command goes on from here.",
    FitOutcome.ITERATION_LIMIT: "The same command with more --iterations goes on from here.",
}
SHOWN = 0.005  # weaker features are left out of the table on the screen


def add_commands(commands: Any) -> None:
    """The data, the settings of the model, and what is shown of it."""
    parser = commands.add_parser("fit", help="factorize a data set and describe its phenotypes")
    add_data(parser)
    add_spec(parser)
    add_means(parser)
    add_output(parser)
    parser.set_defaults(run=_fit)


def add_output(parser: argparse.ArgumentParser) -> None:
    """How a fit is run, and what is shown and kept of it."""
    parser.add_argument("--jobs", type=int, default=None, help="workers (default: all cores)")
    parser.add_argument("--top", type=_at_least_one, default=5, help="features shown per phenotype")
    add_results(parser)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a whole number of 1 or more")
    return int(text)


def _fit(chosen: argparse.Namespace) -> int:
    spec = read_spec(chosen)
    say_unused(chosen, spec)
    refuse_in_store(chosen)
    open_folder(chosen)
    found = load_for_fit(chosen, spec)
    if isinstance(found, Dataset):
        return _fit_dataset(chosen, found, spec)
    return _fit_shards(chosen, found, spec)


def _fit_dataset(chosen: argparse.Namespace, dataset: Dataset, spec: ModelSpec) -> int:
    screen.print(escape(f"{dataset.name}: {dataset.tensor!r}"), highlight=False)
    dataset, spec = attach_costs(dataset, spec, chosen.cost_tables)
    say_missing(dataset, spec)
    data = about_data(chosen.data, chosen.settings, dataset)
    spent = stopwatch()
    if chosen.data_dir is None:
        means = ChosenFit(chosen, dataset, spec)
        if not means.in_parts:
            say_memory(dataset, spec, chosen.jobs)
        fitted = _run(chosen, spec, means)
        if fitted is None:
            return 130
        deliver(chosen, dataset, fitted, data, spent=spent().by(means.workers))
        return 0
    answer = ask_store(chosen, dataset, "fit", spec.plain())
    if answer is None:
        return 130
    from_store, fitted = answer.from_store, answer.model()
    took = Spent(answer.seconds)
    deliver(chosen, dataset, fitted, data, run=answer.run, from_store=from_store, spent=took)
    return 0


def _fit_shards(chosen: argparse.Namespace, shards: ShardedDataset, spec: ModelSpec) -> int:
    """Rows that stay on the disk: neither the fit nor its results need all entries at once."""
    screen.print(escape(f"{shards.folder.name}: {shards.shape}"), highlight=False)
    spent = stopwatch()
    means = ChosenFit(chosen, shards, spec)
    fitted = _run(chosen, spec, means)
    if fitted is None:
        return 130
    data = about_data(chosen.data, [], shards)
    deliver(chosen, shards, fitted, data, spent=spent().by(means.workers))
    return 0


def _run(chosen: argparse.Namespace, spec: ModelSpec, means: ChosenFit) -> FittedModel | None:
    """The fitted model, or None if somebody stopped it before there was one."""
    checkpoint = None
    if chosen.out is not None:
        checkpoint = FitCheckpoint(chosen.out / STATE, resumed=_say_resumed)
    try:
        with _FitLine() as line:
            watched = {"fits_callback": line.compared} if spec.consensus > 1 else {}
            return means.run(chosen.jobs, callback=line, checkpoint=checkpoint, **watched)
    except FitsStopped as stopped:
        screen.print(escape(str(stopped)), highlight=False)
        return None


def say_memory(dataset: Dataset, spec: ModelSpec, n_jobs: int | None) -> None:
    """What a fit of all rows at once takes."""
    needed = fit_need(TensorSize.of(dataset.tensor), spec, n_jobs).bytes
    screen.print(f"It takes about {in_units(needed)} of memory.", highlight=False)


def open_folder(chosen: argparse.Namespace) -> None:
    """Make the folder for the results, if there is to be one, without what a kill left in it."""
    check_results(chosen)
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        for name in RESULTS:
            forget_drafts(chosen.out / name)


def about_data(
    given: str, settings: Sequence[str], data: Dataset | ShardedDataset
) -> dict[str, Any]:
    """Which data it was, so that the result can be shown and fitted again."""
    return {
        "name": data.name,
        "given": given if is_sample(given) else str(Path(given).resolve()),
        "set": list(settings),
        "digest": data_digest(data),
    }


def run_fit(
    chosen: argparse.Namespace, dataset: Dataset, spec: ModelSpec, fit: Callable[..., FittedModel]
) -> FittedModel:
    """Fit in this process with progress on the screen; Ctrl-C keeps what there is.

    With a folder for the results there is a state in it to go on from.
    """
    say_memory(dataset, spec, chosen.jobs)
    checkpoint = None
    if chosen.out is not None:
        checkpoint = FitCheckpoint(chosen.out / STATE, resumed=_say_resumed)
    with _FitLine() as line:
        watched = {"fits_callback": line.compared} if spec.consensus > 1 else {}
        return fit(callback=line, n_jobs=chosen.jobs, checkpoint=checkpoint, **watched)


def deliver(
    chosen: argparse.Namespace,
    data: Dataset | ShardedDataset,
    fitted: FittedModel,
    about: dict[str, Any],
    *,
    spent: Spent,
    run: str = "",
    from_store: bool = False,
) -> None:
    """Files if there is a folder for them, and the result on the screen.

    ``about`` says which data they are.
    """
    before = fitted.guidance is not None and fitted.guidance.by_outcome
    guided = made_to_predict(fitted.spec, data.outcome_name, before)
    phenotypes = describe_phenotypes(
        fitted.factors,
        fitted.modes,
        chosen.top,
        frequencies=frequencies_in_blocks(RowsInBlocks(data)()),
        agreement=fitted.agreement,
    )
    summary = summarize_fit(fitted, phenotypes, run=run, from_store=from_store, made_for=guided)
    if chosen.out is not None:
        write_results(chosen.out, fitted, phenotypes, summary=summary, data=about)
        if isinstance(data, Dataset):
            write_tables(chosen.out / COSTS, data.outside.tables.values())
        if fitted.outcome is FitOutcome.CONVERGED:
            FitCheckpoint(chosen.out / STATE).remove()
    if chosen.json:
        json.dump(summary | spent.plain(), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(phenotypes, fitted)
    screen.print(fitted.outcome.value)
    if fitted.row_relation.why:
        screen.print(fitted.row_relation.why, highlight=False)
    if guided:
        screen.print(escape(guided), highlight=False)
    if chosen.out is not None:
        if (chosen.out / STATE).exists():
            screen.print(WAYS_ON[fitted.outcome])
        screen.print(escape(f"Results are in {chosen.out}"), highlight=False)


def _say_resumed(history: tuple[FitProgress, ...]) -> None:
    screen.print(f"Going on after iteration {len(history) - 1}, where it was left.")


class _FitLine(StoppableLine):
    """Iterations and objective; Ctrl-C ends the fit after the running iteration and keeps it."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[stands]}"),
            TimeRemainingColumn(),
        )
        super().__init__(Progress(*columns, console=screen), "iteration")
        self._task = self.progress.add_task("Fitting", total=None, stands="")

    def __call__(self, progress: FitProgress) -> bool:
        self.progress.update(
            self._task,
            description="Fitting",
            completed=progress.iteration,
            total=progress.expected,  # no promise: it ends when it has converged
            stands=f"iteration {progress.iteration}, objective {progress.objective:,.6g}",
        )
        return self.stop

    def compared(self, progress: FitsProgress) -> bool:
        """While the fits of a consensus run."""
        self.progress.update(
            self._task,
            description="Fits to compare",
            completed=progress.done,
            total=progress.total,
            stands=f"{progress.done} of {progress.total}",
        )
        return self.stop


def _show(phenotypes: Sequence[Phenotype], fitted: FittedModel) -> None:
    """A table; where a method knows signs, features with less than usual have a minus."""
    modes = list(phenotypes[0].items) if phenotypes else []
    method = factorization(fitted.spec.method)
    table = Table(title=f"{method.title}, rank {fitted.spec.rank}", show_lines=True)
    for heading in ("phenotype", *modes):
        table.add_column(heading)
    shown = "{:+5.0%} {}" if method.signed else "{:4.0%} {}"
    for phenotype in phenotypes:
        cells = [
            "\n".join(
                shown.format(item.weight, item.label) for item in items if abs(item.weight) >= SHOWN
            )
            for items in phenotype.items.values()
        ]
        about = [
            f"{phenotype.identifier} {phenotype.name}",
            f"{phenotype.share:.1%} of all, {len(phenotype.rows):,} {fitted.modes[0].name} rows",
            *(["in {} of {} fits".format(*phenotype.found_in)] if phenotype.found_in else []),
        ]
        table.add_row(*(escape(cell) for cell in ("\n".join(about), *cells)))
    Console().print(table)

"""``swift refit``: a finished result with changes of one's own, fitted again from there."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape

from swiftcore.cli.data_argument import add_set, load_data, screen
from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.fit import about_data, add_output, deliver, open_folder, run_fit
from swiftcore.cli.result_files import DATA, MODEL
from swiftcore.cli.spec_flags import COSTS
from swiftcore.cli.store_argument import store_root
from swiftcore.cost.outside.table_folder import read_tables
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, InvalidSettings, Problem, SwiftError, refuse
from swiftcore.evaluation.experiments.cross_validation import data_digest
from swiftcore.fitting import FittedModel
from swiftcore.model_costs import attach_costs
from swiftcore.phenotypes.guidance import (
    Merge,
    Pin,
    Split,
    Step,
    drop_from_text,
    seed_from_text,
)
from swiftcore.phenotypes.guidance_checks import find_changes, guided_spec
from swiftcore.progress import FitOutcome
from swiftcore.refitting import refit
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import listed, record, text
from swiftcore.runtime.spent import stopwatch

ABOUT = (
    "Merge phenotypes, split them, drop features, keep some as they are, begin new ones with "
    "features of your own; then fit again from there. Every option can be given several times. "
    "Pinned profiles stay bit for bit, dropped features stay at zero."
)
_DATA = record(
    {
        "name": text(4096),
        "given": text(4096),
        "set": listed(text(4096), 1000),
        "digest": text(200),
    }
)
_WORDS = {
    "--split": ("P05", "this one is two"),
    "--drop": ("P02:FEATURE", "this feature does not belong to this one"),
    "--pin": ("P01", "this one stays as it is"),
    "--seed-with": ("MODE=FEATURE;...", "there is another one, with these features"),
}


@dataclass(frozen=True, eq=False)
class _Result:
    """A finished result: its model, its data, and what is done with the refit of it.

    Attributes
    ----------
    data : dict
        Where the data came from, for the refit's own files.
    publish : callable
        Gets the refit and when it began; returns its id in the store, or nothing.
    """

    model: FittedModel
    dataset: Dataset
    data: dict[str, Any]
    publish: Callable[[FittedModel, float], str]


def add_refit(commands: Any) -> None:
    """The result, its data, and the changes."""
    words = "merge, split, drop, pin and seed, then fit again"
    parser = commands.add_parser("refit", help=words, description=ABOUT)
    parser.add_argument("result", metavar="RUN", help="a folder, a model file, or an id of a run")
    parser.add_argument(
        "--merge", nargs=2, action="append", default=[], metavar="P", help="these two are one"
    )
    for option, (metavar, words) in _WORDS.items():
        parser.add_argument(option, action="append", default=[], metavar=metavar, help=words)
    parser.add_argument("--data", help="the data of the result (default: as noted beside it)")
    add_set(parser)
    add_output(parser)
    parser.set_defaults(run=_refit)


def _refit(chosen: argparse.Namespace) -> int:
    began = time.time()
    result = _find_result(chosen)
    model = result.model
    steps = _steps(chosen, model)
    spec = guided_spec(model.spec, find_changes(steps, model.modes, model.factors))
    open_folder(chosen)
    fit = partial(refit, result.dataset, model, steps)
    spent = stopwatch()
    fitted = run_fit(chosen, result.dataset, spec, fit)
    took, run = spent(), result.publish(fitted, began)
    deliver(chosen, result.dataset, fitted, result.data, run=run, spent=took, began_as=model.spec)
    return 0


def _steps(chosen: argparse.Namespace, model: FittedModel) -> list[Step]:
    """The changes that the options name; raises InvalidSettings with all that cannot be read."""
    readers: list[tuple[list[Any], Callable[[Any], Step]]] = [
        (chosen.merge, lambda pair: Merge(*pair)),
        (chosen.split, Split),
        (chosen.drop, drop_from_text),
        (chosen.pin, Pin),
        (chosen.seed_with, lambda words: seed_from_text(words, model.modes)),
    ]
    steps: list[Step] = []
    problems: list[Problem] = []
    for given, read in readers:
        for one in given:
            try:
                steps.append(read(one))
            except SwiftError as error:
                problems += error.problems
    if problems:
        raise InvalidSettings(problems)
    return steps


def _find_result(chosen: argparse.Namespace) -> _Result:
    """What RUN means: a folder or file first, then a run of the dashboard."""
    path = Path(chosen.result)
    if path.exists():
        return _from_folder(chosen, path / MODEL if path.is_dir() else path)
    if chosen.data_dir is not None:
        return _from_store(chosen)
    raise refuse(
        "run-missing",
        "There is no such result",
        chosen.result[:80],
        "no folder and no file",
        "Name a folder written by swift fit, or a run with --data-dir.",
        kind=InvalidData,
    )


def _from_folder(chosen: argparse.Namespace, file: Path) -> _Result:
    model = FittedModel.load(file)
    data, settings = chosen.data, chosen.settings
    if data is None:
        noted = _noted_data(file.parent / DATA)
        data, settings = noted["given"], settings or noted["set"]
    dataset, _ = attach_costs(
        load_data(data, settings), model.spec, read_tables(file.parent / COSTS)
    )
    return _Result(model, dataset, about_data(data, settings, dataset), lambda *_: "")


def _noted_data(path: Path) -> dict[str, Any]:
    try:
        plain = read_json(path.read_bytes())
    except (OSError, ValueError):
        plain = None
    if not _DATA.fits(plain):
        raise refuse(
            "data-unknown",
            "It is not noted where the data of this result came from",
            str(path),
            "no note that can be read",
            "Name them: --data DATA.",
            kind=InvalidSettings,
        )
    found: dict[str, Any] = plain
    return found


def _from_store(chosen: argparse.Namespace) -> _Result:
    """A run of the dashboard by its id or the beginning of it; the refit goes there too."""
    check_dashboard()
    from dashboard.jobs.compute import fit_files, load_fit  # late: it is an extra
    from dashboard.store.lineage import carry_reviews
    from dashboard.store.refit_request import refit_request
    from dashboard.store.store import Store

    store = Store(store_root(chosen))
    fits = [card.id for card in store.runs(kind="fit")]
    found = [run for run in fits if run.startswith(chosen.result.lower())]
    run = found[0] if len(found) == 1 else chosen.result
    parent, model = store.run(run), load_fit(store, run)
    dataset = store.dataset(parent.dataset)

    def publish(fitted: FittedModel, began: float) -> str:
        if fitted.guidance is None or fitted.outcome is FitOutcome.STOPPED:
            return ""
        request = refit_request(parent, model.modes, model.factors, fitted.guidance.steps)
        files = fit_files(fitted, dataset)
        carry_reviews(store, request, files)
        stored = store.publish_run(request, files, began, time.time() - began)
        screen.print(escape(f"The dashboard shows it as run {stored}"), highlight=False)
        return str(stored)

    known = {"name": dataset.name, "given": f"run {run}", "set": [], "digest": data_digest(dataset)}
    return _Result(model, dataset, known, publish)

"""``swift refit``: a finished result with changes of one's own, fitted again from there."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rich.markup import escape

from swiftcore.cli.data_argument import add_set, screen
from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.finished_result import FinishedResult, add_result, find_result
from swiftcore.cli.fit import add_output, deliver, open_folder, run_fit
from swiftcore.cli.fit_folder import add_folder
from swiftcore.cli.store_argument import store_root
from swiftcore.errors import InvalidSettings, Problem, SwiftError
from swiftcore.fitting import FittedModel
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
from swiftcore.runtime.spent import stopwatch

ABOUT = (
    "Merge phenotypes, split them, drop features, keep some as they are, begin new ones with "
    "features of your own; then fit again from there. Every option can be given several times. "
    "Pinned profiles stay bit for bit, dropped features stay at zero."
)
_WORDS = {
    "--split": ("P05", "this one is two"),
    "--drop": ("P02:FEATURE", "this feature does not belong to this one"),
    "--pin": ("P01", "this one stays as it is"),
    "--seed-with": ("MODE=FEATURE;...", "there is another one, with these features"),
}


def add_commands(commands: Any) -> None:
    """The result, its data, and the changes."""
    words = "merge, split, drop, pin and seed, then fit again"
    parser = commands.add_parser("refit", help=words, description=ABOUT)
    add_result(parser)
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
    _bring_to_store(chosen)
    result = find_result(chosen)
    model = result.model
    steps = _steps(chosen, model)
    spec = guided_spec(model.spec, find_changes(steps, model.modes, model.factors))
    open_folder(chosen)
    fit = partial(refit, result.dataset, model, steps)
    spent = stopwatch()
    fitted = run_fit(chosen, result.dataset, spec, fit)
    took, run = spent(), _publish(result, fitted, began)
    deliver(chosen, result.dataset, fitted, result.data, run=run, spent=took)
    return 0


def _bring_to_store(chosen: argparse.Namespace) -> None:
    """Import a folder whose refit goes into a store: there a refit stands beside its parent."""
    path = Path(chosen.result)
    if chosen.data_dir is None or not path.exists():
        return
    check_dashboard()
    from dashboard.store.store import Store  # late: it is an extra

    folder = path if path.is_dir() else path.parent
    chosen.result = add_folder(Store(store_root(chosen)), folder)


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


def _publish(result: FinishedResult, fitted: FittedModel, began: float) -> str:
    """Keep the refit of a run in its store; its id there, or nothing."""
    if result.store is None or fitted.guidance is None or fitted.outcome is FitOutcome.STOPPED:
        return ""
    from dashboard.jobs.compute import fit_files  # late: it is an extra
    from dashboard.store.lineage import carry_reviews
    from dashboard.store.refit_request import refit_request

    store, model = result.store, result.model
    parent = store.run(result.run)
    request = refit_request(parent, model.modes, model.factors, fitted.guidance.steps)
    files = fit_files(fitted, result.dataset)
    carry_reviews(store, request, files)
    stored = store.publish_run(request, files, began, time.time() - began)
    screen.print(escape(f"The dashboard shows it as run {stored}"), highlight=False)
    return str(stored)

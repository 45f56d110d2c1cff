"""A finished result that a command works on: a folder of files, or a run of the dashboard."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swiftcore.cli.data_argument import load_data
from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.fit import about_data
from swiftcore.cli.result_files import DATA, MODEL
from swiftcore.cli.spec_flags import COSTS
from swiftcore.cli.store_argument import store_root
from swiftcore.cost.outside.table_folder import read_tables
from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.errors import InvalidData, InvalidSettings, refuse
from swiftcore.fitting import FittedModel
from swiftcore.model_costs import attach_costs
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import listed, record, text

if TYPE_CHECKING:
    from dashboard.store.store import Store

_DATA = record(
    {
        "name": text(4096),
        "given": text(4096),
        "set": listed(text(4096), 1000),
        "digest": text(200),
    }
)


@dataclass(frozen=True, eq=False)
class FinishedResult:
    """A model, its data, and where it came from.

    Attributes
    ----------
    data : dict
        Where the data came from, as files beside a result note it.
    store, run : Store or None, str
        The store and its id there; of a folder, none.
    """

    model: FittedModel
    dataset: Dataset
    data: dict[str, Any]
    store: Store | None = None
    run: str = ""


def add_result(parser: argparse.ArgumentParser, metavar: str = "RUN") -> None:
    """The finished result that a command works on."""
    words = "a folder of swift fit --out, its model.npz, or an id of a run"
    parser.add_argument("result", metavar=metavar, help=words)


def find_result(chosen: argparse.Namespace) -> FinishedResult:
    """What RUN means, with the data that it was fitted to."""
    file = _model_file(chosen)
    return _from_store(chosen) if file is None else _from_folder(chosen, file)


def find_model(chosen: argparse.Namespace) -> tuple[FittedModel, list[str]]:
    """What RUN means, without its data; and how these were read, where that is noted."""
    file = _model_file(chosen)
    if file is None:
        from dashboard.jobs.compute import load_fit  # late: it is an extra

        return load_fit(*_stored_run(chosen)), []
    model = FittedModel.load(file)
    noted = file.parent / DATA
    return model, _noted_data(noted)["set"] if noted.exists() else []


def _model_file(chosen: argparse.Namespace) -> Path | None:
    """The model's file: a folder or file goes first; None for a run of the dashboard."""
    path = Path(chosen.result)
    if path.exists():
        return path / MODEL if path.is_dir() else path
    if chosen.data_dir is not None:
        return None
    raise refuse(
        "run-missing",
        "There is no such result",
        chosen.result[:80],
        "no folder and no file",
        "Name a folder written by swift fit, or a run with --data-dir.",
        kind=InvalidData,
    )


def _from_folder(chosen: argparse.Namespace, file: Path) -> FinishedResult:
    model = FittedModel.load(file)
    data, settings = chosen.data, chosen.settings
    if data is None:
        noted = _noted_data(file.parent / DATA)
        data, settings = noted["given"], settings or noted["set"]
    dataset, _ = attach_costs(
        load_data(data, settings), model.spec, read_tables(file.parent / COSTS)
    )
    return FinishedResult(model, dataset, about_data(data, settings, dataset))


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


def _from_store(chosen: argparse.Namespace) -> FinishedResult:
    from dashboard.jobs.compute import load_fit  # late: it is an extra

    store, run = _stored_run(chosen)
    dataset = store.dataset(store.run(run).dataset)
    known = {"name": dataset.name, "given": f"run {run}", "set": [], "digest": data_digest(dataset)}
    return FinishedResult(load_fit(store, run), dataset, known, store, run)


def _stored_run(chosen: argparse.Namespace) -> tuple[Store, str]:
    """A run of the dashboard by its id or the beginning of it."""
    check_dashboard()
    from dashboard.store.store import Store  # late: it is an extra

    store = Store(store_root(chosen))
    fits = [card.id for card in store.runs(kind="fit")]
    found = [run for run in fits if run.startswith(chosen.result.lower())]
    return store, found[0] if len(found) == 1 else chosen.result

"""A folder of ``swift fit --out`` brought into a store, through the door for results from outside.

Anybody may have changed files in a folder, so such a result is checked in full, marked as imported
and answers no request; ``swift fit --data-dir`` gives one that is the store's own.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swiftcore.cli.data_argument import is_sample, load_data
from swiftcore.cli.result_files import DATA, MODEL
from swiftcore.data.digest import data_digest
from swiftcore.errors import InvalidData, SwiftError, refuse
from swiftcore.fitting import FittedModel
from swiftcore.runtime.plain_json import read_json

if TYPE_CHECKING:
    from dashboard.store.store import Store
    from swiftcore.data.dataset import Dataset


def add_folder(store: Store, folder: Path) -> str:
    """The run of a fit's folder; its data are added if the store does not have them.

    Raises
    ------
    SwiftError
        If it is no such folder, holds a refit, or its data are not where they were.
    """
    from dashboard.jobs.ask import keep_data  # late: it is an extra
    from dashboard.jobs.compute import fit_files, load_fit
    from dashboard.store.bundle_zip import pack
    from dashboard.store.request import Request
    from dashboard.store.run_record import RUN, facts
    from dashboard.store.verified_folder import SEAL, seal_text

    fitted = FittedModel.load(folder / MODEL)
    if fitted.guidance is not None:
        raise refuse(
            "fit-folder-guided",
            "A result with changes of a person is shown beside the one that was changed",
            str(folder),
            "a refit",
            "Refit the run in the store: swift refit RUN --data-dir.",
        )
    dataset, synthetic = _data_of(store, folder)
    data = keep_data(store, dataset, synthetic=synthetic)
    request = Request("fit", data, fitted.spec.plain())
    if store.is_finished(request.key()) and _are_same(load_fit(store, request.key()), fitted):
        return request.key()
    files = fit_files(fitted, store.dataset(data))
    ended, seconds = (folder / MODEL).stat().st_mtime, fitted.history[-1].seconds
    files[RUN] = json.dumps(facts(request, ended - seconds, ended, seconds)).encode()
    digests = {name: hashlib.sha256(files[name]).hexdigest() for name in sorted(files)}
    bundle = pack({"run": {**files, SEAL: seal_text(digests)}})
    return store.import_run(bundle, folder.resolve().name)


def _data_of(store: Store, folder: Path) -> tuple[Dataset, bool]:
    """The data of a folder, where they were or as the store has them; whether they are a sample."""
    noted = _read_note(folder / DATA)
    missing = None
    try:
        found = load_data(noted["given"], noted["set"])
        if data_digest(found) == noted["digest"]:
            return found, is_sample(noted["given"])
    except (SwiftError, OSError) as error:
        missing = error
    for card in store.datasets():
        if not card.damaged and data_digest(known := store.dataset(card.id)) == noted["digest"]:
            return known, card.synthetic
    raise refuse(
        "fit-folder-data",
        "The data of this fit are not where they were, or are others now",
        noted["given"],
        "nothing that can be read" if missing else "other data",
        "Put them back, or fit again with --data-dir.",
    ) from missing


def _read_note(path: Path) -> dict[str, Any]:
    try:
        noted = read_json(path.read_bytes())
        if not all(isinstance(noted[name], str) for name in ("given", "digest")):
            raise ValueError("no data named")
        return {**noted, "set": [str(one) for one in noted["set"]]}
    except (OSError, LookupError, TypeError, ValueError) as error:
        raise refuse(
            "fit-folder",
            "The folder does not say of which data it is",
            str(path),
            "no file that can be read",
            "Fit again with this version, or with --data-dir.",
            kind=InvalidData,
        ) from error


def _are_same(one: FittedModel, other: FittedModel) -> bool:
    pairs = zip(one.factors, other.factors, strict=True)
    return one.modes == other.modes and all((here == there).all() for here, there in pairs)

"""A fitted model in one file: npz, no pickle, written whole or not at all."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.checks import check_costs
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.swift.estimator import Swift
from swiftcore.swift.settings import check_settings, checked_factors
from swiftcore.tensor import Mode

MODEL_FORMAT = "swift-model 1"


def save_model(model: Swift, path: str | Path) -> None:
    """Write a fitted model; a file that is already there stays whole until the new one is."""
    if not hasattr(model, "factors_"):
        raise refuse(
            "not-fitted",
            "Only a fitted model can be saved",
            "Swift",
            "no factors",
            "Call fit first.",
            kind=InvalidSettings,
        )
    about = {
        "format": MODEL_FORMAT,
        "parameters": model.get_params(),
        "modes": [{"name": mode.name, "labels": mode.labels} for mode in model.modes_],
        "outcome": model.outcome_.name,
        "dead_components": model.dead_components_,
        "value_unit": model.value_unit_,
        "rows_still": model.rows_fixed_,
        "history": [vars(entry) for entry in model.history_],
    }
    arrays: dict[str, Any] = {f"factor_{mode}": part for mode, part in enumerate(model.factors_)}
    for mode, cost in enumerate(model.feature_costs_, start=1):
        if cost is not None:
            arrays[f"cost_{mode}"] = cost
    text = json.dumps(about, default=_plain).encode()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=np.frombuffer(text, dtype=np.uint8), **arrays)
    write_atomic(Path(path), buffer.getvalue())


def load_model(path: str | Path) -> Swift:
    """Read a model written by :func:`save_model`.

    Raises
    ------
    InvalidData
        If the file is no model, is damaged, or holds factors that cannot be.
    """
    if not Path(path).is_file():
        raise refuse(
            "model-missing",
            "There is no such file",
            str(path),
            "nothing",
            "Check the path and its spelling.",
        )
    try:
        return _read(Path(path))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        EOFError,
        NotImplementedError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise refuse(
            "model-file",
            "This is not a SWIFT model, or it is damaged",
            str(path),
            f"{type(error).__name__}: {error}",
            "Choose a file written by save_model of this version.",
        ) from error


def _read(path: Path) -> Swift:
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(bytes(file["about"]).decode())
        if about["format"] != MODEL_FORMAT:
            raise ValueError(f"format {about['format']!r}")
        modes = tuple(Mode(mode["name"], tuple(mode["labels"])) for mode in about["modes"])
        if len(modes) < 2:
            raise ValueError(f"{len(modes)} modes")
        factors = [file[f"factor_{mode}"] for mode in range(len(modes))]
        names = [f"cost_{mode}" for mode in range(1, len(modes))]
        costs: list[NDArray[Any] | None] = [
            file[name] if name in file.files else None for name in names
        ]
    check_settings(about["parameters"])
    model = Swift(**about["parameters"])
    shape = tuple(len(mode) for mode in modes)
    model.factors_ = checked_factors(factors, shape, model.rank)
    model.memberships_ = model.factors_[0]
    model.feature_costs_ = list(check_costs(costs, shape[1:]))
    model.modes_ = modes
    model.outcome_ = FitOutcome[about["outcome"]]
    model.history_ = tuple(FitProgress(**entry) for entry in about["history"])
    model.n_iterations_ = len(model.history_) - 1
    model.objective_ = model.history_[-1].objective
    model.dead_components_ = tuple(about["dead_components"])
    model.value_unit_ = float(about["value_unit"])
    model.rows_fixed_ = bool(about["rows_still"])
    return model


def _plain(value: Any) -> Any:
    """NumPy numbers among the settings, as plain ones."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be saved")

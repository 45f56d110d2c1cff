"""A fitted model in one file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from swiftcore.errors import InvalidData, Problem
from swiftcore.factorization.swift import Swift
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.tensor import Mode

MODEL_FORMAT = "swift-model 1"


def save_model(model: Swift, path: str | Path) -> None:
    """Write a fitted model to one npz file; no pickle, so it is safe to pass on."""
    about = {
        "format": MODEL_FORMAT,
        "parameters": model.get_params(),
        "modes": [{"name": mode.name, "labels": mode.labels} for mode in model.modes_],
        "outcome": model.outcome_.name,
        "dead_components": model.dead_components_,
        "history": [vars(entry) for entry in model.history_],
    }
    arrays: dict[str, Any] = {
        f"factor_{mode}": factor for mode, factor in enumerate(model.factors_)
    }
    for mode, cost in enumerate(model.feature_costs_, start=1):
        if cost is not None:
            arrays[f"cost_{mode}"] = cost
    text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=text, **arrays)
    Path(path).write_bytes(buffer.getvalue())


def load_model(path: str | Path) -> Swift:
    """Read a model written by :func:`save_model`."""
    try:
        with np.load(path, allow_pickle=False) as file:
            about = json.loads(bytes(file["about"]).decode())
            if about.get("format") != MODEL_FORMAT:
                raise ValueError(about.get("format"))
            n_modes = len(about["modes"])
            factors = [file[f"factor_{mode}"] for mode in range(n_modes)]
            costs = [
                file[name] if name in file.files else None
                for name in (f"cost_{mode}" for mode in range(1, n_modes))
            ]
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InvalidData(
            Problem("model-file", "This is not a SWIFT model", str(path), type(error).__name__,
                    "Choose a file written by save_model of this version.")
        ) from error  # fmt: skip
    model = Swift(**about["parameters"])
    model.factors_ = factors
    model.memberships_ = factors[0]
    model.modes_ = tuple(Mode(mode["name"], tuple(mode["labels"])) for mode in about["modes"])
    model.outcome_ = FitOutcome[about["outcome"]]
    model.history_ = tuple(FitProgress(**entry) for entry in about["history"])
    model.n_iterations_ = len(model.history_) - 1
    model.objective_ = model.history_[-1].objective
    model.dead_components_ = tuple(about["dead_components"])
    model.feature_costs_ = costs
    return model

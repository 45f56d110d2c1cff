"""The complete state of a fit in a file: bound to its data and settings, and to nothing else."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from importlib.metadata import version
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config
from numpy.typing import ArrayLike, NDArray

from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.progress import FitProgress
from swiftcore.runtime.atomic_file import forget_drafts
from swiftcore.runtime.sealed_arrays import (
    Arrays,
    DamagedArrays,
    array_digest,
    read_sealed,
    write_sealed,
)
from swiftcore.spec import ALGORITHM_VERSION
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.engine import LoopState, Point
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.start import Restarts
from swiftcore.tensor import SparseTensor
from swiftcore.transport.column_task import ModeState
from swiftcore.transport.compiled.arguments import N_SUMS
from swiftcore.transport.sweep import TransportValue

logger = logging.getLogger(__name__)
CHECKPOINT_FORMAT = "swift-checkpoint 1"  # raise it when a state is written in another way
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "scikit-learn")  # decide about the last bits
NOT_IN_KEY = ("n_jobs", "max_iterations")
MEGABYTE = 1e6


@dataclass(frozen=True, eq=False)
class FitState:
    """Where a fit stands.

    Attributes
    ----------
    restarts : Restarts or None
        While a start is looked for, those that were tried.
    random : mapping
        The random generator, while a start is looked for.
    loop : LoopState or None
        Of the fit itself or, while a start is looked for, of the one being tried.
    """

    restarts: Restarts | None = None
    random: Mapping[str, Any] | None = None
    loop: LoopState | None = None


def fit_key(
    tensor: SparseTensor,
    costs: Sequence[ArrayLike | Neighbourhoods | None],
    initial: Factors | None,
    settings: Mapping[str, Any],
    pinned: Sequence[int] = (),
) -> str:
    """A digest of everything that the bits of a fit depend on.

    Workers are not among it, nor is the limit: a fit goes on beyond it as if it had been larger.
    """
    about: dict[str, Any] = {"data": tensor.digest()}
    if pinned:
        about["pinned"] = list(pinned)
    arrays = _named("initial", initial or ())
    for mode, cost in enumerate(costs):
        if isinstance(cost, Neighbourhoods):
            arrays |= {f"cost_{mode}_{name}": part for name, part in cost.arrays().items()}
        elif cost is not None:
            arrays[f"cost_{mode}"] = np.asarray(cost, dtype=np.float64)
    return key_of(about, settings, arrays)


def key_of(about: Mapping[str, Any], settings: Mapping[str, Any], arrays: Arrays) -> str:
    """A digest of some facts and arrays, of settings, and of what computes with them."""
    everything = {
        **about,
        "settings": {name: settings[name] for name in settings if name not in NOT_IN_KEY},
        "algorithm": ALGORITHM_VERSION,
        "processor": processor(),
        "packages": {name: version(name) for name in PACKAGES},
    }
    return array_digest(json.dumps(everything, sort_keys=True, default=str), arrays)


def processor() -> str:
    """The kind of processor that loops are compiled for."""
    return str(config.CPU_NAME or binding.get_host_cpu_name())


class FitFile:
    """The file of one fit: read once, then written now and then.

    Parameters
    ----------
    checkpoint : FitCheckpoint
    key : str
        From :func:`fit_key`.
    """

    def __init__(self, checkpoint: FitCheckpoint, key: str) -> None:
        self._checkpoint, self._key = checkpoint, key
        self._written = time.monotonic()
        forget_drafts(checkpoint.path)

    def read(self) -> FitState:
        """What an earlier process has left of this very fit; an empty state if nothing."""
        path = self._checkpoint.path
        try:
            about, arrays = read_sealed(path)
            if (about["format"], about["key"]) != (CHECKPOINT_FORMAT, self._key):
                raise DamagedArrays("it belongs to another fit or another version")
            return _state(about, arrays)
        except FileNotFoundError:
            return FitState()
        except (DamagedArrays, LookupError, TypeError) as error:
            logger.warning("%s is left aside, the fit begins anew: %s", path.name, error)
            return FitState()

    def resume(self, loop: LoopState) -> None:
        """Tell whoever wants to know that the fit goes on."""
        logger.info("going on after iteration %d", _iteration(loop))
        if self._checkpoint.resumed is not None:
            self._checkpoint.resumed(tuple(loop.history))

    @property
    def due(self) -> bool:
        """Whether the last writing is long enough ago."""
        return time.monotonic() - self._written >= self._checkpoint.every

    def write(self, state: FitState) -> bool:
        """Keep a state, and say whether it is kept; when the disk refuses, the fit goes on."""
        path, before = self._checkpoint.path, time.monotonic()
        about, arrays = _plain(state)
        try:
            write_sealed(path, {"format": CHECKPOINT_FORMAT, "key": self._key, **about}, arrays)
            size = path.stat().st_size / MEGABYTE
        except OSError as error:
            logger.warning("%s could not be written: %s", path.name, error.strerror or error)
            return False
        finally:
            self._written = time.monotonic()
        spent = self._written - before
        logger.info("kept iteration %d: %.1f MB in %.2f s", about.get("iteration", 0), size, spent)
        return True


def _iteration(loop: LoopState) -> int:
    return max(0, len(loop.history) - 1)


def _plain(state: FitState) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays; the arrays are those of the state, not copies."""
    about: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    restarts, loop = state.restarts, state.loop
    if restarts is not None:
        about["restarts"] = {"tried": restarts.tried, "loss": restarts.loss}
        about["random"] = state.random
        arrays |= _named("start", restarts.factors or ())
    elif loop is not None:
        about["iteration"] = _iteration(loop)
    if loop is not None:
        about["loop"] = {
            "momentum": loop.momentum,
            "plain": loop.plain,
            "carried": loop.carried,
            "settling": loop.settling,
            "seconds": loop.seconds,
            "pinned": loop.pinned,
            "value": None if loop.best is None else vars(loop.best.value),
        }
        arrays["history"] = np.array([astuple(entry) for entry in loop.history], dtype=np.float64)
        arrays |= _named("trial", loop.trial)
        if loop.best is not None:
            arrays |= _named("best", loop.best.factors) | _named("step", loop.best.step)
        for mode, part in enumerate(loop.transport):  # the sums are written anew by every sweep
            arrays[f"log_scaling_{mode}"] = part.log_scaling
            arrays[f"scaling_{mode}"] = part.scaling
            arrays[f"shift_{mode}"] = part.shift
    return about, arrays


def _state(about: Mapping[str, Any], arrays: Arrays) -> FitState:
    """The state that :func:`_plain` took apart."""
    restarts = None
    if "restarts" in about:
        restarts = Restarts(factors=_all(arrays, "start") or None, **about["restarts"])
    return FitState(restarts, about.get("random"), _loop(about.get("loop"), arrays))


def _loop(about: Mapping[str, Any] | None, arrays: Arrays) -> LoopState | None:
    if about is None:
        return None
    facts = dict(about)
    value, best, pinned = facts.pop("value"), None, tuple(facts.pop("pinned", ()))
    if value is not None:
        best = Point(_all(arrays, "best"), TransportValue(**value), _all(arrays, "step"))
    transport = [
        ModeState(log_scaling, scaling, shift, np.zeros((len(shift), N_SUMS)))
        for log_scaling, scaling, shift in zip(
            *(_all(arrays, name) for name in ("log_scaling", "scaling", "shift")), strict=True
        )
    ]
    history = [_entry(row) for row in arrays["history"].tolist()]
    trial = _all(arrays, "trial")
    return LoopState(trial, transport, best, history=history, pinned=pinned, **facts)


def _entry(row: Sequence[float]) -> FitProgress:
    """One line of the history, with its whole numbers and its yes or no."""
    kinds = {"iteration": int, "max_iterations": int, "accepted": bool}
    names = [one.name for one in fields(FitProgress)]
    values = zip(names, row, strict=True)
    return FitProgress(**{name: kinds.get(name, float)(value) for name, value in values})


def _named(name: str, arrays: Sequence[NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {f"{name}_{mode}": array for mode, array in enumerate(arrays)}


def _all(arrays: Arrays, name: str) -> list[NDArray[Any]]:
    count = sum(key.rpartition("_")[0] == name for key in arrays)
    return [arrays[f"{name}_{mode}"] for mode in range(count)]

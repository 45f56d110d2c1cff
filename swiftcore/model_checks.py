"""What a file of a model may say: every fact and every array with the range of its values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.runtime.ranges import (
    ABOVE_ZERO,
    ANY_REAL,
    FLAG,
    Range,
    is_real,
    listed,
    maybe,
    real,
    record,
    text,
    whole,
)
from swiftcore.spec import SETTINGS
from swiftcore.spec.row_relation import RELATIONS
from swiftcore.tensor.entry_checks import MAX_MODE

MODEL_FORMAT = "swift-model 1"  # raise it when files written before cannot be read any more
ROUNDING = 1e-6  # by which sums of profiles and objectives may be off
# facts that older files do not have
LATER = ("spec", "weighting", "guidance", "fits", "found_in", "row_relation")
PARTS = ("transport", "model_divergence", "data_divergence", "gap")  # of SWIFT's objective

_TEXT = text(1_000_000)
MODE_FIELDS = {"name": _TEXT, "labels": listed(_TEXT, MAX_MODE)}
MAX_MODES = 1_000
_STEP = record(
    {
        "iteration": whole(0),
        "max_iterations": whole(0),
        "objective": ANY_REAL,
        **dict.fromkeys(PARTS, Range(lambda value: isinstance(value, float | int), "a number")),
        "accepted": FLAG,
        "seconds": real(0),
    }
)
_ENTRY_VALUES = SETTINGS["entry_values"]
_WEIGHTING = {
    "entry_values": Range(_ENTRY_VALUES.allows, _ENTRY_VALUES.wanted),
    "presence": FLAG,  # in files of before
    "scale": ABOVE_ZERO,
    "row_mass": maybe(ABOVE_ZERO),
}


def _are_parameters(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(
        one is None or isinstance(one, bool) or is_real(one) or text(200).fits(one)
        for one in value.values()
    )


ABOUT = {
    "format": Range(lambda value: value == MODEL_FORMAT, repr(MODEL_FORMAT)),
    "spec": Range(lambda value: isinstance(value, dict), "a spec"),
    "parameters": Range(_are_parameters, "names with single values"),
    "modes": listed(record(MODE_FIELDS), MAX_MODES),
    "outcome": Range(
        lambda value: isinstance(value, str) and value in FitOutcome.__members__,
        f"one of {', '.join(FitOutcome.__members__)}",
    ),
    "dead_components": listed(whole(0), 1_000_000),
    "value_unit": ABOVE_ZERO,
    "rows_still": FLAG,
    "row_relation": Range(
        lambda value: value in RELATIONS[1:], f"one of {', '.join(RELATIONS[1:])}"
    ),
    "weighting": record(_WEIGHTING, optional=_WEIGHTING),
    "history": listed(_STEP, 10_000_000),
    "guidance": record(
        {
            "parent": text(64),
            "steps": Range(lambda value: isinstance(value, list), "a list"),
            "by_outcome": FLAG,
        },
        optional=("by_outcome",),
    ),
    "fits": whole(2),
    "found_in": listed(whole(0), 1_000_000),
}


def check_names(arrays: Iterable[str], n_modes: int) -> None:
    """Raise ValueError if there is an array that no model has."""
    known = {"about", "feature_weights", "factor_0"}
    known |= {
        f"{what}_{mode}" for what in ("factor", "cost", "spread") for mode in range(1, n_modes)
    }
    if unknown := sorted(set(arrays) - known):
        raise ValueError(f"an unknown array {unknown[0][:40]!r}")


def check_history(history: Sequence[FitProgress], *, promised: bool) -> None:
    """Raise ValueError unless iterations follow each other.

    Parameters
    ----------
    promised : bool
        Whether the method promises an objective that never rises, with all its parts.
    """
    if not history or [entry.iteration for entry in history] != list(range(len(history))):
        raise ValueError("iterations that do not follow each other")
    if not promised:
        return
    parts = [[getattr(entry, name) for name in PARTS] for entry in history]
    if not np.isfinite(np.array(parts, dtype=float)).all():
        raise ValueError("a history that is not finite")
    objective = np.array([entry.objective for entry in history])
    if (np.diff(objective) > ROUNDING * np.abs(objective).max()).any():
        raise ValueError("an objective that rises")


def checked_weights(weights: NDArray[Any], n_features: int) -> NDArray[np.float64]:
    """One weight per feature, finite and 0 or more; raises ValueError."""
    sound = weights.shape == (n_features,) and weights.dtype.kind == "f"
    if not sound or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("weights of features that cannot be")
    return np.asarray(weights, dtype=np.float64)


def check_agreement(
    n_fits: int, found_in: Sequence[int], spread: Sequence[NDArray[Any]], shapes: Sequence[Any]
) -> None:
    """Raise ValueError unless as many fits can have found as many components so far apart.

    Parameters
    ----------
    shapes : sequence
        Of the factors of the feature modes.
    """
    rank = shapes[0][1]
    if len(found_in) != rank or max(found_in) > n_fits:
        raise ValueError("components found in more fits than there are")
    for part, shape in zip(spread, shapes, strict=True):
        sound = part.shape == shape and part.dtype.kind == "f"
        if not sound or not ((part >= 0) & (part <= 1 + ROUNDING)).all():
            raise ValueError("spreads that cannot be")


def is_sound_factor(factor: NDArray[Any], *, signed: bool, profiles: bool) -> bool:
    """Whether a factor can come from a fit: finite, of the right sign, profiles normalised.

    Parameters
    ----------
    signed : bool
        Whether the method knows values below 0; its profiles have a length of 1 then, and a sum
        of 1 otherwise. Profiles of dead components may be zero.
    profiles : bool
        False for the rows, which carry the weight.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.linalg.norm(factor, axis=0) if signed else factor.sum(axis=0)
        if not np.isfinite(sizes.sum()) or (not signed and (factor < 0).any()):
            return False
    return not profiles or bool(((np.abs(sizes - 1) <= ROUNDING) | (sizes == 0)).all())

"""Side tables as plain arrays, for a file that must not hold objects; read without trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.side_tables import MAX_COVARIATES, Covariate, DatedEvents, SideTables
from swiftcore.data.text_arrays import read_texts, text_arrays

Arrays = Mapping[str, NDArray[Any]]
FIRST_DAY, LAST_DAY = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")
_EVENTS = ("event_row", "event_mode", "event_feature", "event_day")
_UNKNOWN = np.iinfo(np.int64).min  # how numpy writes a day that is not known


def side_arrays(side: SideTables) -> dict[str, NDArray[Any]]:
    """What a file keeps of side tables; nothing when they are empty."""
    arrays: dict[str, NDArray[Any]] = {}
    if side.covariates:
        arrays |= text_arrays("covariate_names", [one.name for one in side.covariates])
        arrays |= text_arrays("covariate_kinds", [one.kind for one in side.covariates])
    for number, one in enumerate(side.covariates):
        place = f"covariate_{number}"
        if one.kind == "text":
            labels, codes = np.unique(one.values.astype(str), return_inverse=True)
            arrays |= {place: codes.astype(np.int32)} | text_arrays(
                f"{place}_labels", labels.tolist()
            )
        elif one.kind == "date":
            arrays[place] = one.values.astype("datetime64[D]").astype(np.int64)
        else:
            arrays[place] = one.values.astype(np.float64)
    if (events := side.events) is not None:
        columns = (events.row, events.mode, events.feature, events.date.astype(np.int64))
        arrays |= {
            name: column.astype(np.int32) for name, column in zip(_EVENTS, columns, strict=True)
        }
    if side.texts:
        arrays |= text_arrays("row_texts", side.texts)
    return arrays


def side_from_arrays(arrays: Arrays) -> SideTables:
    """The side tables that :func:`side_arrays` wrote.

    Raises
    ------
    ValueError, LookupError
        When the arrays hold something else; whether they fit a tensor is
        :meth:`SideTables.check`'s to say.
    """
    covariates: tuple[Covariate, ...] = ()
    if "covariate_names" in arrays:
        names, kinds = read_texts(arrays, "covariate_names"), read_texts(arrays, "covariate_kinds")
        if len(names) > MAX_COVARIATES or len(set(names)) < len(names):
            raise ValueError("too many covariates, or two of one name")
        covariates = tuple(
            _covariate(arrays, f"covariate_{number}", name, kind)
            for number, (name, kind) in enumerate(zip(names, kinds, strict=True))
        )
    events = _events(arrays) if _EVENTS[0] in arrays else None
    texts = read_texts(arrays, "row_texts") if "row_texts" in arrays else ()
    return SideTables(covariates, events, texts)


def _covariate(arrays: Arrays, place: str, name: str, kind: str) -> Covariate:
    values = arrays[place]
    if kind == "text":
        labels = np.array(read_texts(arrays, f"{place}_labels"), dtype=str)
        _check_whole(values, 0, len(labels) - 1, name)
        return Covariate(name, "text", labels[values])
    if kind == "date":
        return Covariate(name, "date", _dates(values, name, unknown=True))
    if kind != "number" or values.dtype != np.float64 or np.isinf(values).any():
        raise ValueError(f"the covariate {name[:40]!r}")
    return Covariate(name, "number", values)


def _events(arrays: Arrays) -> DatedEvents:
    row, mode, feature, day = (arrays[name] for name in _EVENTS)
    most = np.iinfo(np.int32).max
    for name, one in zip(_EVENTS[:3], (row, mode, feature), strict=True):
        _check_whole(one, 0, most, name)
    dates = _dates(day, "event_day", unknown=False)
    row, mode, feature = (one.astype(np.int64) for one in (row, mode, feature))
    return DatedEvents(row, mode, feature, dates)


def _dates(days: NDArray[Any], name: str, *, unknown: bool) -> NDArray[np.datetime64]:
    known = days[days != _UNKNOWN] if unknown and days.dtype == np.int64 else days
    _check_whole(known, int(FIRST_DAY.astype(np.int64)), int(LAST_DAY.astype(np.int64)), name)
    return days.astype(np.int64).astype("datetime64[D]")


def _check_whole(values: NDArray[Any], least: int, most: int, name: str) -> None:
    if values.ndim != 1 or values.dtype.kind not in "iu":
        raise ValueError(f"{name[:40]!r} holds no whole numbers")
    if len(values) and (values.min() < least or values.max() > most):
        raise ValueError(f"{name[:40]!r} holds a number out of range")

"""All rows on a plane: those with a similar mix of phenotypes lie near each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.fit_view.table_one import OTHER, UNKNOWN
from swiftcore.data.side_tables import Covariate
from swiftcore.evaluation.protocol.scalings import root_shares

MOST = 20_000  # of more rows a part is drawn
MAX_CLASSES = 8  # told apart by colour; the rarest are put together


@dataclass(frozen=True, eq=False)
class RowMap:
    """Where rows lie.

    Attributes
    ----------
    rows : ndarray of int64
        Which rows these are, in rising order: all, or evenly drawn ones.
    places : ndarray, (rows x 2)
        To the right and up.
    kept : float
        Share of all differences between rows that the plane shows.
    """

    rows: NDArray[np.int64]
    places: NDArray[np.float64]
    kept: float


@dataclass(frozen=True, eq=False)
class Colouring:
    """What the colour of the points says.

    Attributes
    ----------
    title : str
        User text.
    values : ndarray
        One per point: numbers for a scale, NaN where not known; or texts for classes.
    classes : tuple of str
        Of texts, the most frequent first; empty for numbers.
    dates : bool
        Whether the numbers are days since 1970.
    """

    title: str
    values: NDArray[np.generic]
    classes: tuple[str, ...] = ()
    dates: bool = False


def row_map(shared: NDArray[np.float64], most: int = MOST, seed: int = 0) -> RowMap:
    """Principal components of the square roots of shares: distances are those of Hellinger.

    The same rows always give the same picture: of each direction, the end at which the phenotype
    with the largest part in it lies is to the right, or up.

    Parameters
    ----------
    shared : ndarray, (rows x rank)
        From ``row_shares``.
    most : int
        Of more rows than this, so many are drawn by ``seed``.
    """
    rows = np.arange(len(shared))
    if len(rows) > most:
        rng = np.random.default_rng(seed)
        rows = np.sort(rng.choice(len(shared), most, replace=False))
    roots = root_shares(np.asarray(shared[rows], dtype=np.float64))
    centred = roots - roots.mean(axis=0)
    sizes, directions = np.linalg.eigh(centred.T @ centred)
    axes = np.zeros((shared.shape[1], 2))
    count = min(2, shared.shape[1])
    axes[:, :count] = directions[:, ::-1][:, :count]
    ends = np.take_along_axis(axes, np.abs(axes).argmax(axis=0)[None, :], axis=0)
    axes *= np.where(ends < 0, -1.0, 1.0)
    whole = float(np.clip(sizes, 0, None).sum())
    kept = float(np.clip(sizes[::-1][:2], 0, None).sum()) / whole if whole else 1.0
    return RowMap(rows, np.round(centred @ axes, 6), kept)


def by_class(title: str, texts: Sequence[str]) -> Colouring:
    """Colours for classes; the rarest beyond :data:`MAX_CLASSES` are one."""
    values = pd.Series(texts, dtype=object).replace("", UNKNOWN)
    counts = values.value_counts(sort=False)
    order = sorted(counts.index, key=lambda name: (-counts[name], name))
    if len(order) > MAX_CLASSES:
        values = values.where(values.isin(order[: MAX_CLASSES - 1]), OTHER)
        order = [*order[: MAX_CLASSES - 1], OTHER]
    return Colouring(title, values.to_numpy(dtype=object), tuple(order))


def by_covariate(one: Covariate, rows: NDArray[np.int64]) -> Colouring:
    """Colours for what is known of rows."""
    values = one.values[rows]
    if one.kind == "text":
        return by_class(one.name, [str(value) for value in values])
    if one.kind == "date":
        days = values.astype("datetime64[D]")
        numbers = np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
        return Colouring(one.name, numbers, dates=True)
    return Colouring(one.name, values.astype(np.float64))


def within(
    chart: RowMap, across: tuple[float, float], upwards: tuple[float, float]
) -> NDArray[np.bool_]:
    """Which points lie in a rectangle, its edges included."""
    x, y = chart.places.T
    return (x >= across[0]) & (x <= across[1]) & (y >= upwards[0]) & (y <= upwards[1])

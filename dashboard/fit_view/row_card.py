"""One row (a patient, a document) as a person wants to see it: facts, entries, days, text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.fit_view.row_tables import row_entries
from dashboard.fit_view.table_one import UNKNOWN
from dashboard.store.results import FittedRun, entry_shares
from swiftcore.data.building.documents import WORD
from swiftcore.data.side_tables import Covariate, DatedEvents
from swiftcore.phenotypes.describe import unique_mode_name
from swiftcore.tensor import Mode, SparseTensor

NONE = "none"  # explains an entry of which no phenotype of the row knows anything
_WORD = re.compile(WORD)


@dataclass(frozen=True)
class FeatureMode:
    """A mode of features as it is shown; modes with the same features are shown once."""

    name: str
    axes: tuple[int, ...]


def feature_modes(modes: Sequence[Mode]) -> list[FeatureMode]:
    """The modes after the first; word and other word, with the same words, are one."""
    found: dict[tuple[str, ...], list[int]] = {}
    for axis, mode in enumerate(modes[1:], start=1):
        found.setdefault(mode.labels, []).append(axis)
    return [
        FeatureMode(
            modes[axes[0]].name if len(axes) > 1 else unique_mode_name(modes, axes[0]), tuple(axes)
        )
        for axes in found.values()
    ]


def covariate_lines(covariates: Sequence[Covariate], row: int) -> list[tuple[str, str]]:
    """Name and value of everything known of a row besides its entries; user text."""
    return [(one.name, _value(one, row)) for one in covariates]


def _value(one: Covariate, row: int) -> str:
    value = one.values[row]
    if one.kind == "number":
        return UNKNOWN if np.isnan(value) else f"{value:g}"
    if one.kind == "date":
        return UNKNOWN if np.isnat(value) else str(value.astype("datetime64[D]"))
    return str(value) or UNKNOWN


@dataclass(frozen=True, eq=False)
class RowEntries:
    """The entries of one row, and which phenotype explains which.

    Attributes
    ----------
    modes : sequence of Mode
    identifiers : sequence of str
        Of the phenotypes.
    places : ndarray, (entries x modes)
    values : ndarray, (entries,)
    parts : ndarray, (entries x rank)
        From ``entry_shares``.
    """

    modes: Sequence[Mode]
    identifiers: Sequence[str]
    places: NDArray[np.int64]
    values: NDArray[np.float64]
    parts: NDArray[np.float64]

    @classmethod
    def of_fit(cls, fit: FittedRun, tensor: SparseTensor, row: int) -> RowEntries:
        """Of a row that the fit was made from."""
        places, values = row_entries(tensor, row)
        parts = entry_shares(fit.factors[0][row], fit.factors[1:], places[:, 1:])
        return cls(fit.modes, fit.identifiers, places, values, parts)


def grouped_entries(
    entries: RowEntries, dates: pd.DataFrame | None = None
) -> dict[str, pd.DataFrame]:
    """Every feature of a row once, mode by mode, instead of all pairs.

    Parameters
    ----------
    dates : DataFrame, optional
        From :func:`dated`.

    Returns
    -------
    dict of mode name to DataFrame
        feature; others (with how many others it stands); phenotype (the identifier of what
        explains most of these, or :data:`NONE`); part (how much of them); and where dates are
        known days, first, last. Features with most others first.
    """
    found = {}
    for mode in feature_modes(entries.modes):
        table = _features(entries, mode)
        table = table if dates is None else _with_dates(table, mode, dates)
        found[mode.name] = table.sort_values(
            ["others", "feature"], ascending=[False, True], ignore_index=True
        )
    return found


def _features(entries: RowEntries, mode: FeatureMode) -> pd.DataFrame:
    """One line per feature, with the number of the feature as index."""
    times = len(mode.axes)
    features = np.concatenate([entries.places[:, axis] for axis in mode.axes])
    known, owner = np.unique(features, return_inverse=True)
    weight = np.bincount(owner, np.tile(entries.values, times), len(known))
    explained = np.zeros((len(known), entries.parts.shape[1]))
    np.add.at(explained, owner, np.tile(entries.values[:, None] * entries.parts, (times, 1)))
    best = explained.argmax(axis=1)
    share = np.divide(explained[np.arange(len(known)), best], weight)
    labels = entries.modes[mode.axes[0]].labels
    table = {
        "feature": [labels[feature] for feature in known],
        "others": _others(entries.places, mode, known),
        "phenotype": [
            entries.identifiers[part] if size > 0 else NONE
            for part, size in zip(best, share, strict=True)
        ],
        "part": share,
    }
    return pd.DataFrame(table, index=known)


def _others(
    places: NDArray[np.int64], mode: FeatureMode, known: NDArray[np.int64]
) -> NDArray[np.int64]:
    """With how many different others each known feature stands, whichever of them comes first."""
    pairs = []
    for axis in mode.axes:
        rest = np.delete(places, [0, axis], axis=1)
        rest = np.sort(rest, axis=1) if len(mode.axes) > 1 else rest
        pairs.append(np.column_stack([places[:, axis], rest]))
    once = np.unique(np.concatenate(pairs), axis=0)
    return np.bincount(np.searchsorted(known, once[:, 0]), minlength=len(known))


def _with_dates(table: pd.DataFrame, mode: FeatureMode, dates: pd.DataFrame) -> pd.DataFrame:
    mine = dates[dates["mode"].isin(mode.axes)].groupby("feature")["date"]
    seen = pd.DataFrame({"days": mine.nunique(), "first": mine.min(), "last": mine.max()})
    seen = seen.reindex(table.index)
    days = seen["days"].fillna(0).astype(int)
    return table.assign(days=days, first=seen["first"].dt.date, last=seen["last"].dt.date)


def dated(events: DatedEvents, row: int) -> pd.DataFrame:
    """mode, feature and date of a row's events, which are sorted by row and date."""
    begin, end = np.searchsorted(events.row, [row, row + 1])
    return pd.DataFrame(
        {
            "mode": events.mode[begin:end],
            "feature": events.feature[begin:end],
            "date": pd.to_datetime(np.asarray(events.date[begin:end])),
        }
    )


def timeline(
    modes: Sequence[Mode], dates: pd.DataFrame, grouped: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """What was recorded when: date, kind (the mode), feature, phenotype; each day's once."""
    lines = dates.drop_duplicates()
    named = {axis: mode.name for mode in feature_modes(modes) for axis in mode.axes}
    explains = {
        (name, feature): phenotype
        for name, table in grouped.items()
        for feature, phenotype in zip(table["feature"], table["phenotype"], strict=True)
    }
    kinds = [named[axis] for axis in lines["mode"]]
    features = [
        modes[axis].labels[feature]
        for axis, feature in zip(lines["mode"], lines["feature"], strict=True)
    ]
    found = [explains.get(pair, NONE) for pair in zip(kinds, features, strict=True)]
    return pd.DataFrame(
        {"date": lines["date"].dt.date, "kind": kinds, "feature": features, "phenotype": found}
    )


def marked_text(text: str, topics: Mapping[str, str]) -> list[tuple[str, str]]:
    """A text in pieces, each with the phenotype its word belongs to, or an empty text.

    Parameters
    ----------
    topics : mapping of str to str
        Phenotype by word, in lower case as the data hold them.
    """
    pieces: list[tuple[str, str]] = []
    end = 0
    for found in _WORD.finditer(text):
        owner = topics.get(found[0].lower(), "")
        if owner:
            pieces += [(text[end : found.start()], ""), (found[0], owner)]
            end = found.end()
    return [piece for piece in (*pieces, (text[end:], "")) if piece[0]]

"""What the screens say about single rows (patients, documents): plain tables, no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.privacy.small_counts import hide_table
from swiftcore.phenotypes.describe import CARRIED
from swiftcore.tensor import SparseTensor

BINS, SIGNED_BINS = np.linspace(0.0, 1.0, 11), np.linspace(-1.0, 1.0, 11)


def membership_table(
    labels: Sequence[str],
    shared: NDArray[np.float64],
    identifiers: Sequence[str],
    rows: Sequence[int] | NDArray[np.int64],
    outcome: NDArray[np.generic] | None = None,
) -> pd.DataFrame:
    """One line per chosen row: its label, outcome, how many it carries, and every phenotype."""
    picked = np.asarray(rows, dtype=np.int64)
    table = {"row": [labels[row] for row in picked]}
    if outcome is not None:
        table["outcome"] = outcome_words(outcome[picked])
    table["carries"] = (shared[picked] >= CARRIED).sum(axis=1)
    columns = {name: shared[picked, part] for part, name in enumerate(identifiers)}
    return pd.DataFrame({**table, **columns})


def outcome_word(value: object) -> str:
    """yes or no for a flag, else the category."""
    return ("yes" if value else "no") if isinstance(value, bool | np.bool_) else str(value)


def outcome_words(outcome: NDArray[np.generic]) -> NDArray[np.str_]:
    """The same of many rows."""
    values, codes = np.unique(outcome, return_inverse=True)
    return np.array([outcome_word(value) for value in values])[codes]


def row_entries(tensor: SparseTensor, row: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The entries of one row; coordinates are sorted by row."""
    begin, end = np.searchsorted(tensor.coordinates[:, 0], [row, row + 1])
    return tensor.coordinates[begin:end], tensor.values[begin:end]


def find_rows(labels: Sequence[str], typed: str, most: int = 20) -> list[int]:
    """Rows whose label is, else begins with, else holds a text; whatever its case."""
    wanted = typed.strip().casefold()
    if not wanted:
        return []
    holding = [row for row, label in enumerate(labels) if wanted in label.casefold()]

    def nearness(row: int) -> tuple[bool, bool, int]:
        return labels[row] != typed, not labels[row].casefold().startswith(wanted), row

    return sorted(holding, key=nearness)[:most]


def similar_rows(shared: NDArray[np.float64], row: int, count: int = 10) -> list[tuple[int, float]]:
    """The rows whose mix of phenotypes is most like this one's, with the cosine of the two."""
    scale = np.sqrt(np.einsum("ij,ij->i", shared, shared))
    scale *= scale[row]
    cosines = np.divide(shared @ shared[row], scale, out=np.zeros(len(shared)), where=scale > 0)
    cosines[row] = -1.0
    least = np.partition(cosines, -min(count, len(cosines)))[-min(count, len(cosines))]
    near = np.flatnonzero(cosines >= least)
    order = near[np.argsort(-cosines[near], kind="stable")][:count]
    return [(int(other), float(cosines[other])) for other in order if cosines[other] > 0]


def strength_counts(
    strength: NDArray[np.float64], outcome: NDArray[np.generic] | None
) -> pd.DataFrame:
    """How many rows have a phenotype how strongly, per class of the outcome.

    Returns
    -------
    DataFrame
        class, low, high (ends of the bin), count.
    """
    groups = {"all": strength}
    if outcome is not None:
        words = outcome_words(outcome)
        groups = {str(word): strength[words == word] for word in np.unique(words)}
    bins = SIGNED_BINS if (strength < 0).any() else BINS
    frames = [
        pd.DataFrame(
            {
                "class": name,
                "low": bins[:-1],
                "high": bins[1:],
                "count": np.histogram(values, bins)[0],
            }
        )
        for name, values in groups.items()
    ]
    return pd.concat(frames, ignore_index=True)


def hide_small(table: pd.DataFrame, limit: int) -> pd.DataFrame:
    """What :func:`strength_counts` gave, fit to be shown: count as text, share of its class.

    The share of a hidden count is NaN.
    """
    cells = table.pivot(index="class", columns="low", values="count").reindex(
        table["class"].unique()
    )
    safe = hide_table(cells, limit)
    counts = [safe.loc[name, low] for name, low in zip(table["class"], table["low"], strict=True)]
    whole = table.groupby("class", sort=False)["count"].transform("sum").clip(lower=1)
    shown = [text.replace(",", "").isdecimal() for text in counts]
    known = [safe.loc[name, "Total"].replace(",", "").isdecimal() for name in table["class"]]
    share = np.where(np.array(shown) & np.array(known), table["count"] / whole, np.nan)
    return table.assign(count=counts, share=share)


def carriers_by_class(
    carries: NDArray[np.bool_], words: NDArray[np.str_], limit: int
) -> pd.DataFrame:
    """How many rows of each class carry a phenotype: class, carry it, do not, Total."""
    classes = np.unique(words)
    cells = pd.DataFrame(
        {
            "carry it": [int(carries[words == word].sum()) for word in classes],
            "do not": [int((~carries[words == word]).sum()) for word in classes],
        },
        index=[str(word) for word in classes],
    )
    return hide_table(cells, limit).rename_axis("class").reset_index()

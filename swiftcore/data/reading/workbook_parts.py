"""The parts of an .xlsx that hold cells, unpacked under the budget before anything reads them.

A workbook is a zip of XML. Its reader (calamine) trusts what the zip and the sheets announce: a
cell in the last corner of a sheet makes it lay out seventeen thousand million cells. So the parts
are unpacked here, measured, and handed on in a zip that is not compressed.
"""

from __future__ import annotations

import io
import re
import zipfile

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.unpacking import check_entries, check_ratio, zip_pieces
from swiftcore.errors import InvalidData, refuse

MAX_RATIO = 100  # cells of a sheet reach 30, each with its place written out
CELL_BYTES = 32  # what calamine lays out per cell between the first and the last, empty ones too
_KEPT = re.compile(r"\.(xml|rels)$", re.IGNORECASE)
_UNUSED = re.compile(
    r"^(docProps|customXml)/|^xl/(theme|drawings|charts|media|embeddings|externalLinks|comments|"
    r"pivot\w*|printerSettings|threadedComments|persons|revisions|queryTables)\b",
    re.IGNORECASE,
)
_SHEET = re.compile(r"^xl/worksheets/[^/]+\.xml$", re.IGNORECASE)
_FILLED = re.compile(  # cells that hold something, not only a colour
    rb"""<(?:\w+:)?c\b[^>]*?\br=["']([A-Za-z]{1,3})(\d{1,7})["'][^>]*?(?<!/)>"""
)
_SHARED = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\bt=["']s["'][^>]*>\s*<(?:\w+:)?v>\s*(\d+)""")
_NO_RESULT = re.compile(rb"</(?:\w+:)?f>\s*(?:<v\s*/>|<v>\s*</v>|</c>)")
_ERROR = re.compile(rb"""<(?:\w+:)?c\b[^>]*?\bt=["']e["']""")


def unpacked_workbook(data: bytes, name: str, budget: Budget, findings: Findings) -> io.BytesIO:
    """The same workbook without compression, and without what is no cell.

    Raises
    ------
    InvalidData
        When it is another kind of document, is damaged, or would grow beyond the budget.
    """
    parts = _parts(data, name, budget)
    sheets = {part: xml for part, xml in parts.items() if _SHEET.match(part)}
    texts = next((xml for part, xml in parts.items() if part.endswith("sharedStrings.xml")), b"")
    for xml in sheets.values():
        budget.check_announced(_grid_bytes(xml), name)
    budget.check_announced(_text_bytes(list(sheets.values()), texts), name)
    _count_blank_results(list(sheets.values()), name, findings)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for part, xml in parts.items():
            archive.writestr(part, xml)
    out.seek(0)
    return out


def _parts(data: bytes, name: str, budget: Budget) -> dict[str, bytes]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise workbook_damaged(name, error) from error
    entries = archive.infolist()
    _check_kind([entry.filename for entry in entries], name)
    check_entries(entries, name)
    kept = [
        one for one in entries if _KEPT.search(one.filename) and not _UNUSED.match(one.filename)
    ]
    budget.check_announced(sum(entry.file_size for entry in kept), name)
    parts: dict[str, bytes] = {}
    for entry in kept:
        check_ratio(entry.file_size, entry.compress_size, name, most=MAX_RATIO)
        parts[entry.filename] = b"".join(zip_pieces(archive, entry))
        budget.spend(len(parts[entry.filename]), name)
    return parts


def workbook_damaged(name: str, error: BaseException) -> InvalidData:
    """The refusal of a workbook that cannot be read."""
    return refuse(
        "workbook-damaged",
        "The workbook cannot be read",
        name,
        (str(error).splitlines() or ["an error"])[0][:200],
        "Open it in a spreadsheet program and save it again as .xlsx.",
    )


def _check_kind(names: list[str], name: str) -> None:
    """Refuse documents that are packed like a workbook and are none."""
    lower = [one.lower() for one in names]
    if any(one.startswith("xl/") and one.endswith("workbook.bin") for one in lower):
        what = "a binary workbook (.xlsb)"
    elif "content.xml" in lower:
        what = "an OpenDocument file (.ods)"
    elif any(one.startswith(("word/", "ppt/", "visio/")) for one in lower):
        what = "a document without sheets"
    else:
        return
    raise refuse("format-foreign", "This format is not read", name, what, "Save it as .xlsx.")


def _grid_bytes(xml: bytes) -> int:
    """What the smallest grid that holds all filled cells of a sheet takes."""
    rows = columns = 0
    letters: set[bytes] = set()
    for found in _FILLED.finditer(xml):
        letters.add(found[1])
        rows = max(rows, int(found[2]))
    for name in letters:
        number = 0
        for letter in name.upper():
            number = number * 26 + letter - 64
        columns = max(columns, number)
    return rows * columns * CELL_BYTES


def _text_bytes(sheets: list[bytes], texts: bytes) -> int:
    """What the texts of all cells take: a text is stored once, and copied to each cell."""
    lengths = [len(part) for part in re.split(rb"</(?:\w+:)?si>", texts)]
    if max(lengths) * sum(xml.count(b"<v") for xml in sheets) <= 64 * len(texts):
        return 0  # no text is long enough to matter
    return sum(
        lengths[int(found[1])]
        for xml in sheets
        for found in _SHARED.finditer(xml)
        if len(found[1]) < 10 and int(found[1]) < len(lengths)
    )


def _count_blank_results(sheets: list[bytes], name: str, findings: Findings) -> None:
    without = sum(len(_NO_RESULT.findall(xml)) for xml in sheets)
    findings.leave_out(
        "formulas without a stored result (open the workbook in a spreadsheet program and save it)",
        without,
        name,
    )
    errors = sum(len(_ERROR.findall(xml)) for xml in sheets)
    findings.leave_out("cells that show an error, such as #N/A", errors, name)

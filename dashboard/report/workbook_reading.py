"""The judgements in a workbook that somebody filled in; nothing in the file is trusted."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import ParseError  # only to catch it  # nosec B405

from openpyxl import load_workbook
from openpyxl.utils.exceptions import InvalidFileException

from dashboard.report.workbook import (
    CONTENT,
    HEADER_ROW,
    REVIEWER_ROW,
    SHEET,
    TO_FILL,
    as_written,
)
from dashboard.store.reviews import MAX_LENGTH, PROBLEMS, VERDICTS, Review
from dashboard.text.wording import PHENOTYPES, TOPICS, Vocabulary
from swiftcore.data.reading.unpacking import check_entries
from swiftcore.errors import InvalidData, Problem, refuse

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
# a workbook may have been written in the words of any data set
_VOCABULARIES = (PHENOTYPES, TOPICS)
_OURS = {known.phrase(title): title for known in _VOCABULARIES for title in TO_FILL}
_NOBODY = Problem(
    "workbook-reviewer",
    "Nobody signed the workbook",
    f"row {REVIEWER_ROW}",
    "no name",
    "Fill in your name.",
)


def read_workbook(
    content: bytes,
    *,
    run: str,
    digests: Mapping[str, str],
    reviewer: str = "",
    known: Vocabulary = PHENOTYPES,
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
    known : Vocabulary
        In whose words to say what is wrong.

    Raises
    ------
    InvalidData
        With everything that is wrong, each with its row.
    """
    rows, written = _rows(content)
    who = reviewer.strip() or written
    problems = [] if who else [_NOBODY]
    seen: set[str] = set()
    for number, row in rows:
        problems += _row_problems(f"row {number}", row, digests)
        if row["Id"] in seen:
            problems.append(_judged_twice(f"row {number}", row["Id"]))
        seen.add(row["Id"])
    if problems:
        raise InvalidData([replace(one, what=known.phrase(one.what)) for one in problems])
    return [_review(row, run, who) for _, row in rows]


def changes(found: Iterable[Review], said: Iterable[Review]) -> list[Review]:
    """The judgements that are not what their reviewer said already.

    A cell holds a text made safe and perhaps cut; where nobody touched it, the text stays as it
    was given.
    """
    before = {(one.phenotype, one.reviewer): replace(one, saved_at=0.0, id=0) for one in said}
    new = []
    for one in found:
        old = before.get((one.phenotype, one.reviewer))
        if old is not None:
            texts = {key: getattr(old, key) for key in ("name", "comment")}
            same = {
                key: text
                for key, text in texts.items()
                if as_written(text).strip() == getattr(one, key)
            }
            one = replace(one, **same)
        if one != old:
            new.append(one)
    return new


def _rows(content: bytes) -> tuple[list[tuple[int, dict[str, str]]], str]:
    """Rows with something filled in, by their number, and who signed."""
    try:
        grid = _grid(content)
        header = [_OURS.get(title, title) for title in grid[HEADER_ROW - 1]]
        missing = [title for title in ("Id", CONTENT, *TO_FILL) if title not in header]
        if missing:
            raise ValueError(f"no column {missing[0]!r}")
        signed = grid[REVIEWER_ROW - 1][1]
    except UNREADABLE as error:
        if isinstance(error, InvalidData):
            raise
        raise refuse(
            "workbook-file",
            "This is not a workbook made here, or it is damaged",
            "the file",
            (str(error).splitlines() or [type(error).__name__])[0][:120],
            "Download the workbook again and fill it in.",
        ) from error
    rows = [
        (number, dict(zip(header, row, strict=True)))
        for number, row in enumerate(grid[HEADER_ROW:], start=HEADER_ROW + 1)
    ]
    return [(n, row) for n, row in rows if any(row[title] for title in TO_FILL)], signed


def _grid(content: bytes) -> list[list[str]]:
    """The cells of the sheet as text; any of UNREADABLE for what is no such workbook."""
    if len(content) > MAX_FILE:
        raise ValueError(f"{len(content) / 2**20:,.0f} MB")
    _refuse_hostile(content)
    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    titles = [known.phrase(SHEET) for known in _VOCABULARIES]
    sheet = book[next((title for title in titles if title in book.sheetnames), SHEET)]
    return [
        [_text(value) for value in row]
        for row in sheet.iter_rows(max_row=MAX_ROWS, max_col=MAX_COLUMNS, values_only=True)
    ]


def _refuse_hostile(content: bytes) -> None:
    """No bombs, no entities: checked before anything is unpacked by the reader."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        check_entries(entries, "workbook")
        if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
            raise ValueError("more than any such workbook holds")
        if any(b"<!DOCTYPE" in archive.read(entry)[:4096] for entry in entries):
            raise ValueError("a document type declaration")


def _text(value: Any) -> str:
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return "" if value is None else str(value).strip()


def _row_problems(where: str, row: Mapping[str, str], digests: Mapping[str, str]) -> list[Problem]:
    return [
        *_strange_phenotype(where, row, digests),
        *_wrong_choices(where, row, digests),
        *_too_long(where, row),
    ]


def _judged_twice(where: str, identifier: str) -> Problem:
    return Problem(
        "workbook-twice",
        "A phenotype is judged twice",
        where,
        repr(identifier)[:40],
        "Keep one of the rows.",
    )


def _strange_phenotype(
    where: str, row: Mapping[str, str], digests: Mapping[str, str]
) -> Iterator[Problem]:
    """A row about no phenotype of this result, or about what it no longer says."""
    identifier = row["Id"]
    if identifier not in digests:
        yield Problem(
            "workbook-id",
            "There is no such phenotype in this result",
            where,
            repr(identifier)[:40],
            "Use the workbook of this result.",
        )
    elif row[CONTENT] != digests[identifier]:
        yield Problem(
            "workbook-content",
            "The phenotype has changed since the workbook was made",
            where,
            identifier,
            "Download it again and judge anew.",
        )


def _wrong_choices(
    where: str, row: Mapping[str, str], digests: Mapping[str, str]
) -> Iterator[Problem]:
    allowed = {
        "Makes sense": VERDICTS,
        "Problem": PROBLEMS,
        "Confidence": ("", *"12345"),
        "Duplicate of": ("", *digests),
    }
    for title, choices in allowed.items():
        if row[title].casefold() not in [choice.casefold() for choice in choices]:
            shown = ", ".join(choice for choice in choices if choice)[:200]
            yield Problem(
                "workbook-choice",
                "This cannot be chosen",
                f"{where}, {title}",
                repr(row[title])[:60],
                f"Choose one of {shown}.",
            )
    other = row["Duplicate of"].upper()
    if row["Problem"].casefold() == "duplicate" and other in ("", row["Id"]):
        yield Problem(
            "workbook-duplicate",
            "A duplicate needs the other phenotype",
            where,
            repr(other),
            "Choose another one.",
        )


def _too_long(where: str, row: Mapping[str, str]) -> Iterator[Problem]:
    for title, key in (("Clinical name", "name"), ("Comment", "comment")):
        if len(row[title]) > MAX_LENGTH[key]:
            yield Problem(
                "workbook-long",
                "This is too long",
                f"{where}, {title}",
                f"{len(row[title]):,} letters",
                f"Use at most {MAX_LENGTH[key]:,}.",
            )


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
        int(row["Confidence"]) if row["Confidence"] else None,
        row["Comment"],
    )

"""A person's own table of OMOP concepts: feature,concept_id."""

from __future__ import annotations

import csv
from pathlib import Path

from swiftcore.errors import InvalidData, Problem, refuse

COLUMNS = ("feature", "concept_id")
MAX_BYTES = 50_000_000
MAX_CONCEPT = 2**31 - 1


def read_concepts(path: Path) -> dict[str, tuple[int, ...]]:
    """Concepts by feature; a feature may have several lines.

    Raises
    ------
    InvalidData
        With the place of every line that cannot be read.
    """
    if path.stat().st_size > MAX_BYTES:
        raise _refused(path, f"more than {MAX_BYTES:,} bytes")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise _refused(path, "no UTF-8 text") from error
    reader = csv.reader(lines)
    header = [name.strip().lower() for name in next(reader, [])]
    if not set(COLUMNS) <= set(header):
        raise _refused(path, f"columns {', '.join(header)[:80] or 'none'}")
    feature, concept = (header.index(name) for name in COLUMNS)
    found: dict[str, tuple[int, ...]] = {}
    problems = []
    for line in reader:
        if not any(line):
            continue
        number = line[concept].strip() if len(line) > concept else ""
        known = number.isascii() and number.isdecimal() and 0 < int(number[:12]) <= MAX_CONCEPT
        if not known or len(line) <= feature or not line[feature].strip():
            problems.append(
                Problem(
                    "concept-line",
                    "A line names no feature with a concept",
                    f"{path.name}, line {reader.line_num}",
                    ",".join(line)[:80],
                    "Write the feature as the data set shows it, and a whole number.",
                )
            )
        else:
            label = line[feature]
            found[label] = tuple(dict.fromkeys((*found.get(label, ()), int(number))))
    if problems:
        raise InvalidData(problems)
    return found


def _refused(path: Path, found: str) -> Exception:
    return refuse(
        "concept-table",
        "A table of concepts has the columns feature and concept_id",
        path.name,
        found,
        "Give a CSV file, a line per feature and concept.",
        kind=InvalidData,
    )

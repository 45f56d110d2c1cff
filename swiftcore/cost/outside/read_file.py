"""Read a cost file; its content says what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from swiftcore.cost.outside.cost_lines import Faults, Line, is_number, split_lines
from swiftcore.cost.outside.cost_table import KINDS, CostTable, table_from_bytes
from swiftcore.cost.outside.matrix_file import (
    DISTANCE_NAMES,
    check_size,
    finished,
    read_long,
    read_square,
)
from swiftcore.cost.outside.parents_file import is_header, read_parents
from swiftcore.cost.outside.vectors_file import (
    checked_vectors,
    is_word2vec,
    read_vectors,
    split_word2vec,
)
from swiftcore.data.options import Limits
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text import guess_delimiter, looks_like_markup
from swiftcore.data.reading.text_encoding import to_utf8
from swiftcore.errors import refuse

MAX_LINES = 1_000_000
FORMS = (
    "Give a square table with labels in the first line and column, lines of "
    "feature,feature,distance, a table with the columns child,parent, or vectors."
)


def read_cost_file(
    path: str | Path, findings: Findings | None = None, limits: Limits | None = None
) -> CostTable:
    """Read distances, a hierarchy or vectors of features from a file.

    A square CSV with labels in the first line and column, a long one (feature, feature,
    distance), a table with the columns child and parent, vectors as word2vec text or CSV
    (label, numbers), or an .npz with ``labels`` and ``matrix``, ``vectors`` or ``parents``.

    Parameters
    ----------
    findings : Findings, optional
        Receives what was found and what was repaired, in sentences.

    Raises
    ------
    InvalidData
        With everything that is wrong and its line.
    """
    whole = Path(path)
    source = Source(whole, Budget(limits or Limits()))
    if len(source.names) != 1:
        found = f"{len(source.names)} files"
        cure = "Give one file."
        raise refuse("cost-files", "Costs are read from one file", whole.name, found, cure)
    return read_cost_bytes(source.read(source.names[0]), whole.name, findings)


def read_cost_bytes(content: bytes, name: str, findings: Findings | None = None) -> CostTable:
    """The same from the bytes of a file."""
    said = findings if findings is not None else Findings()
    table = (
        _from_arrays(content, name, said) if content[:2] == b"PK" else _text(content, name, said)
    )
    said.kind = table.kind
    said.note(f"{name} holds {KINDS[table.kind]}: {len(table.labels):,} labels.")
    return table


def _from_arrays(content: bytes, name: str, findings: Findings) -> CostTable:
    """Arrays are checked like the lines of a text, with line 1 for the first label."""
    table = table_from_bytes(content, name)
    _check_unique(table, name)
    faults = Faults(name, findings)
    numbers = {place: place + 1 for place in range(len(table.labels))}
    if table.kind == "matrix":
        check_size(len(table.labels), 1, faults)
        faults.array(table.values)
        faults.stop()
        found = finished(table.labels, np.array(table.values), numbers, faults)
    elif table.kind == "vectors":
        faults.array(table.values, signed=True)
        faults.stop()
        found = checked_vectors(table.labels, table.values, faults)
    else:
        above = [table.labels[place] if place >= 0 else "" for place in table.values.tolist()]
        pairs = zip(table.labels, above, strict=True)
        lines = [Line(number, pair) for number, pair in enumerate(pairs, 1)]
        found = read_parents([Line(0, ("child", "parent")), *lines], name, findings)
    return replace(found, source=table.source or name)


def _check_unique(table: CostTable, name: str) -> None:
    if len(set(table.labels)) < len(table.labels) or "" in table.labels:
        found = f"{len(set(table.labels)):,} different labels of {len(table.labels):,}"
        cure = "Name each once."
        raise refuse("cost-twice", "Labels stand twice or are empty", name, found, cure)


def _text(content: bytes, name: str, findings: Findings) -> CostTable:
    plain = to_utf8(content, name, "", findings)
    looks_like_markup(plain, name)
    text = plain.decode("utf-8", "surrogatepass").replace("\r\n", "\n").replace("\r", "\n")
    count = text.count("\n") + 1
    if count > MAX_LINES:
        found = f"{count:,} lines"
        cure = f"Keep the features of your data only; at most {MAX_LINES:,} lines are read."
        where = f"{name}, line {MAX_LINES + 1:,}"
        raise refuse("cost-large", "The file is too long", where, found, cure)
    if is_word2vec(text):
        return read_vectors(split_word2vec(text, name, findings), name, findings, comma=False)
    delimiter = guess_delimiter(plain.lstrip(b"\r\n"))
    lines = split_lines(text, delimiter, Faults(name, findings))
    if len(lines) < 2:
        found = f"{len(lines)} lines that hold anything"
        raise refuse("cost-empty", "The file holds no costs", f"{name}, line 1", found, FORMS)
    return _table(lines, delimiter, name, findings)


def _table(lines: Sequence[Line], delimiter: str, name: str, findings: Findings) -> CostTable:
    """The table by its kind; refused if it is none of them."""
    comma = delimiter != "," and any("," in cell for line in lines[:100] for cell in line.cells[1:])
    if comma:
        findings.note("Numbers are read with a decimal comma.")
    header, first = lines[0].cells, lines[1].cells
    if is_header(header):
        return read_parents(lines, name, findings)
    if _is_square(lines):
        return read_square(lines, name, findings, comma=comma)
    if len(header) >= 3 and all(map(is_number, first)) and all(map(is_number, header)):
        cure = "Put the names of the features into the first line and the first column."
        found = "only numbers"
        raise refuse("cost-labels", "There are no labels", f"{name}, line 1", found, cure)
    named = header[-1].lower() in DISTANCE_NAMES  # codes may be numbers
    if len(header) == 3 and (named or not is_number(first[1] if len(first) > 1 else "")):
        _check_long_header(header, name, lines[0].number)
        return read_long(lines, name, findings, comma=comma)
    if len(header) >= 2 and len(first) >= 2 and is_number(first[-1]):
        return read_vectors(lines, name, findings, comma=comma)
    found = f"the first line '{','.join(header)[:60]}'"
    raise refuse("cost-unknown", "This is no cost file", f"{name}, line 1", found, FORMS)


def _is_square(lines: Sequence[Line]) -> bool:
    """Whether most labels of the first line stand in the first column too."""
    top = [cell for cell in lines[0].cells[1:] if cell]
    side = {line.cells[0] for line in lines[1:]}
    shared = sum(cell in side for cell in top)
    return bool(top) and not all(map(is_number, lines[0].cells)) and 2 * shared > len(top)


def _check_long_header(header: Sequence[str], name: str, line: int) -> None:
    third = header[2].lower()
    if is_number(header[2]) or third in DISTANCE_NAMES:
        return
    cure = "Write the header feature,feature,distance; 1 minus the similarity is a distance."
    where, found = f"{name}, line {line}", f"'{header[2][:40]}'"
    raise refuse("cost-header", "The third column must hold distances", where, found, cure)

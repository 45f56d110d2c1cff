"""Records in JSON: one per line, an array, an array under each name, by their id, or by columns.

Numbers stay as they are written. An object inside a record becomes columns with a dot in their
name, a list of plain values one cell with bars between them, and a list of objects one such cell
for each of their fields; what is nested deeper is counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget
from swiftcore.data.reading.table_set import check_columns, check_count
from swiftcore.data.reading.text import unique_names
from swiftcore.data.reading.text_columns import in_batches, text_columns
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import InvalidData, refuse, where_list

LOOKED_AT = 50  # lines
_JSON_LINE = re.compile(rb'[\s\[\]{},]*("[^"]*"\s*:|$)')  # a field, or nothing but brackets
MAX_DEPTH = 4  # objects within objects
Record = dict[str, Any]


def looks_like_json(head: bytes) -> bool:
    """Whether the beginning of a file is that of records in JSON, though it may be damaged."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"[") and text[1:].lstrip()[:1] in (b"{", b"]"):
        return True
    if text.startswith(b"{") and text[1:].lstrip()[:1] in (b'"', b"}"):
        return True
    lines = [line for line in text.splitlines()[:LOOKED_AT] if line.strip()]
    return sum(bool(_JSON_LINE.match(line)) for line in lines) * 2 > len(lines)


def parse_values(data: bytes, name: str) -> Iterator[Any]:
    """The values of a file: one per line, or the one that fills it.

    Raises
    ------
    InvalidData
        When a line is no JSON, or nests deeper than data ever do.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _damaged(name, 0, "bytes that are not UTF-8") from error
    text = text.strip()
    if "\n" not in text or not _is_whole(text[: text.index("\n")], name):
        yield _parsed(text, name, 0)
        return
    start, number = 0, 1
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if line := text[start:end].strip():
            yield _parsed(line, name, number)
        start, number = end + 1, number + 1


def _is_whole(line: str, name: str) -> bool:
    try:
        return isinstance(_parsed(line, name, 1), dict)
    except InvalidData:
        return False


def _parsed(text: str, name: str, line: int) -> Any:
    """One value; numbers stay text, as in a CSV."""
    try:
        return json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    except RecursionError:
        raise refuse(
            "json-deep",
            "Values are nested far too deep",
            f"{name}, line {line}" if line else name,
            "brackets within brackets without end",
            "Give plain records, one per line.",
        ) from None
    except ValueError as error:
        raise _damaged(name, line, str(error)) from error


def _damaged(name: str, line: int, found: str) -> InvalidData:
    return refuse(
        "json-damaged",
        "The JSON cannot be read",
        f"{name}, line {line}" if line else name,
        found[:200],
        "Export the records again, one JSON object per line.",
    )


def read_json_tables(
    data: bytes, name: str, budget: Budget, findings: Findings
) -> dict[str, TextTable]:
    """All tables of a file by name; a file of lines or one array holds one, under an empty name.

    Raises
    ------
    InvalidData
        When it holds no records.
    """
    values = parse_values(data, name)
    first = next(values)
    second = next(values, None)
    if second is not None:
        return {"": _table(chain((first, second), values), name, budget, findings)}
    if isinstance(first, dict) and any(map(is_records, first.values())):
        check_count(len(first), name)
        other = [key for key, value in first.items() if not is_records(value)]
        if other:
            findings.note(f"{name}: fields that are no tables were not read: {where_list(other)}.")
        return {
            key: _table(records, f"{name}/{key}", budget, findings)
            for key, records in first.items()
            if key not in other
        }
    records = first if isinstance(first, list) else _in_object(first)
    return {"": _table(records, name, budget, findings)}


def _in_object(value: Any) -> list[Any]:
    """The records of one object: itself, or by their ids, or by columns as pandas writes them."""
    if not isinstance(value, dict) or len(value) < 2:
        return [value]
    parts = list(value.values())
    if all(isinstance(one, list) and len(one) == len(parts[0]) > 1 for one in parts):
        return [dict(zip(value, row, strict=True)) for row in zip(*parts, strict=True)]
    if not all(isinstance(one, dict) and one for one in parts):
        return [value]
    inner = list(dict.fromkeys(key for one in parts for key in one))
    if len(parts) > len(inner):
        return [{"id": key, **one} for key, one in value.items()]
    if all(len(one) == len(inner) for one in parts) and len(inner) > len(parts):
        return [{name: one[key] for name, one in value.items()} for key in inner]
    return [value]


def is_records(value: Any) -> bool:
    """Whether a value is a list of objects."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _table(records: Iterable[Any], name: str, budget: Budget, findings: Findings) -> TextTable:
    nested: dict[str, int] = {}
    columns: dict[str, None] = {}
    parts = []
    for batch in in_batches(records):
        rows = [_flat(_checked_record(record, name), nested) for record in batch]
        fields = list(dict.fromkeys(key for row in rows for key in row))
        columns.update(dict.fromkeys(fields))
        check_columns(len(columns) or 1, name)
        body = ([row.get(field) for field in fields] for row in rows)
        parts.append(text_columns(body, fields, name, budget))
    if not columns:
        raise _no_records(name, "records without fields" if parts else "an empty list")
    for field, count in nested.items():
        findings.leave_out(f"values of '{field[:60]}' that are nested too deep", count, name)
    table = pa.concat_tables(parts, promote_options="default")
    findings.tables[name] = table.num_rows
    return TextTable(name, unique_names(table.column_names, name, findings), table)


def _checked_record(value: Any, name: str) -> Record:
    if not isinstance(value, dict):
        raise _no_records(name, "values that are no objects")
    return value


def _no_records(name: str, found: str) -> InvalidData:
    return refuse(
        "json-no-records",
        "The JSON holds no records",
        name,
        found,
        'Give one object per line, such as {"patient": "1", "code": "I10"}.',
    )


def _flat(record: Record, nested: dict[str, int]) -> Record:
    """The fields of a record, those of objects inside it with a dot between the names."""
    if not any(isinstance(value, (dict, list)) for value in record.values()):
        return record
    out: Record = {}
    inner = [("", record, 0)]
    while inner:
        path, one, depth = inner.pop()
        for key, value in one.items():
            field = f"{path}{key}"
            if isinstance(value, dict) and depth < MAX_DEPTH:
                inner.append((f"{field}.", value, depth + 1))
            elif isinstance(value, list) and not any(isinstance(v, (dict, list)) for v in value):
                out[field] = "|".join(str(v) for v in value if v is not None)
            elif is_records(value):
                out.update(_joined(field, value, nested))
            elif isinstance(value, (dict, list)):
                nested[field] = nested.get(field, 0) + 1
            else:
                out[field] = value
    return out


def _joined(field: str, records: list[Record], nested: dict[str, int]) -> dict[str, str]:
    """For every field of some records its plain values, with bars between them."""
    found: dict[str, list[str]] = {}
    for record in records:
        for key, value in record.items():
            if isinstance(value, (dict, list)):
                nested[f"{field}.{key}"] = nested.get(f"{field}.{key}", 0) + 1
            elif value is not None:
                found.setdefault(f"{field}.{key}", []).append(str(value))
    return {name: "|".join(values) for name, values in found.items()}

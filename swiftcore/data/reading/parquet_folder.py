"""One table in several Parquet files: parts side by side, or folders that say key=value."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import InvalidData, refuse, where_list

_FILE = re.compile(r"\.parquet$", re.IGNORECASE)
_PACKING = re.compile(r"\.(snappy|gz|gzip|zstd|lz4|brotli)$", re.IGNORECASE)
_NUMBER = re.compile(  # 00003, 0-of-8, 00000-0b6c...-c000, and the mark before it
    r"[-_. ]*(\d+([-_]of[-_]\d+)?([-_][0-9a-f]{8}-[0-9a-f-]{20,})?([-_.]c?\d+)*|[0-9a-f-]{32,})$",
    re.IGNORECASE,
)
_PLAIN_STEMS = ("", "part", "data", "file", "chunk", "batch", "train")
_NOTHING = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class PartitionedTable:
    """The files of one table.

    Attributes
    ----------
    name : str
        Of the table: its folder, or what its files are called without their numbers.
    files : tuple of str
    keys : tuple of dict
        For each file, the columns that its folders say.
    """

    name: str
    files: tuple[str, ...]
    keys: tuple[dict[str, str], ...]

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns that the folders say."""
        return tuple(dict.fromkeys(name for keys in self.keys for name in keys))


def partitioned_tables(names: Sequence[str], where: str) -> list[PartitionedTable]:
    """Which Parquet files belong to one table; a file by itself is a table of one.

    Parameters
    ----------
    names : sequence of str
        Files by their path below the folder.
    where : str
        What the folder is called; names a table whose files have only numbers.
    """
    groups: dict[tuple[str, str], list[tuple[str, dict[str, str]]]] = {}
    for name in names:
        if not _FILE.search(name) or PurePosixPath(name).name.startswith("_"):
            continue
        *folders, file = PurePosixPath(name).parts
        said = [folder.partition("=") for folder in folders]
        keys = {key: unquote(value) for key, _, value in said if value}
        plain = [folder for folder in folders if "=" not in folder]
        stem = _PACKING.sub("", _FILE.sub("", file))
        short = _NUMBER.sub("", stem)
        if keys or short.lower() in _PLAIN_STEMS:
            short = ""
        groups.setdefault(("/".join(plain), short), []).append((name, keys))
    found = []
    for (folder, short), files in groups.items():
        own = _FILE.sub("", PurePosixPath(folder or where).name)
        if len(files) == 1 and not files[0][1]:
            own = _PACKING.sub("", _FILE.sub("", PurePosixPath(files[0][0]).name))
        keys_of = tuple(keys for _, keys in files)
        found.append(PartitionedTable(short or own, tuple(name for name, _ in files), keys_of))
    return found


def read_partitions(
    table: PartitionedTable, title: str, read: Callable[[str], TextTable], findings: Findings
) -> TextTable:
    """All files of a table as one, with the columns of its folders.

    Raises
    ------
    InvalidData
        When the files have different columns; one that lacks a few is filled up.
    """
    parts = [read(file) for file in table.files]
    every = dict.fromkeys(column for part in parts for column in part.columns)
    common = set(every).intersection(*(part.columns for part in parts))
    odd = [column for column in every if column not in common]
    if len(odd) >= len(every) / 2:
        raise _differ(table, f"{where_list(odd)} not in all of them")
    if odd:
        findings.note(f"{title}: columns that some of its files lack: {where_list(odd)}.")
    said = [name for name in table.key_names if name not in every]
    rows = []
    for part, keys in zip(parts, table.keys, strict=True):
        made = part.rows
        for name in said:
            value = keys.get(name, _NOTHING)
            one = pa.scalar(None if value == _NOTHING else value, pa.string())
            made = made.append_column(name, pa.repeat(one, part.n_rows))
        rows.append(made)
    try:
        whole = pa.concat_tables(rows, promote_options="permissive")
    except pa.ArrowException as error:
        raise _differ(table, str(error).splitlines()[0][:120]) from error
    for file in table.files:
        findings.tables.pop(file, None)
    findings.tables[title] = whole.num_rows
    return TextTable(title, (*every, *said), whole.select([*every, *said]))


def _differ(table: PartitionedTable, found: str) -> InvalidData:
    return refuse(
        "parts-differ",
        "Files of one table have different columns",
        f"{table.name}: {where_list(table.files, 3)}",
        found,
        "Give each table a folder of its own, or files with other names.",
    )

"""The first rows of a large text, long before the whole of it is read."""

from __future__ import annotations

from pathlib import Path

from swiftcore.data.from_path.table_sources import ZIP_MAGIC, holder_of
from swiftcore.data.options import MEGABYTE, BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.parquet import PARQUET_MAGIC
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text import read_text_table
from swiftcore.data.reading.text_table import preview

LARGE = 5 * MEGABYTE  # smaller files are read whole before anybody waits
HEAD = 64 * 1024


def is_large(path: Path) -> bool:
    """Whether a path is a file that takes a while to read."""
    return path.is_file() and path.stat().st_size > LARGE


def look(path: Path, options: BuildOptions, findings: Findings) -> None:
    """Note the first rows of a text table by its beginning; of any other format nothing.

    Raises
    ------
    InvalidData
        When the beginning is no table.
    """
    source = Source(path, Budget(options.limits))
    if len(source.names) != 1 or source.is_archive:
        return
    name = source.names[0]
    head = source.unpacked_head(name, HEAD)
    if holder_of(head) or head.startswith((PARQUET_MAGIC, ZIP_MAGIC)):
        return
    whole = head if b"\0" in head else head[: head.rfind(b"\n") + 1]  # else UTF-16
    findings.previews.append(
        preview(read_text_table(whole, name, options, source.budget, Findings()))
    )

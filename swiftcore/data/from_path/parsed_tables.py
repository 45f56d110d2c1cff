"""Tables that were parsed once, kept as Arrow files: another choice need not parse them again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.ipc as arrow_ipc  # type: ignore[import-untyped]

from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings, LeftOut
from swiftcore.data.reading.text_table import TextTable

ABOUT = "tables.json"  # written last: without it the folder is not complete
READING = ("kind", "encoding", "delimiter", "header", "tables", "limits")


def reading_options(options: BuildOptions) -> dict[str, object]:
    """The options on which the parsed tables depend; all others come after parsing."""
    plain = options.to_json()
    return {name: plain[name] for name in READING}


def keep_tables(folder: Path, tables: Sequence[TextTable], findings: Findings) -> None:
    """Write the tables and what was found while they were read, for their owner only."""
    if (folder / ABOUT).exists():
        return
    folder.mkdir(mode=0o700, exist_ok=True)
    for number, table in enumerate(tables):
        with arrow_ipc.new_file(str(folder / f"{number}.arrow"), table.rows.schema) as file:
            file.write_table(table.rows)
    about = {
        "names": [table.name for table in tables],
        "kind": findings.kind,
        "rows": findings.tables,
        "notes": findings.notes,
        "left_out": [[one.reason, one.count, one.where] for one in findings.left_out],
    }
    (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")


def kept_tables(folder: Path | None, findings: Findings) -> list[TextTable]:
    """The tables kept before, with what was found then; none when they were never kept."""
    if folder is None or not (folder / ABOUT).exists():
        return []
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    findings.kind = about["kind"]
    findings.tables.update(about["rows"])
    findings.notes += about["notes"]
    findings.left_out += [LeftOut(*one) for one in about["left_out"]]
    tables = []
    for number, name in enumerate(about["names"]):
        with pa.memory_map(str(folder / f"{number}.arrow")) as file:
            rows = arrow_ipc.open_file(file).read_all()
        tables.append(TextTable(name, tuple(rows.column_names), rows))
    return tables

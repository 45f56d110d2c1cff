"""Cost tables in a folder, each in a file named by its digest."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from swiftcore.cost.outside.cost_table import CostTable, table_from_bytes
from swiftcore.errors import refuse
from swiftcore.runtime.atomic_file import write_atomic

ENDING = ".npz"


def write_tables(folder: Path, tables: Iterable[CostTable]) -> None:
    """Keep tables so that :func:`read_tables` finds them; without any nothing is made."""
    for table in tables:
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / f"{table.digest}{ENDING}", table.to_bytes())


def read_tables(folder: Path) -> list[CostTable]:
    """All tables of a folder; none if there is no such folder.

    Raises
    ------
    InvalidData
        If a file is damaged or is not what its name says.
    """
    tables = []
    for path in sorted(folder.glob(f"{'[0-9a-f]' * 64}{ENDING}")):
        table = table_from_bytes(path.read_bytes(), path.name)
        if f"{table.digest}{ENDING}" != path.name:
            raise refuse(
                "cost-changed",
                "A cost table was changed after it was written",
                path.name,
                f"the content of {table.digest[:8]}",
                "Give the cost file again.",
            )
        tables.append(table)
    return tables

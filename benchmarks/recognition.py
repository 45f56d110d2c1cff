"""How many tables of unknown layout and language are read right.

    python -m benchmarks.recognition [--tables 200] [--show] [--out recognition.json]

A table is right if its tensor has exactly the cells that the generator meant, wrong if another
tensor was accepted without a question, and asked if the reader wants to be told more.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

from benchmarks.recognition_tables import LAYOUTS, MadeTable, Truth, made_table
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import SwiftError
from swiftcore.tensor import SparseTensor


def judge(table: MadeTable, folder: Path) -> tuple[str, str]:
    """right, wrong or asked; and what was found or asked."""
    try:
        tensor = read_path(table.write(folder), BuildOptions(), Findings()).tensor
    except SwiftError as error:
        return "asked", str(error)
    return ("right" if is_right(tensor, table.truth) else "wrong"), repr(tensor)


def is_right(tensor: SparseTensor, truth: Truth) -> bool:
    """Whether a tensor has these cells, with its feature modes in some order."""
    modes = range(1, len(tensor.modes))
    cells = {
        tuple(mode.labels[at] for mode, at in zip(tensor.modes, place, strict=True)): value
        for place, value in zip(tensor.coordinates.tolist(), tensor.values.tolist(), strict=True)
    }
    return any(
        {(cell[0], *(cell[axis] for axis in order)): n for cell, n in cells.items()} == dict(truth)
        for order in permutations(modes)
    )


def scored(numbers: Sequence[int]) -> dict[int, tuple[MadeTable, str, str]]:
    """Every table with its verdict."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [made_table(number) for number in numbers]
        return {one.number: (one, *judge(one, Path(folder))) for one in tables}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--out", type=Path, help="write the verdicts as JSON")
    parser.add_argument("--show", action="store_true", help="name every table that is not right")
    chosen = parser.parse_args()
    results = scored(range(chosen.tables))
    counts = Counter((table.layout, verdict) for table, verdict, _ in results.values())
    print(f"{'layout':20}{'right':>7}{'asked':>7}{'wrong':>7}")
    for layout in LAYOUTS:
        row = (counts[layout, verdict] for verdict in ("right", "asked", "wrong"))
        print(f"{layout:20}" + "".join(f"{n:7}" for n in row))
    whole = Counter(verdict for _, verdict, _ in results.values())
    print(f"{'all':20}" + "".join(f"{whole[one]:7}" for one in ("right", "asked", "wrong")))
    if chosen.show:
        for table, verdict, found in results.values():
            if verdict != "right":
                print(f"{table.number} {table.layout}, {table.language}: {verdict}: {found[:300]}")
    if chosen.out:
        plain = [
            {
                "table": n,
                "layout": one.layout,
                "language": one.language,
                "verdict": verdict,
                "found": found,
            }
            for n, (one, verdict, found) in results.items()
        ]
        chosen.out.write_text(
            json.dumps({"counts": dict(whole), "tables": plain}, indent=1) + "\n", "utf-8"
        )


if __name__ == "__main__":
    main()

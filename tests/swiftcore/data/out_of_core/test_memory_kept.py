"""Dense tables are counted within the memory given, into the same bits as with much memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from swiftcore.data.options import BuildOptions
from swiftcore.data.out_of_core.build import build_shards
from swiftcore.data.out_of_core.database import MIN_MEMORY
from swiftcore.data.shards.reader import open_shards

MUCH = 4 * 10**9
# The peak is that of the whole program: Python, numpy, DuckDB and Arrow are loaded, too.
BUILD = """
import sys
from pathlib import Path
from swiftcore.cli import main
folder, out, memory = sys.argv[1:]
if main(["data", "build", folder, "--memory", memory, "--out", out]):
    sys.exit("refused")
lines = Path("/proc/self/status").read_text().splitlines()
print(int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1024)
"""


def dense_tables(folder: Path, people: int, **features: int) -> Path:
    """Everybody has every feature of every table, on one visit."""
    folder.mkdir()
    for name, size in features.items():
        who = np.repeat(np.arange(people), size)
        table = {
            "patient": pa.array([f"p{one:05d}" for one in who]),
            "visit": pa.array(["1"] * len(who)),
            name: pa.array([f"{name} {one:04d}" for one in np.tile(np.arange(size), people)]),
        }
        parquet.write_table(pa.table(table), folder / f"{name}s.parquet")
    return folder


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_dense_tables_keep_to_the_memory_and_to_their_bits(tmp_path: Path) -> None:
    folder = dense_tables(tmp_path / "dense", 1000, code=70, drug=70)
    little, much = tmp_path / "little.swift", tmp_path / "much.swift"
    command = [sys.executable, "-c", BUILD, str(folder), str(little), f"{MIN_MEMORY // 10**6}MB"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak = int(done.stdout.split()[-1])
    assert peak <= MIN_MEMORY, f"{peak / 1e6:.0f} MB"
    _, seal = build_shards(folder, much, BuildOptions(), MUCH)
    found = open_shards(little)
    assert found.seal == seal
    assert [(one.rows, one.entries) for one in found.manifest.shards] == [(1000, 4_900_000)]

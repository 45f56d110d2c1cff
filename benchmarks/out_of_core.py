"""Tables larger than memory to shards: peak memory, and time beside DuckDB's bare scan.

    python -m benchmarks.out_of_core [--patients 1000000] [--memory 2GB] [--out out_of_core.json]

Three processes, one after the other, each measured from outside (CPU seconds, wall seconds, peak
of resident memory): `swift data generate` writes synthetic records as shards and as Parquet
tables; DuckDB reads every value of the columns that are counted, and adds up their lengths;
`swift data build` counts the same tables into shards. The built data must be the generated ones.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import RESULTS
from benchmarks.report import show
from swiftcore.data.shards.reader import open_shards

SWIFT = [sys.executable, "-c", "import sys; from swiftcore.cli import main; sys.exit(main())"]
SETTINGS = ("join=visit", "values=binary", "outcome_column=heart_failure")
SCAN = """
import duckdb, sys
for table, feature in (("diagnoses", "diagnosis"), ("medications", "medication")):
    duckdb.sql(
        f"SELECT sum(length(patient_id)), sum(visit_id), sum(length({feature})) "
        f"FROM read_parquet('{sys.argv[1]}/{table}.parquet')"
    ).fetchall()
"""


def measured(command: list[str]) -> dict[str, float]:
    """Run a process to its end; what it took."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command} ended with {status}")
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": peak / 1e6,
    }


def folder_mb(folder: Path) -> float:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()) / 1e6


def same_data(first: Path, second: Path) -> bool:
    """Shard by shard, the same rows, entries and outcome."""
    one, two = open_shards(first), open_shards(second)
    return one.shape == two.shape and all(
        a.tensor == b.tensor and (a.outcome == b.outcome).all()
        for a, b in zip(one.row_blocks(), two.row_blocks(), strict=True)
    )


def run(patients: int, memory: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, tables, built = folder / "made.swift", folder / "tables", folder / "built.swift"
        generate = ["data", "generate", "--patients", str(patients), "--seed", "1"]
        rows = {
            "generate": measured([*SWIFT, *generate, "--out", str(made), "--tables", str(tables)])
        }
        rows["bare scan"] = measured([sys.executable, "-c", SCAN, str(tables)])
        settings = [word for one in SETTINGS for word in ("--set", one)]
        build = ["data", "build", str(tables), *settings, "--memory", memory, "--out", str(built)]
        rows["build"] = measured([*SWIFT, *build])
        opened = open_shards(built)
        assert opened.summary is not None
        return {
            "what": "Parquet tables of diagnoses, medications and patients to shards",
            "patients": patients,
            "rows_per_table": dict(opened.summary.tables),
            "entries": opened.manifest.n_entries,
            "memory_limit": memory,
            "tables_mb": folder_mb(tables),
            "shards_mb": folder_mb(built),
            "same_data_as_generated": same_data(made, built),
            "cpu_ratio_to_bare_scan": rows["build"]["cpu_seconds"]
            / rows["bare scan"]["cpu_seconds"],
            "time_ratio_to_bare_scan": rows["build"]["seconds"] / rows["bare scan"]["seconds"],
            "steps": [{"step": step, **row} for step, row in rows.items()],
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--patients", type=int, default=1_000_000)
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--out", default="out_of_core.json")
    chosen = parser.parse_args()
    result = run(chosen.patients, chosen.memory)
    show(f"Out of core, {chosen.patients:,} patients", result)
    (RESULTS / chosen.out).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

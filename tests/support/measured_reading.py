"""Read paths one after the other, each in a process of its own, and say what each reading took.

Run as a program with paths; one line of JSON per path: the problems' codes, CPU seconds, and by how
many megabytes the process that read grew.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import SwiftError


def memory_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


def measure(path: str) -> None:
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before, start = memory_mb("VmRSS"), time.process_time()
    try:
        read_path(Path(path), BuildOptions(), Findings())
        codes = []
    except SwiftError as error:
        codes = [problem.code for problem in error.problems]
    took = {"seconds": time.process_time() - start, "mb": memory_mb("VmHWM") - before}
    print(json.dumps({"codes": codes, **took}), flush=True)


if __name__ == "__main__":
    with contextlib.suppress(ImportError):
        import duckdb  # noqa: F401, loading a library is not the bomb's doing
    for each in sys.argv[1:]:
        child = os.fork()
        if child == 0:
            measure(each)
            os._exit(0)
        os.waitpid(child, 0)

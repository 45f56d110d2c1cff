"""The engine of this checkout beside that of another commit: time and memory of the same fits.

    python -m benchmarks.against_commit REV [--rounds 3] [--repeats 5]

Both engines run by turns in one run, each in a process of its own with one thread, from the
same data and the same start. On a shared machine times drift and differ from process to process,
so several pairs of processes are taken, the order within a pair changes with every repeat, and
what counts is the ratio of neighbours; its quartiles tell how far it can be trusted.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks import RESULTS
from swiftcore.data.synthetic.ehr import generate_ehr

ROOT = Path(__file__).parents[1]
WORKER = Path(__file__).with_name("timed_fit.py")
NOW, BEFORE = "now", "before"
SMALL = 60  # patients of the small fits
Answers = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """One fit of made-up patients with 100 diagnoses and 100 medications."""

    dtype: str
    sharpness: float
    iterations: int
    patients: int = 1000
    rank: int = 40
    fixed_rows: bool = False

    @property
    def title(self) -> str:
        size = f"{self.patients} x 100 x 100, rank {self.rank}"
        rows = ", no row cost" if self.fixed_rows else ""
        return f"{size}, {self.dtype}, sharpness {self.sharpness:g}{rows}"

    def request(self, data: Path) -> dict[str, Any]:
        """What ``timed_fit`` is asked for."""
        settings = {
            "dtype": self.dtype,
            "sharpness": self.sharpness,
            "max_iterations": self.iterations,
        }
        return {"data": str(data), "fixed_rows": self.fixed_rows, "settings": settings}


CASES = (
    Case("float32", 10.0, 12),
    Case("float64", 10.0, 8),
    Case("float32", 1000.0, 2),
    Case("float64", 1000.0, 2),
    Case("float32", 10.0, 40, fixed_rows=True),
    Case("float64", 10.0, 30, fixed_rows=True),
    Case("float32", 10.0, 60, patients=SMALL, rank=5),  # where calls weigh more than loops
)


class Engine:
    """A process that fits on request with the ``swiftcore`` of one folder."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"},
            cwd=folder,
            text=True,
        )
        found = Path(self._answer()["swiftcore"])
        assert found.is_relative_to(folder), f"{found} is not in {folder}"

    def fit(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


@contextmanager
def unpacked(revision: str) -> Iterator[Path]:
    """The files of a commit in a temporary folder."""
    archive = subprocess.run(
        ["git", "archive", revision, "swiftcore"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        yield folder


def write_problem(case: Case, folder: Path) -> Path:
    """Data and start of a case, as a file that both engines read."""
    path = folder / f"{case.patients}_{case.rank}.npz"
    if not path.exists():
        tensor = generate_ehr(case.patients, n_diagnoses=100, n_medications=100, seed=0).tensor
        rng = np.random.default_rng(0)
        start = [rng.uniform(0.1, 1.0, (size, case.rank)) for size in tensor.shape]
        start[0] *= tensor.values.sum() / np.prod([part.sum(axis=0) for part in start], 0).sum()
        parts = {f"start_{mode}": part for mode, part in enumerate(start)}
        shape = np.array(tensor.shape)
        np.savez(path, places=tensor.coordinates, values=tensor.values, shape=shape, **parts)
    return path


def measure(
    case: Case, folders: dict[str, Path], problems: Path, rounds: int, repeats: int
) -> tuple[Answers, Answers]:
    """All fits of a case, by turns, neighbours at equal places: the first ones, and the others.

    The first fit of a process tells its memory: later ones use what it left behind. A small fit
    before it loads the compiled loops.
    """
    small = write_problem(replace(case, patients=SMALL), problems)
    data = write_problem(case, problems)
    first: Answers = {name: [] for name in folders}
    later: Answers = {name: [] for name in folders}
    for _ in range(rounds):
        with ExitStack() as stack:
            engines = {name: stack.enter_context(Engine(folders[name])) for name in folders}
            for name, engine in engines.items():
                engine.fit(case.request(small))
                first[name].append(engine.fit(case.request(data)))
            for repeat in range(repeats):
                order = list(engines) if repeat % 2 else list(engines)[::-1]
                for name in order:
                    later[name].append(engines[name].fit(case.request(data)))
    return first, later


def summarise(case: Case, first: Answers, later: Answers) -> dict[str, Any]:
    """Best and median of both engines, and the ratio of neighbours with its quartiles."""
    row: dict[str, Any] = {"case": case.title, "pairs": len(later[NOW])}
    sources = {"cpu": later, "wall": later}
    if case.patients > SMALL:  # a small fit needs no more than what loading the loops left
        sources["peak_mb"] = first
    for what, answers in sources.items():
        now, before = (np.array([one[what] for one in answers[who]]) for who in (NOW, BEFORE))
        low, middle, high = np.quantile(now / before, [0.25, 0.5, 0.75])
        row[what] = {
            "now_best": now.min(),
            "before_best": before.min(),
            "now_median": np.median(now),
            "before_median": np.median(before),
            "ratio_of_best": now.min() / before.min(),
            "ratio": middle,
            "ratio_quartiles": [low, high],
        }
    ends = {who: later[who][-1] for who in (NOW, BEFORE)}
    row["same_bits"] = ends[NOW]["digest"] == ends[BEFORE]["digest"]
    row["objective_differs_by"] = abs(1 - ends[NOW]["objective"] / ends[BEFORE]["objective"])
    return row


def show(rows: Sequence[dict[str, Any]]) -> None:
    """Ratios now / before per iteration: of the best, and the median of neighbours."""
    print(f"{'':62}{'CPU ms':>17}{'best':>7}{'median':>8}{'quartiles':>13}{'wall':>7}{'memory':>8}")
    for row in rows:
        cpu, (low, high) = row["cpu"], row["cpu"]["ratio_quartiles"]
        times = f"{1e3 * cpu['before_best']:.1f} > {1e3 * cpu['now_best']:.1f}"
        memory = f"{row['peak_mb']['ratio']:.3f}" if "peak_mb" in row else ""
        print(
            f"{row['case']:62}{times:>17}{cpu['ratio_of_best']:7.3f}{cpu['ratio']:8.3f}"
            f"  {low:.3f}-{high:.3f}{row['wall']['ratio']:7.3f}{memory:>8}"
        )


def about(revision: str) -> dict[str, Any]:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()

    return {
        "before": git("rev-parse", revision),
        "now": git("rev-parse", "HEAD"),
        "changed_since": bool(git("status", "--porcelain", "--", "swiftcore")),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("revision", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of processes")
    parser.add_argument("--repeats", type=int, default=5, help="fits per process and case")
    chosen = parser.parse_args()
    rows = []
    with unpacked(chosen.revision) as folder:
        folders = {NOW: ROOT, BEFORE: folder}
        for case in CASES:
            answers = measure(case, folders, folder, chosen.rounds, chosen.repeats)
            rows.append(summarise(case, *answers))
    show(rows)
    result = {"about": about(chosen.revision), "rows": rows}
    path = RESULTS / "against_commit.json"
    path.write_text(json.dumps(result, indent=1, default=float) + "\n")
    print(f"\nWritten to {path}")


if __name__ == "__main__":
    main()

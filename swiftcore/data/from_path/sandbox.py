"""Read a path in a child process that may not take more memory, time or files than allowed.

A warm server process forks one child per path, so that the start of Python is paid once. What
comes back is a JSON report and a sealed bundle; nothing is ever unpickled. Where a platform
cannot fork (Windows), the server reads by itself and is ended when its time is up.
"""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swiftcore.cost.outside.cost_table import CostTable, table_from_bytes
from swiftcore.data.bundle import read_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.first_rows import is_large
from swiftcore.data.from_path.read_path import read_shards
from swiftcore.data.from_path.reading_process import BUNDLE, REPORT
from swiftcore.data.options import MEGABYTE, BuildOptions, Limits
from swiftcore.data.reading.findings import ColumnRole, Findings, LeftOut, Preview
from swiftcore.data.shards.reader import is_sharded
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import InvalidData, Problem

IDLE_KEPT = 2
GRACE_SECONDS = 2.0
COST_LIMITS = Limits(memory_mb=2048, seconds=60.0, decoded_mb=256, entries=1)
MAX_REPORT = 16 * MEGABYTE
_START = "from swiftcore.data.from_path.reading_process import serve; serve()"


@dataclass(frozen=True)
class Inspection:
    """What lies at a path, what would be built from it, and everything that stands against it.

    Attributes
    ----------
    outcome_candidates, candidate_counts : tuple of str, dict
        Columns that could be the outcome, and how many rows have which value of each.
    layout : str
        Of tables of one's own: long, wide, onehot, lists, or several joined by "+".
    digest : str
        Of the tensor that would be built.
    roles, previews
        Every column of every table with its role, and the first rows.
    options : dict
        Of a bundle, the options it was built with.
    """

    name: str
    kind: str
    tables: dict[str, int]
    mapping: dict[str, str]
    outcome_candidates: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...]
    summary: DatasetSummary | None
    candidate_counts: dict[str, dict[str, int]] = field(default_factory=dict)
    layout: str = ""
    digest: str = ""
    roles: tuple[ColumnRole, ...] = ()
    previews: tuple[Preview, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def inspect_path(
    path: str | Path,
    options: BuildOptions | None = None,
    *,
    keep: Path | None = None,
    parsed: Path | None = None,
) -> Inspection:
    """Read a path and say what it is and what would be built; never raises for bad data.

    Parameters
    ----------
    keep : Path, optional
        Where to leave what was built, for its owner only, so that :func:`read_kept` has it
        without a second reading. Nothing is left when there are problems.
    parsed : Path, optional
        A folder that keeps the parsed tables, and gives them back to the next inspection with
        the same :func:`~swiftcore.data.from_path.parsed_tables.reading_options`.
    """
    options, place = options or BuildOptions(), keep.parent if keep else None
    with tempfile.TemporaryDirectory(prefix="swift-read-", dir=place) as folder:
        task = "build" if keep else "inspect"
        inspection = _ask(task, Path(path), options, Path(folder), parsed)
        if keep and not inspection.problems:
            built = Path(folder) / BUNDLE
            built.chmod(0o600)
            os.replace(built, keep)
        return inspection


def first_rows(path: str | Path, options: BuildOptions | None = None) -> tuple[Preview, ...]:
    """The first rows of a large text table, at once; nothing of what is read as quickly whole."""
    if not is_large(Path(path)):
        return ()
    with tempfile.TemporaryDirectory(prefix="swift-read-") as folder:
        return _ask("look", Path(path), options or BuildOptions(), Path(folder)).previews


def build_path(path: str | Path, options: BuildOptions | None = None) -> Dataset:
    """Read a path and build its data set in the guarded process.

    Raises
    ------
    InvalidData
        With all problems found, also when a limit was reached.
    """
    options = options or BuildOptions()
    if is_sharded(Path(path)):  # mapped and checked, not parsed: a second process would only copy
        return read_shards(Path(path), options, Findings())
    with tempfile.TemporaryDirectory(prefix="swift-built-") as folder:
        kept = Path(folder) / BUNDLE
        inspection = inspect_path(path, options, keep=kept)
        if inspection.problems:
            raise InvalidData(inspection.problems)
        return read_kept(kept, options.limits)


def read_costs(path: str | Path, limits: Limits = COST_LIMITS) -> tuple[CostTable, tuple[str, ...]]:
    """Read a cost file in the guarded process.

    Returns
    -------
    CostTable
    tuple of str
        What was found and what was repaired, in sentences.

    Raises
    ------
    InvalidData
        With all problems found and their lines, also when a limit was reached.
    """
    with tempfile.TemporaryDirectory(prefix="swift-costs-") as folder:
        options = BuildOptions(limits=limits)
        found = _ask("costs", Path(path), options, Path(folder))
        if found.problems:
            raise InvalidData(found.problems)
        table = table_from_bytes((Path(folder) / BUNDLE).read_bytes(), found.name, limits)
        return table, found.notes


def read_kept(kept: Path, limits: Limits) -> Dataset:
    """What :func:`inspect_path` left; raises InvalidData if it is gone or was changed."""
    return read_bundle(kept, dataclasses.replace(limits, decoded_mb=limits.memory_mb))


def _ask(
    task: str, path: Path, options: BuildOptions, folder: Path, parsed: Path | None = None
) -> Inspection:
    request = {
        "parsed": str(parsed) if parsed else "",
        "task": task,
        "path": os.path.abspath(path),
        "folder": str(folder),
        "options": options.to_json(),
    }
    with _server() as server:
        end = server.ask(request, options.limits.seconds)
    report = folder / REPORT
    if end == "done" and report.is_file() and report.stat().st_size <= MAX_REPORT:
        return inspection_from(path.name, json.loads(report.read_bytes()))
    return Inspection(
        path.name, "", {}, {}, (), (), (), (_limit_problem(end, path, options.limits),), None
    )


def _limit_problem(end: str, path: Path, limits: Limits) -> Problem:
    if end == "time":
        return Problem(
            "time-limit",
            "Reading took too long and was stopped",
            path.name,
            f"more than {limits.seconds:g} seconds",
            "Give fewer data, or raise the time limit.",
        )
    if end == "memory":
        return Problem(
            "memory-limit",
            "Reading needed too much memory and was stopped",
            path.name,
            f"more than {limits.memory_mb:,} MB",
            "Give fewer data, or raise the memory limit.",
        )
    return Problem(
        "reader-ended",
        "The reading process ended by itself",
        path.name,
        f"end '{end}'",
        "The file is damaged or hostile; export the data again.",
    )


def inspection_from(name: str, report: dict[str, Any]) -> Inspection:
    """The answer of the reading process, from its plain values."""
    summary = report["summary"]
    return Inspection(
        name,
        report["kind"],
        report["tables"],
        report["mapping"],
        tuple(report["outcome_candidates"]),
        tuple(report["notes"]),
        tuple(LeftOut(**one) for one in report["left_out"]),
        tuple(Problem(**one) for one in report["problems"]),
        DatasetSummary.from_json(summary) if summary else None,
        report["candidate_counts"],
        report["layout"],
        report["digest"],
        tuple(ColumnRole(**one) for one in report["roles"]),
        tuple(_preview(one) for one in report["previews"]),
        report["options"],
    )


def _preview(plain: dict[str, Any]) -> Preview:
    return Preview(plain["table"], tuple(plain["columns"]), tuple(map(tuple, plain["rows"])))


class _Server:
    """Our end of the line to one warm reading process."""

    def __init__(self) -> None:
        root = str(Path(__file__).parents[3])
        environment = {
            **os.environ,
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "PYTHONPATH": os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])]),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> str:
        """Send one request and wait for the word of how it ended."""
        assert self.process.stdin and self.process.stdout
        overdue = threading.Timer(seconds + 10 * GRACE_SECONDS, self.process.kill)
        overdue.daemon = True
        overdue.start()
        try:
            self.process.stdin.write(json.dumps(request).encode("utf-8") + b"\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except OSError:
            answer = b""
        finally:
            overdue.cancel()
        return answer.decode("ascii", "replace").strip() or "server ended"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        try:
            self.process.wait(GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


_idle: list[_Server] = []
_lock = threading.Lock()


@contextlib.contextmanager
def _server() -> Iterator[_Server]:
    """A server that nobody else is using; a few are kept warm for the next time."""
    with _lock:
        server = _idle.pop() if _idle else None
    if server is None or server.process.poll() is not None:
        server = _Server()
    keep = False
    try:
        yield server
        keep = server.process.poll() is None
    finally:
        with _lock:
            keep = keep and len(_idle) < IDLE_KEPT
            if keep:
                _idle.append(server)
        if not keep:
            server.close()


@atexit.register
def close_servers() -> None:
    """End the warm processes; called by itself at exit."""
    with _lock:
        servers, _idle[:] = list(_idle), []
    for server in servers:
        server.close()

"""Read a path in a child process that may not take more memory, time or files than allowed.

A warm server process forks one child per path, so that the start of Python is paid once. What
comes back is a JSON report and a sealed bundle; nothing is ever unpickled. Where a platform
cannot fork (Windows), the server reads by itself and is ended when its time is up.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import dataclasses
import json
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swiftcore.data.bundle import bundle_bytes, read_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.findings import Findings, LeftOut
from swiftcore.data.options import MEGABYTE, BuildOptions, Limits
from swiftcore.data.read_path import read_path
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import InvalidData, Problem, SwiftError

logger = logging.getLogger(__name__)
IDLE_KEPT = 2
GRACE_SECONDS = 2.0
LONGEST_REPORT = 16 * MEGABYTE
_START = "from swiftcore.data.sandbox import serve; serve()"


@dataclass(frozen=True)
class Inspection:
    """What lies at a path, what would be built from it, and everything that stands against it."""

    name: str
    kind: str
    tables: dict[str, int]
    mapping: dict[str, str]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    problems: tuple[Problem, ...]
    summary: DatasetSummary | None


def inspect_path(path: str | Path, options: BuildOptions | None = None) -> Inspection:
    """Read a path and say what it is and what would be built; never raises for bad data."""
    options = options or BuildOptions()
    with tempfile.TemporaryDirectory(prefix="swift-read-") as folder:
        return _ask("inspect", Path(path), options, Path(folder))


def build_path(path: str | Path, options: BuildOptions | None = None) -> Dataset:
    """Read a path and build its data set in the guarded process.

    Raises
    ------
    InvalidData
        With all problems found, also when a limit was reached.
    """
    options = options or BuildOptions()
    with tempfile.TemporaryDirectory(prefix="swift-read-") as folder:
        inspection = _ask("build", Path(path), options, Path(folder))
        if inspection.problems:
            raise InvalidData(inspection.problems)
        return read_bundle(Path(folder) / "bundle", dataclasses.replace(
            options.limits, decoded_mb=options.limits.memory_mb))  # fmt: skip


def _ask(task: str, path: Path, options: BuildOptions, folder: Path) -> Inspection:
    request = {"task": task, "path": os.path.abspath(path), "folder": str(folder),
               "options": options.to_json()}  # fmt: skip
    with _server() as server:
        end = server.ask(request, options.limits.seconds)
    report = folder / "report"
    if end == "done" and report.is_file() and report.stat().st_size <= LONGEST_REPORT:
        return _from_report(path.name, json.loads(report.read_bytes()))
    return Inspection(path.name, "", {}, {}, (), (), (_limit_problem(end, path, options.limits),),
                      None)  # fmt: skip


def _limit_problem(end: str, path: Path, limits: Limits) -> Problem:
    if end == "time":
        return Problem("time-limit", "Reading took too long and was stopped", path.name,
                       f"more than {limits.seconds:g} seconds",
                       "Give fewer data, or raise the time limit.")  # fmt: skip
    if end == "memory":
        return Problem("memory-limit", "Reading needed too much memory and was stopped", path.name,
                       f"more than {limits.memory_mb:,} MB",
                       "Give fewer data, or raise the memory limit.")  # fmt: skip
    return Problem("reader-ended", "The reading process ended by itself", path.name,
                   f"end '{end}'",
                   "The file is damaged or hostile; export the data again.")  # fmt: skip


def _from_report(name: str, report: dict[str, Any]) -> Inspection:
    summary = report["summary"]
    return Inspection(
        name, report["kind"], report["tables"], report["mapping"], tuple(report["notes"]),
        tuple(LeftOut(**one) for one in report["left_out"]),
        tuple(Problem(**one) for one in report["problems"]),
        DatasetSummary.from_json(summary) if summary else None,
    )  # fmt: skip


class _Server:
    """Our end of the line to one warm reading process."""

    def __init__(self) -> None:
        root = str(Path(__file__).parents[2])
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
                       "ARROW_DEFAULT_MEMORY_POOL": "system",
                       "PYTHONPATH": os.pathsep.join(
                           [root, *filter(None, [os.environ.get("PYTHONPATH")])])}  # fmt: skip
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START], env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

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


# ---- the other end of the line: runs in the server process ------------------------------------


def serve() -> None:
    """Answer requests, one JSON line each, until the line is closed."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # nothing a library prints may reach the line
    pending = b""
    while True:
        while b"\n" not in pending:
            piece = os.read(0, 65_536)
            if not piece:
                return
            pending += piece
        line, _, pending = pending.partition(b"\n")
        request = json.loads(line)
        end = _in_child(request) if hasattr(os, "fork") else _work(request)
        os.write(out, end.encode("ascii") + b"\n")


def _in_child(request: dict[str, Any]) -> str:
    """Fork, limit, read; "done", "time", "memory", "cancelled" or the signal that ended it."""
    limits = Limits(**request["options"]["limits"])
    child = os.fork()
    if child == 0:
        code = 3
        try:
            _limit_self(limits)
            code = {"done": 0, "memory": 4}.get(_work(request), 3)
        finally:
            os._exit(code)
    deadline = time.monotonic() + limits.seconds
    pause = 0.001
    while True:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            break
        readable, _, _ = select.select([0], [], [], pause)
        over = time.monotonic() > deadline
        if over or readable:  # nobody writes while a child works: the line was closed
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "time" if over else "cancelled"
        pause = min(pause * 1.5, 0.02)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        endings = {signal.SIGXCPU: "time", signal.SIGKILL: "memory", signal.SIGABRT: "memory"}
        return endings.get(signal.Signals(number), f"signal {number}")
    return {0: "done", 4: "memory"}.get(os.WEXITSTATUS(status), "fault")


def _limit_self(limits: Limits) -> None:
    """Limits of the operating system on this process, which holds nothing but one reading."""
    import resource  # POSIX only; this function runs only after a fork

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: go when the server goes
    for kind, amount in (
        (resource.RLIMIT_AS, _address_space() + limits.memory_mb * MEGABYTE),
        (resource.RLIMIT_CPU, int(limits.seconds) + 1),
        (resource.RLIMIT_FSIZE, limits.memory_mb * MEGABYTE),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (amount, amount))


def _address_space() -> int:
    """Bytes of address space in use before the reading starts."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 2048 * MEGABYTE


def _work(request: dict[str, Any]) -> str:
    """Read, and leave the report (and the bundle) in the folder of the request."""
    folder = Path(request["folder"])
    findings = Findings()
    summary: DatasetSummary | None = None
    try:
        options = BuildOptions.from_json(request["options"])
        dataset = read_path(Path(request["path"]), options, findings)
        summary = dataset.summary
        if request["task"] == "build":
            (folder / "bundle").write_bytes(bundle_bytes(dataset, compress=False))
    except SwiftError as error:
        findings.problems = list(error.problems)
    except (MemoryError, RecursionError):
        return "memory"
    except Exception as error:  # a fault of ours: told as a problem, never as a traceback
        if "alloc" in str(error) or "ArrowMemoryError" in type(error).__name__:
            return "memory"
        findings.problems = [
            Problem("reader-fault", "The reader met something it does not understand",
                    Path(request["path"]).name, f"{type(error).__name__}",
                    "Please report this file's kind to the authors; export it again as CSV.")
        ]  # fmt: skip
    report = {
        "kind": findings.kind, "tables": findings.tables, "mapping": findings.mapping,
        "notes": findings.notes, "left_out": [dataclasses.asdict(x) for x in findings.left_out],
        "problems": [dataclasses.asdict(problem) for problem in findings.problems],
        "summary": summary.to_json() if summary and not findings.problems else None,
    }  # fmt: skip
    (folder / "report").write_text(json.dumps(report), "utf-8")
    return "done"

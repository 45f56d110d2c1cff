"""The process that reads: forks one limited child per request, leaves files as its answer."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import gc
import json
import os
import select
import signal
import time
from pathlib import Path
from typing import Any

from swiftcore.cost.outside.read_file import read_cost_file
from swiftcore.data.bundle import bundle_bytes
from swiftcore.data.from_path.first_rows import look
from swiftcore.data.from_path.read_path import check_shards, read_path
from swiftcore.data.options import MEGABYTE, BuildOptions, Limits
from swiftcore.data.reading.findings import Findings
from swiftcore.data.shards.reader import is_sharded
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import Problem, SwiftError

REPORT, BUNDLE = "report", "bundle"  # the two files of an answer


def serve() -> None:
    """Answer requests, one JSON line each, until the line is closed."""
    out = os.dup(1)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)  # nothing a library prints may reach the line
    gc.collect()
    gc.freeze()  # children share these pages as long as the collector leaves them alone
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
    findings = Findings(parsed=Path(request["parsed"]) if request["parsed"] else None)
    summary: DatasetSummary | None = None
    digest = ""
    try:
        options = BuildOptions.from_json(request["options"])
        if request["task"] == "costs":
            table = read_cost_file(request["path"], findings, options.limits)
            (folder / BUNDLE).write_bytes(table.to_bytes())
        elif request["task"] == "look":
            look(Path(request["path"]), options, findings)
        elif request["task"] == "inspect" and is_sharded(Path(request["path"])):
            summary = check_shards(Path(request["path"]), findings)
        else:
            dataset = read_path(Path(request["path"]), options, findings)
            summary, digest = dataset.summary, dataset.tensor.digest()
        if request["task"] == "build":
            (folder / BUNDLE).write_bytes(bundle_bytes(dataset, compress=False))
    except SwiftError as error:
        findings.problems = list(error.problems)
    except (MemoryError, RecursionError):
        return "memory"
    except Exception as error:  # a fault of ours: shown as a problem, never as a traceback
        if "alloc" in str(error) or "ArrowMemoryError" in type(error).__name__:
            return "memory"
        findings.problems = [
            Problem(
                "reader-fault",
                "The reader met something it does not understand",
                Path(request["path"]).name,
                f"{type(error).__name__}",
                "Please report this file's kind to the authors; export it again as CSV.",
            )
        ]
    (folder / REPORT).write_text(json.dumps(report_of(findings, summary, digest)), "utf-8")
    return "done"


def report_of(
    findings: Findings, summary: DatasetSummary | None, digest: str = ""
) -> dict[str, Any]:
    """What was found, as plain values; `sandbox.inspection_from` reads it."""
    return {
        "kind": findings.kind,
        "tables": findings.tables,
        "mapping": findings.mapping,
        "outcome_candidates": findings.outcome_candidates,
        "notes": findings.notes,
        "left_out": [dataclasses.asdict(x) for x in findings.left_out],
        "problems": [dataclasses.asdict(problem) for problem in findings.problems],
        "summary": summary.to_json() if summary and not findings.problems else None,
        "candidate_counts": findings.candidate_counts,
        "layout": findings.layout,
        "digest": digest if not findings.problems else "",
        "roles": [dataclasses.asdict(role) for role in findings.roles],
        "previews": [dataclasses.asdict(one) for one in findings.previews],
        "options": dict(findings.options),
    }

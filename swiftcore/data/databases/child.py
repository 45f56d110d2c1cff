"""Read a database in a process of its own, so that whoever asked can watch it and stop it.

What comes back are lines that say how far it is, then a report and a sealed bundle in a folder, as
from the process that reads files. The address never passes: the child finds it as we would.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swiftcore.data.bundle import bundle_bytes
from swiftcore.data.databases.build import build_from_database
from swiftcore.data.databases.connection import ReadingStopped
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.reading_process import BUNDLE, REPORT, report_of
from swiftcore.data.from_path.sandbox import Inspection, inspection_from, read_kept
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, Problem, SwiftError

ENDS_WITHIN = 3.0  # seconds from a wish to stop until the process is gone
_START = "from swiftcore.data.databases.child import work; work()"


@dataclass(frozen=True)
class Asked:
    """What is to be counted.

    Attributes
    ----------
    source, schema : str
        As in :func:`~swiftcore.data.databases.build.build_from_database`.
    options : BuildOptions
    """

    source: str
    schema: str
    options: BuildOptions


class DatabaseReading:
    """One reading that runs, or has ended; it stops when nobody holds this object any more.

    Parameters
    ----------
    folder : Path
        Where the answer is left; private, and the caller's to remove.
    """

    def __init__(self, asked: Asked, folder: Path) -> None:
        self.asked, self._folder = asked, folder
        self._said: tuple[str, int] = ("connecting", 0)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START],
            env={**os.environ, "PYTHONPATH": _import_path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._forgotten = weakref.finalize(self, _end, self._process)
        request = {
            "source": asked.source,
            "schema": asked.schema,
            "options": asked.options.to_json(),
            "folder": str(folder),
        }
        assert self._process.stdin
        self._process.stdin.write(json.dumps(request).encode("utf-8") + b"\n")
        self._process.stdin.flush()
        threading.Thread(
            target=_listen, args=(weakref.ref(self), self._process), daemon=True
        ).start()

    @property
    def said(self) -> tuple[str, int]:
        """What is being done, and how many rows were read."""
        return self._said

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def stop(self) -> None:
        """End the statement on the server, then the process."""
        self._forgotten()

    def wait(self, seconds: float) -> bool:
        """Whether it has ended within some seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return not self.running

    def inspection(self) -> Inspection:
        """What was found, or everything that stands against it; only when it has ended."""
        name = f"postgresql, schema {self.asked.schema}" if self.asked.schema else "postgresql"
        try:
            return inspection_from(name, json.loads((self._folder / REPORT).read_bytes()))
        except (OSError, ValueError):
            ended = Problem(
                "database-reader-ended",
                "Reading the database was stopped",
                name,
                f"end {self._process.returncode}",
                "Start it again.",
            )
            return Inspection(name, "", {}, {}, (), (), (), (ended,), None)

    def dataset(self) -> Dataset:
        """What was built; raises InvalidData if nothing was."""
        return read_kept(self._folder / BUNDLE, self.asked.options.limits)


def _import_path() -> str:
    root = str(Path(__file__).parents[3])
    return os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])


def _listen(reading: weakref.ref[DatabaseReading], process: subprocess.Popen[bytes]) -> None:
    assert process.stdout
    with contextlib.suppress(ValueError, OSError), process.stdout:
        for line in process.stdout:
            if (held := reading()) is not None:
                held._said = tuple(json.loads(line))
            del held
    process.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its line, which means stop; what does not stop is ended."""
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()

    def make_sure() -> None:
        try:
            process.wait(ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()

    threading.Thread(target=make_sure, daemon=True).start()


def work() -> None:
    """Answer the one request on standard input; a closed line means stop."""
    out = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing a library prints may reach the line
    request = json.loads(sys.stdin.buffer.readline())
    stop = threading.Event()

    def wait_for_the_end() -> None:
        sys.stdin.buffer.read()
        stop.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    last: list[tuple[str, int]] = []

    def progress(what: str, rows: int) -> bool:
        if last[-1:] != [(what, rows)] and not stop.is_set():
            last[:] = [(what, rows)]
            with contextlib.suppress(OSError):
                os.write(out, json.dumps([what, rows]).encode("utf-8") + b"\n")
        return stop.is_set()

    with contextlib.suppress(ReadingStopped):
        _leave(request, progress)


def _leave(request: Mapping[str, Any], progress: Any) -> None:
    folder, findings = Path(request["folder"]), Findings()
    summary, digest = None, ""
    try:
        options = BuildOptions.from_json(request["options"])
        found = build_from_database(
            request["source"], request["schema"], options, findings, progress
        )
        summary, digest = found.summary, found.tensor.digest()
        (folder / BUNDLE).write_bytes(bundle_bytes(found, compress=False))
    except SwiftError as error:
        findings.problems = list(error.problems)
    except MemoryError:
        findings.problems = list(_too_large().problems)
    report = json.dumps(report_of(findings, summary, digest))
    (folder / REPORT).write_text(report, "utf-8")


def _too_large() -> InvalidData:
    return InvalidData(
        [
            Problem(
                "database-memory",
                "The counts do not fit into memory",
                "postgresql",
                "no memory left",
                "Keep fewer features of each kind.",
            )
        ]
    )

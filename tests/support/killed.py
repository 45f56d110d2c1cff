"""Processes that work until kill -9 ends them, forked from one that has everything loaded."""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

PATIENCE = 120.0  # seconds between two words
TESTS = Path(__file__).parents[1]
Say = Callable[[str], None]
Work = Callable[..., None]
"""Gets ``say`` first; whatever it has said is acknowledged, and must survive."""
Words = Sequence[Sequence[str]]
"""All that was acknowledged, one list for each life."""


@dataclass(frozen=True)
class Life:
    """A process at work, and the end of the pipe through which it speaks."""

    process: BaseProcess
    heard: Connection

    def killed_after(self, words: int, seconds: float) -> list[str]:
        """Kill it so long after so many words; everything it said, to its last word.

        Words and not seconds alone: on a busy machine nothing happens for long.
        """
        said = self._hear(1 + words)
        time.sleep(seconds)
        self.process.kill()
        return [*said, *self._hear()][1:]

    def ended(self) -> list[str]:
        """Everything it said until it ended by itself."""
        return self._hear()[1:]

    def _hear(self, most: float = math.inf) -> list[str]:
        """What it says next, until it ends or has said enough."""
        said: list[str] = []
        while len(said) < most:
            assert self.heard.poll(PATIENCE), "it says nothing and does not end"
            try:
                said.append(self.heard.recv())
            except (EOFError, OSError):  # OSError: it was killed in the middle of a word
                self.process.join(PATIENCE)
                assert self.process.exitcode is not None
                break
        return said


def spawn(work: Work, *arguments: Any) -> Life:
    """Let a new process do some work."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["support.warm_compiler"])
    paths = [str(TESTS), str(TESTS.parent), os.environ.get("PYTHONPATH", "")]
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    try:
        heard, said = context.Pipe(duplex=False)
        process = context.Process(target=_live, args=(said, work, arguments), daemon=True)
        process.start()
        said.close()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return Life(process, heard)


def _live(said: Connection, work: Work, arguments: tuple[Any, ...]) -> None:
    said.send("at work")
    work(said.send, *arguments)

"""Every connection that a server, or a process it starts, makes or tries: written down by strace.

A name is looked up over a socket that is connected first, so that this sees look-ups too.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

CALL = re.compile(r"connect\(.*?sa_family=AF_INET6?,.*")
LOOPBACK = re.compile(r'inet_addr\("127\.|"(::1|::ffff:127\.[\d.]+)"')
# The tracer stands aside (-D), so that the server keeps its process id, and stops it at
# connections only: nothing else becomes slower.
STRACE = ("strace", "-D", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect", "-o")


@cache
def why_unwatched() -> str:
    """Why connections cannot be watched here; nothing if they can."""
    if shutil.which("strace") is None:
        return "strace is not installed (make test installs it where it may)"
    tried = subprocess.run(
        [*STRACE, "/dev/null", "true"], capture_output=True, text=True, timeout=60
    )
    return f"strace may not watch processes here: {tried.stderr}" if tried.stderr else ""


def watched(command: list[str], trace: Path) -> list[str]:
    """The command that does the same and has its connections written down, where that can be."""
    return command if why_unwatched() else [*STRACE, str(trace), *command]


def outbound(trace: str) -> list[str]:
    """The connections of a trace to anything but this machine."""
    calls = (found[0] for found in map(CALL.search, trace.splitlines()) if found)
    return [call for call in calls if not LOOPBACK.search(call)]

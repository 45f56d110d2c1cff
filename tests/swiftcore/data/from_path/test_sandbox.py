"""The guarded process: limits hold, the parent lives, servers are reused and go away."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from swiftcore.data.from_path import sandbox
from swiftcore.data.from_path.report import build_bundle, describe
from swiftcore.data.from_path.sandbox import build_path, inspect_path, read_kept
from swiftcore.data.options import BuildOptions, Limits
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits as Linux keeps them")
TABLE = "patient,code,drug\n" + "".join(f"{k % 50},c{k % 7},d{k % 5}\n" for k in range(500))


def test_build_and_inspect_agree(write: Write) -> None:
    path = write("t.csv", TABLE)
    data, inspection = build_path(path), inspect_path(path)
    assert inspection.summary == data.summary
    assert not inspection.problems and inspection.kind == "table"


def test_an_inspection_can_keep_what_it_built(write: Write, tmp_path: Path) -> None:
    path, kept = write("t.csv", TABLE), tmp_path / "kept"
    inspection = inspect_path(path, keep=kept)
    whole, data = read_kept(kept, Limits()), build_path(path)
    assert (whole.name, whole.tensor, whole.summary) == (data.name, data.tensor, data.summary)
    assert inspection.summary == whole.summary and kept.stat().st_mode & 0o777 == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == ["kept", "t.csv"]
    bad = tmp_path / "bad"
    assert inspect_path(write("u.csv", "patient,code,n\n1,a,-1\n"), keep=bad).problems
    assert not bad.exists()


def test_report_reads_well(write: Write) -> None:
    report = describe(inspect_path(write("t.csv", TABLE)))
    assert report.startswith("t.csv: one table of events.")
    assert "  t.csv: 500 rows" in report and "  features: code, drug" in report
    assert report.endswith("No problems.")
    bad = describe(inspect_path(write("u.csv", "patient,code,n\n1,a,-1\n2,b,x\n")))
    assert "2 problems to fix:" in bad
    assert "[value-negative]" in bad and "rows 1" in bad


def test_a_refused_build_writes_nothing(write: Write, tmp_path: Path) -> None:
    out = tmp_path / "out.swift.npz"
    with pytest.raises(InvalidData):
        build_bundle(write("t.csv", "patient,code\n"), out)
    assert not out.exists()
    data, seal = build_bundle(write("u.csv", TABLE), out)
    assert len(seal) == 64 and build_path(out).tensor == data.tensor


def test_time_limit(write: Write) -> None:
    path = write("big.csv", TABLE * 3000)
    start = time.monotonic()
    found = inspect_path(path, BuildOptions(limits=Limits(seconds=0.05)))
    assert [problem.code for problem in found.problems] == ["time-limit"]
    assert time.monotonic() - start < 20  # far below what reading the file would take
    assert not inspect_path(write("t.csv", TABLE)).problems  # the server is still well


def test_memory_limit(write: Write) -> None:
    text = "patient,code\n" + "".join(f"{k},{k}\n" for k in range(1_500_000))
    found = inspect_path(write("big.csv", text), BuildOptions(limits=Limits(memory_mb=100)))
    assert [problem.code for problem in found.problems] == ["memory-limit"]
    assert not inspect_path(write("t.csv", TABLE)).problems


def test_decoded_bytes_limit(write: Write) -> None:
    found = inspect_path(write("t.csv", TABLE * 300), BuildOptions(limits=Limits(decoded_mb=1)))
    assert [problem.code for problem in found.problems] == ["too-many-bytes"]


def test_a_killed_server_is_told_and_replaced(write: Write) -> None:
    path = write("t.csv", TABLE)
    inspect_path(path)
    server = sandbox._idle[-1]
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    assert not inspect_path(path).problems


@pytest.mark.slow
def test_readings_at_the_same_time(write: Write) -> None:
    path = write("t.csv", TABLE)
    digests: list[str] = []
    threads = [
        threading.Thread(target=lambda: digests.append(build_path(path).tensor.digest()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(digests) == 4 and len(set(digests)) == 1
    assert len(sandbox._idle) <= sandbox.IDLE_KEPT


def test_nothing_is_left_when_the_parent_is_killed(write: Write) -> None:
    path = write("t.csv", TABLE * 2000)
    program = (
        "import sys, threading, time\n"
        "from swiftcore.data.from_path import sandbox\n"
        "threading.Thread(target=sandbox.build_path, args=(sys.argv[1],), daemon=True).start()\n"
        "time.sleep(0.5)\n"
        "print('started', flush=True)\n"
        "time.sleep(60)\n"
    )
    root = str(Path(sandbox.__file__).parents[3])
    parent = subprocess.Popen(
        [sys.executable, "-c", program, str(path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert parent.stdout and parent.stdout.readline() == b"started\n"
    children = _children(parent.pid)
    assert children
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 60  # the machine may be busy
    while any(_alive(pid) for pid in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_alive(pid) for pid in children)


def _children(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            if parent == pid:
                found += [int(entry.name), *_children(int(entry.name))]
    return found


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_the_first_rows_of_a_large_text_come_before_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    path = tmp_path / "events.csv"
    lines = (f"{7001 + k // 3};Dü{k % 17};drug {k % 9}\n" for k in range(12_000))
    path.write_bytes(("mrn;code;drug\n" + "".join(lines)).encode(encoding))
    assert sandbox.first_rows(path) == ()  # quickly read whole
    monkeypatch.setattr("swiftcore.data.from_path.first_rows.LARGE", 100_000)
    (early,) = sandbox.first_rows(path)
    assert early == sandbox.inspect_path(path).previews[0]
    assert early.columns == ("mrn", "code", "drug") and early.rows[0] == ("7001", "Dü0", "drug 0")
    (tmp_path / "a.npz").write_bytes(bytes(200_000))
    assert sandbox.first_rows(tmp_path / "a.npz") == ()

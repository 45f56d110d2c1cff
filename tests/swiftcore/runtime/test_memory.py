"""The memory that can be had, and refusals before it is taken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

import swiftcore.runtime.memory as free_memory
from swiftcore.cost import build_costs
from swiftcore.errors import InvalidSettings, NotEnoughMemory
from swiftcore.runtime.memory import (
    LIMIT_SETTING,
    available_memory,
    family,
    held_memory,
    in_units,
    oom_kills,
    usable_memory,
)
from swiftcore.tensor import SparseTensor

SECOND = ("0::", "", ("memory.max", "memory.current", "inactive_file"))
FIRST = (
    "4:cpu,memory:",
    "memory",
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
FORMS = pytest.mark.parametrize(("line", "mount", "names"), [SECOND, FIRST])


def machine(root: Path, line: str) -> Path:
    """A folder that looks like the root of a machine whose groups are told by one line."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"7:cpuset:/elsewhere\n{line}\n1:name=systemd:/x\n")
    return root / "sys/fs/cgroup"


def group(folder: Path, names: tuple[str, str, str], limit: str, used: int, files: int) -> None:
    """The files of one control group."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 1\n{names[2]} {files}\n")


@FORMS
def test_a_container_s_limit_counts(tmp_path: Path, line: str, mount: str, names) -> None:
    group(machine(tmp_path, f"{line}/") / mount, names, "5000000", 2_000_000, 0)
    assert available_memory(tmp_path) == 3e6


@FORMS
def test_the_tightest_of_all_groups_around_us_counts(
    tmp_path: Path, line: str, mount: str, names
) -> None:
    groups = machine(tmp_path, f"{line}/ward/swift/server") / mount
    group(groups, names, "max", 1, 0)
    group(groups / "ward", names, "4000000", 1_000_000, 0)
    group(groups / "ward/swift/server", names, "9000000", 1_000_000, 0)
    group(groups / "other", names, "1000", 0, 0)  # not ours
    assert available_memory(tmp_path) == 3e6


@FORMS
def test_copies_of_files_count_as_free(tmp_path: Path, line: str, mount: str, names) -> None:
    """The kernel drops them when memory is needed; who has read much is not full."""
    group(machine(tmp_path, f"{line}/") / mount, names, "5000000", 4_900_000, 3_000_000)
    assert available_memory(tmp_path) == 3.1e6


def test_the_host_s_path_of_a_container_leads_to_its_own_limit(tmp_path: Path) -> None:
    """Without a name space of its own, the path is one of the host and not to be seen."""
    group(machine(tmp_path, "0::/docker/abc"), SECOND[2], "5000000", 2_000_000, 0)
    assert available_memory(tmp_path) == 3e6


@pytest.mark.parametrize("limit", ["max", str(2**63 - 4096)])
def test_no_limit_leaves_the_machine_s(tmp_path: Path, limit: str) -> None:
    group(machine(tmp_path, "0::/"), SECOND[2], limit, 1, 0)
    found = available_memory(tmp_path)
    assert found == pytest.approx(psutil.virtual_memory().available, rel=0.2)


def test_where_there_are_no_groups_the_machine_counts(tmp_path: Path) -> None:
    found = available_memory(tmp_path)
    assert found == pytest.approx(psutil.virtual_memory().available, rel=0.2)
    assert oom_kills(tmp_path) == 0


def test_what_ends_counts_as_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(free_memory, "available_memory", lambda: 1e9)
    code = "held = bytearray(80_000_000); print(len(held), flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        assert family(os.getpid())[0] == os.getpid() and child.pid in family(os.getpid())
        assert 8e7 < held_memory([child.pid]) < 2e8
        assert usable_memory() == pytest.approx(0.9e9)
        assert 0.97e9 < usable_memory([child.pid]) < 1.1e9
        child.communicate("\n")
    assert held_memory([child.pid]) == 0 and family(child.pid) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
def test_what_a_fork_shares_with_its_parent_is_counted_once() -> None:
    """A program about to start another one is, for a moment, two processes with one memory."""
    code = (
        "import os, sys; held = bytearray(b'x') * 80_000_000; child = os.fork()\n"
        "if child: print(child, flush=True)\n"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        fork = int(parent.stdout.readline())
        assert psutil.Process(fork).ppid() == parent.pid
        assert family(parent.pid) == [parent.pid]
        assert 8e7 < held_memory(family(parent.pid)) < 1.3e8
        parent.communicate()
    psutil.wait_procs([psutil.Process(fork)] if psutil.pid_exists(fork) else [], timeout=10)


def test_a_limit_may_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_SETTING, "5")
    assert usable_memory() == 4.5e6 and usable_memory(share=1.0) == 5e6
    monkeypatch.setenv(LIMIT_SETTING, "3 GB")
    with pytest.raises(InvalidSettings, match=r"SWIFT_MEMORY_MB.*'3 GB'.*such as 4000"):
        usable_memory()


def test_kills_of_the_kernel_are_counted(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/vmstat").write_text("pgfault 12\noom_kill 3\ncompact_fail 0\n")
    assert oom_kills(tmp_path) == 3


def test_amounts_are_said_as_people_say_them() -> None:
    assert [in_units(one) for one in (341e6, 999e6, 2.14e9)] == ["340 MB", "1000 MB", "2.1 GB"]


def test_a_cost_that_does_not_fit_is_refused_before_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(free_memory, "available_memory", lambda: 1e6)
    rows = SparseTensor.from_coordinates([[999, 0, 0], [0, 1, 1]], [1, 1])
    with pytest.raises(
        NotEnoughMemory, match=r"size 1,000, 2, 2\): found 20 MB.*--row-relation none"
    ):
        build_costs(rows, reference=rows)

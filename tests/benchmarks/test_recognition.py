"""Tables that nobody prepared for: read right, or asked about, but never read wrong."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path

import pytest

import swiftcore.data.building.layouts as layouts
from benchmarks.recognition import is_right, scored
from benchmarks.recognition_tables import NAMES, made_table
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings


def test_two_hundred_tables_none_wrong_and_nearly_all_right() -> None:
    verdicts = scored(range(200))
    counts = Counter(verdict for _, verdict, _ in verdicts.values())
    wrong = [(one.layout, found) for one, verdict, found in verdicts.values() if verdict == "wrong"]
    assert not wrong
    assert counts["right"] >= 180


def test_the_verdict_sees_one_changed_cell(tmp_path: Path) -> None:
    made = made_table(0)
    tensor = read_path(made.write(tmp_path), BuildOptions(), Findings()).tensor
    assert is_right(tensor, made.truth)
    cell = next(iter(made.truth))
    assert not is_right(tensor, Counter(made.truth) + Counter([cell]))
    assert not is_right(tensor, Counter(made.truth) - Counter([cell]))


def test_the_code_knows_none_of_the_names() -> None:
    package = Path(inspect.getfile(layouts)).parent
    code = "".join(file.read_text("utf-8") for file in package.glob("*.py"))
    names = {name for some in NAMES.values() for role in some[:3] for name in role}
    assert [name for name in names if f'"{name}"' in code] == []


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20, 30))
def test_other_draws_are_never_read_wrong(seed: int, tmp_path: Path) -> None:
    from benchmarks.recognition import judge

    verdicts = Counter(judge(made_table(n, seed), tmp_path)[0] for n in range(200))
    assert verdicts["wrong"] == 0 and verdicts["right"] >= 180

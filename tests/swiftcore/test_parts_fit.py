"""A fit of rows in parts has the bits of a fit of all rows at once."""

from __future__ import annotations

import errno
import json
import re
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest

from swiftcore import ModelSpec, fit_dataset
from swiftcore.cli import main
from swiftcore.data.bundle import write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import open_shards
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.errors import NotEnoughMemory, SwiftError
from swiftcore.fitting import FittedModel
from swiftcore.parts_fit import KEPT_BACK, Means, fit_in_parts
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.row_parts import why_whole
from swiftcore.swift import fit_file
from swiftcore.swift.checkpoint import FitCheckpoint, row_folders
from swiftcore.swift.parts import local_team
from swiftcore.tensor import Mode, SparseTensor

SPEC = ModelSpec(rank=3, row_relation="neighbourhoods", max_iterations=6, n_restarts=1)
ROWS = 4_300  # two parts


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("large") / "made.swift"
    out = ["--seed", "3", "--diagnoses", "60", "--medications", "64", "--out", str(folder)]
    assert main(["data", "generate", "--patients", str(ROWS), *out]) == 0
    return folder


@pytest.fixture(scope="module")
def whole(shards: Path) -> FittedModel:
    return fit_dataset(open_shards(shards).to_dataset(), SPEC)


def same(one: FittedModel, other: FittedModel) -> bool:
    return one.digest == other.digest and one.modes == other.modes


@pytest.mark.parametrize("more", [None, 500 * 10**6])
@pytest.mark.parametrize("jobs", [1, 2])
def test_parts_have_the_bits_of_the_whole(
    shards: Path, whole: FittedModel, more: int | None, jobs: int
) -> None:
    held = psutil.Process().memory_info().rss  # by all tests that ran here before
    memory = None if more is None else int((held + more) / KEPT_BACK)
    found = fit_in_parts(open_shards(shards), SPEC, Means(memory, jobs))
    assert same(found, whole)
    objectives = [one.objective for one in found.history]
    assert objectives == [one.objective for one in whole.history]
    assert found.row_relation.kind == "neighbourhoods"


def test_what_is_stopped_goes_on_to_the_same_bits(
    shards: Path, whole: FittedModel, tmp_path: Path
) -> None:
    def after_two(now: FitProgress) -> bool:
        return now.iteration >= 2

    checkpoint = FitCheckpoint(tmp_path / "state.npz")
    data = open_shards(shards)
    stopped = fit_in_parts(data, SPEC, callback=after_two, checkpoint=checkpoint)
    assert stopped.outcome is FitOutcome.STOPPED
    begun: list[int] = []
    again = FitCheckpoint(tmp_path / "state.npz", resumed=lambda past: begun.append(len(past)))
    assert same(fit_in_parts(data, SPEC, checkpoint=again), whole)
    assert begun == [3]


@pytest.mark.parametrize("refused", ["the features", "the rows"])
def test_a_full_disk_leaves_the_earlier_state(
    shards: Path, whole: FittedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    data, path = open_shards(shards), tmp_path / "state.npz"
    fit_in_parts(
        data, SPEC, callback=lambda now: now.iteration >= 2, checkpoint=FitCheckpoint(path)
    )
    (rows,) = row_folders(path)
    with monkeypatch.context() as patch:
        where = {
            "the features": (fit_file, "write_sealed"),
            "the rows": (local_team, "write_state"),
        }
        module, name = where[refused]
        real = getattr(module, name)

        def full(target: Path, *arguments: object) -> None:
            if target.parent in (tmp_path, row_folders(path)[-1]):
                raise OSError(errno.ENOSPC, "No space left on device")
            real(target, *arguments)

        patch.setattr(module, name, full)
        fit_in_parts(
            data, SPEC, callback=lambda now: now.iteration >= 4, checkpoint=FitCheckpoint(path)
        )
    assert row_folders(path) == [rows]
    begun: list[int] = []
    again = FitCheckpoint(path, resumed=lambda past: begun.append(len(past)))
    assert same(fit_in_parts(data, SPEC, checkpoint=again), whole)
    assert begun == [3]


@pytest.mark.parametrize("costs", ["cosine", "one-minus-identity"])
def test_a_part_without_entries_is_a_part(costs: str) -> None:
    """Rows without anything are alike, and fill neighbourhoods of their own."""
    rng = np.random.default_rng(5)
    full = generate_ehr(1_500, seed=6, n_diagnoses=60, n_medications=64).tensor
    rows = Mode.numbered("patient", 9_000)
    tensor = SparseTensor((rows, *full.modes[1:]), full.coordinates, full.values)
    data = Dataset("sparse", tensor.select(0, rng.permutation(9_000)), None, "", "made")
    spec = replace(SPEC, costs=costs, feature_weighting="rarity", max_iterations=2)
    assert same(fit_in_parts(data, spec), fit_dataset(data, spec))


def test_new_rows_are_described_alike(shards: Path, whole: FittedModel) -> None:
    found = fit_in_parts(open_shards(shards), SPEC)
    rows = generate_ehr(20, seed=9, n_diagnoses=60, n_medications=64).tensor
    np.testing.assert_array_equal(found.transform(rows), whole.transform(rows))


def test_too_little_memory_is_said(shards: Path) -> None:
    with pytest.raises(SwiftError, match="memory"):
        fit_in_parts(open_shards(shards), SPEC, Means(memory=1))


def test_costs_of_very_many_features_are_refused_before_they_are_made() -> None:
    """Their squares count: 400 MB for the costs alone, and 600 MB with what is made of them."""
    rng = np.random.default_rng(1)
    places = np.column_stack([np.arange(ROWS), *rng.integers(0, 5_000, (2, ROWS))])
    tensor = SparseTensor.from_coordinates(places, np.ones(ROWS), shape=(ROWS, 5_000, 5_000))
    data = Dataset("wide", tensor, None, "", "made")
    held = psutil.Process().memory_info().rss
    tracemalloc.start()
    with pytest.raises(NotEnoughMemory, match="fewer features") as refused:
        fit_in_parts(data, SPEC, Means(int((held + 550 * 10**6) / KEPT_BACK), 1))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**8 and "600 MB needed" in str(refused.value)


def test_nobody_is_told_of_less_than_no_memory(shards: Path) -> None:
    with pytest.raises(NotEnoughMemory, match=", 0 MB to be had"):
        fit_in_parts(open_shards(shards), SPEC, Means(memory=1))


@pytest.mark.parametrize(
    "changes",
    [
        {"row_relation": "dense"},
        {"consensus": 2},
        {"feature_weighting": "outcome"},
        {"outcome_share": 0.5},
        {"costs": "random"},
        {"mode_costs": {"diagnosis": "one-minus-identity"}},
    ],
)
def test_what_needs_all_rows_is_named(changes: dict[str, object]) -> None:
    assert why_whole(replace(SPEC, **changes), ROWS)
    assert not why_whole(SPEC, ROWS)


def test_the_command_keeps_to_a_budget(shards: Path, whole: FittedModel, tmp_path: Path) -> None:
    asked = "--rank 3 --row-relation neighbourhoods --iterations 6 --restarts 1 --json --memory 1GB"
    command = [sys.executable, "-m", "swiftcore.cli", "fit", str(shards), *asked.split()]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "fit")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["model_digest"] == whole.digest
    assert told["workers"] == 1 and 0 < told["peak_memory_bytes"] <= 10**9
    lines = (tmp_path / "fit" / "memberships.csv").read_text().splitlines()
    assert len(lines) == ROWS + 1


def test_the_command_says_the_same_of_shards_and_of_one_file(shards: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "made.npz"
    write_bundle(open_shards(shards).to_dataset(), bundle)
    few = ["--rank", "4", "--iterations", "2", "--restarts", "1"]
    said = []
    for data in (shards, bundle):
        out = tmp_path / data.suffix[1:]
        assert main(["fit", str(data), *few, "--out", str(out)]) == 0
        said.append((out / "phenotypes.json").read_text())
    assert said[0] == said[1]


def test_settings_that_shards_cannot_follow_are_refused(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", str(shards), "--rank", "3", "--set", "top=20", "--out", str(tmp_path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "shards-settings" in said and "Leave out --set" in said


def test_a_fit_of_all_rows_within_the_budget_is_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = "fit heart_failure --rank 2 --iterations 2 --json"
    digests = []
    for more in ("", "--memory 1GB"):
        assert main([*asked.split(), *more.split(), "--out", str(tmp_path / f"out{more}")]) == 0
        said = capsys.readouterr()
        digests.append(json.loads(said.out)["model_digest"])
    assert digests[0] == digests[1]
    assert "this one takes all rows at once" in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("asked", "cure"),
    [
        ("--row-relation dense", "or fit in parts (--row-relation neighbourhoods)"),
        ("--row-relation dense --consensus 3", "MB, or use fewer rows."),
    ],
)
def test_a_fit_of_all_rows_beyond_the_budget_is_refused_with_a_cure(
    shards: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: str, cure: str
) -> None:
    few = ["--rank", "2", "--iterations", "2", "--memory", "500MB", "--out", str(tmp_path)]
    assert main(["fit", str(shards), *asked.split(), *few]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "memory-parts" in said and cure in said
    assert int(re.search(r"Give --memory (\d+)MB", said)[1]) > 500  # type: ignore[index]

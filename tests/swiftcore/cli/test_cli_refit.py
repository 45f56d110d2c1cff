"""swift refit: a result of swift fit with changes, without naming its data again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from support.evaluation_data import planted_patients

from swiftcore import FittedModel
from swiftcore.cli import main
from swiftcore.data.bundle import bundle_bytes


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and a fit of them with four phenotypes."""
    folder = tmp_path_factory.mktemp("refit")
    data = folder / "data.swift.npz"
    data.write_bytes(bundle_bytes(planted_patients(45)))
    words = f"fit {data} --rank 4 --iterations 15 --jobs 1 --out {folder / 'fit'}"
    assert main(words.split()) == 0
    return folder


def refitted(folder: Path, out: Path, *words: str, result: str = "fit") -> int:
    return main(["refit", str(folder / result), *words, "--jobs", "1", "--out", str(out)])


def test_every_change_is_made_and_told(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = "diagnosis=dx 8;medication=rx 5"
    code = refitted(
        fitted,
        tmp_path,
        *("--merge", "P02", "P03", "--drop", "P02:dx 0", "--drop", "P04:medication=rx 1"),
        *("--pin", "P01", "--split", "P04", "--seed-with", seed, "--json"),
    )
    assert code == 0
    told = json.loads(capsys.readouterr().out)
    assert told == told | json.loads((tmp_path / "phenotypes.json").read_text())
    kinds = [step["do"] for step in told["guidance"]["steps"]]
    assert kinds == ["merge", "split", "drop", "drop", "pin", "seed"]
    before, after = (FittedModel.load(place / "model.npz") for place in (fitted / "fit", tmp_path))
    assert after.spec.rank == 5 and after.guidance is not None
    for one, other in zip(before.factors[1:], after.factors[1:], strict=True):
        np.testing.assert_array_equal(one[:, 0], other[:, 0])
    assert after.factors[1][0, 1] == 0 and not after.factors[2][1, [2, 3]].any()
    assert refitted(tmp_path, tmp_path / "again", "--pin", "P01", result="") == 0  # and on from it


def test_what_was_made_to_predict_stays_marked_however_often_it_is_refitted(
    fitted: Path, tmp_path: Path
) -> None:
    """Refits have no label term, and the second knows its grandparent only by what is noted."""
    words = f"fit {fitted / 'data.swift.npz'} --rank 3 --iterations 5 --outcome-share 0.3"
    words += f" --feature-weighting none --out {tmp_path / 'one'}"
    assert main(words.split()) == 0
    assert refitted(tmp_path, tmp_path / "two", "--pin", "P01", result="one") == 0
    shutil.rmtree(tmp_path / "one")
    assert refitted(tmp_path, tmp_path / "three", "--split", "P02", result="two") == 0
    told = [
        json.loads((tmp_path / one / "phenotypes.json").read_text()) for one in ("two", "three")
    ]
    assert told[0]["settings"]["outcome_share"] == 0
    assert all(one["made_to_predict"].startswith("Made to predict") for one in told)
    assert refitted(fitted, tmp_path / "plain", "--pin", "P01") == 0
    one = json.loads((tmp_path / "plain" / "phenotypes.json").read_text())
    assert one["made_to_predict"] == "" and "by_outcome" not in one["guidance"]


def test_a_model_file_wants_its_data_named(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(fitted / "fit" / "model.npz", tmp_path / "alone.npz")
    assert refitted(tmp_path, tmp_path / "out", "--pin", "P01", result="alone.npz") == 2
    assert "--data DATA" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
    named = ("--pin", "P01", "--data", str(fitted / "data.swift.npz"))
    assert refitted(tmp_path, tmp_path / "out", *named, result="alone.npz") == 0


def test_everything_that_is_wrong_is_said_at_once(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refitted(fitted, tmp_path, "--drop", "dx 0", "--drop", "P02:") == 2
    assert capsys.readouterr().err.count("drop-text") == 2
    assert (
        refitted(fitted, tmp_path, "--pin", "P09", "--drop", "P01:dx", "--merge", "P1", "P01") == 2
    )
    said = capsys.readouterr().err
    for code in ("phenotype-unknown", "feature-unknown", "merge-itself"):
        assert code in said
    assert refitted(fitted, tmp_path) == 2
    assert "guidance-empty" in capsys.readouterr().err
    assert refitted(fitted, tmp_path, "--pin", "P01", result="nowhere") == 2
    assert "run-missing" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_of_the_dashboard_is_refitted_where_the_dashboard_finds_it(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dashboard.store.request import Request
    from dashboard.store.store import Store

    store = Store(tmp_path / "store")
    dataset = store.add_dataset(planted_patients(45))
    model = FittedModel.load(fitted / "fit" / "model.npz")
    request = Request("fit", dataset, model.spec.plain())
    parent = store.publish_run(request, {"model.npz": model.contents().to_bytes()}, 1.0, 1.0)
    code = main(
        f"refit {parent[:8]} --merge P01 P02 --data-dir {tmp_path / 'store'} "
        f"--out {tmp_path / 'out'} --jobs 1".split()
    )
    assert code == 0
    (child,) = [card for card in store.runs(kind="fit") if card.id != parent]
    assert child.id in "".join(capsys.readouterr().err.split())
    assert child.request.run == parent and store.fit(child.id).rank == 3
    assert main(f"refit {'f' * 32} --pin P01 --data-dir {tmp_path / 'store'} --out x".split()) == 2


def test_a_folder_is_brought_to_the_store_that_its_refit_goes_to(
    fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from dashboard.store.store import Store

    words = f"refit {fitted / 'fit'} --merge P01 P02 --jobs 1"
    assert main(words.split()) == 2  # nobody would see the result
    assert "no-place" in capsys.readouterr().err
    assert main(f"{words} --data-dir {tmp_path}".split()) == 0
    parent, child = sorted(
        Store(tmp_path).runs(kind="fit"), key=lambda card: -card.request.spec.rank
    )
    assert child.request.run == parent.id and parent.imported

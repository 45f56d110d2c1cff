"""What commands leave for programs: the spec, profiles by feature, memberships of new rows."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.tiny_store import tiny_dataset
from support.written_shards import write_shards

from swiftcore.cli import main
from swiftcore.data.bundle import write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.shards.reader import open_shards
from swiftcore.fitting import FittedModel
from swiftcore.spec import ModelSpec
from swiftcore.tensor import Mode, SparseTensor


def saved(dataset: Dataset, path: Path) -> Path:
    write_bundle(dataset, path)
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """30 x 8 x 6, with a feature that a spreadsheet would take for a formula."""
    tiny = tiny_dataset()
    rows, diagnoses, medications = tiny.tensor.modes
    modes = (rows, Mode("diagnosis", ("=1+1", *diagnoses.labels[1:])), medications)
    tensor = SparseTensor(modes, tiny.tensor.coordinates, tiny.tensor.values)
    made = Dataset("tiny", tensor, tiny.outcome, "fever", "Made by a test.")
    return saved(made, tmp_path_factory.mktemp("data") / "tiny.swift.npz")


@pytest.fixture(scope="module")
def fitted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a fit of a signed method, whose factors have values below 0."""
    out = tmp_path_factory.mktemp("fit") / "run"
    words = f"fit {data} --method cp_als --rank 5 --iterations 9 --seed 4 --out {out}"
    assert main(words.split()) == 0
    return out


def read(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_fit_guided_by_the_outcome_says_so(
    data: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"fit {data} --rank 2 --iterations 2 --feature-weighting outcome --out {tmp_path}"
    assert main(words.split()) == 0
    told = json.loads((tmp_path / "phenotypes.json").read_text())["made_to_predict"]
    assert told.startswith("Made to predict fever:")
    assert told in capsys.readouterr().err.replace("\n", " ")
    assert json.loads((fitted / "phenotypes.json").read_text())["made_to_predict"] == ""


def test_profiles_are_shares_of_each_mode_in_the_order_of_the_data(fitted: Path) -> None:
    head, *lines = read(fitted / "profiles.csv")
    told = json.loads((fitted / "phenotypes.json").read_text())
    assert head == ["mode", "feature", *sorted(one["id"] for one in told["phenotypes"])]
    model = FittedModel.load(fitted / "model.npz")
    named = [(mode.name, label) for mode in model.modes[1:] for label in mode.labels]
    assert [(mode, feature.removeprefix("'")) for mode, feature, *_ in lines] == named
    assert lines[0][1] == "'=1+1"
    values = np.array([line[2:] for line in lines], dtype=np.float64)
    assert (values >= 0).all() and min(factor.min() for factor in model.factors[1:]) < 0
    for mode in ("diagnosis", "medication"):
        own = values[[line[0] == mode for line in lines]]
        np.testing.assert_allclose(own.sum(axis=0), 1, rtol=1e-12)


def test_the_summary_says_what_a_program_asks_first(fitted: Path) -> None:
    told = json.loads((fitted / "phenotypes.json").read_text())
    assert told["from_store"] is False and told["run"] is None
    for one in told["phenotypes"]:
        assert one["name"] and one["found_in"] == {"fits": 1, "of": 1} and one["share"] > 0
        assert set(one["items"]) == {"diagnosis", "medication"}


def test_the_written_spec_fits_the_same_again_and_flags_go_before_it(
    data: Path, fitted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = ModelSpec.from_json(json.loads((fitted / "spec.json").read_text()))
    assert (spec.method, spec.rank, spec.seed) == ("cp_als", 5, 4)
    words = f"fit {data} --spec {fitted / 'spec.json'} --out {tmp_path / 'again'}"
    assert main(words.split()) == 0
    one, again = (folder / "memberships.csv" for folder in (fitted, tmp_path / "again"))
    assert one.read_bytes() == again.read_bytes()
    words = f"fit {data} --spec {fitted / 'spec.json'} --rank 2 --json --out {tmp_path / 'two'}"
    capsys.readouterr()
    assert main(words.split()) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert (settings["rank"], settings["method"], settings["seed"]) == (2, "cp_als", 4)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"sharpness": 2}', "rank-missing"),
        ('{"rank": 0, "sharpness": -1}', "setting-sharpness"),
        ('{"rank": 3, "sharpnes": 2}', "setting-unknown"),
        ('{"rank": 3, "version": 99}', "spec-file"),
        ("[1, 2]", "spec-file"),
        ("rank: 3", "spec-file"),
    ],
)
def test_a_spec_that_is_none_is_refused_in_words(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, code: str
) -> None:
    (tmp_path / "spec.json").write_text(content)
    words = f"fit {data} --spec {tmp_path / 'spec.json'} --out {tmp_path / 'out'}"
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert code in said and "Traceback" not in said
    assert not (tmp_path / "out").exists()


def test_a_result_needs_a_place(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(f"fit {data} --rank 2".split()) == 2
    assert main(f"evaluate {data}".split()) == 2
    assert capsys.readouterr().err.count("no-place") == 2


def new_rows() -> Dataset:
    """Three rows of the same kind, one with an unknown feature besides, and one of unknowns."""
    modes = (
        Mode("patient", ("a", "b", "c", "=stranger")),
        Mode("medication", ("medication 3", "medication 1", "new drug")),
        Mode("diagnosis", ("diagnosis 4", "diagnosis 2")),
    )
    places = [[0, 0, 0], [1, 1, 1], [1, 2, 0], [2, 0, 1], [3, 2, 1]]
    tensor = SparseTensor.from_coordinates(places, np.arange(1.0, 6.0), modes=modes)
    return Dataset("new", tensor, None, "", "Made by a test.")


def test_new_rows_are_described_by_the_model(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = tmp_path / "run", tmp_path / "new"
    words = f"fit {data} --rank 3 --iterations 9 --row-mass equal --entry-values presence"
    assert main([*words.split(), "--out", str(run)]) == 0
    capsys.readouterr()
    rows = saved(new_rows(), tmp_path / "new.swift.npz")
    assert main(f"project {run} {rows} --json --out {out}".split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == json.loads((out / "projection.json").read_text())
    assert told["unknown_features"] == {"medication": ["new drug"]}
    assert told["entries_left_out"] == 2 and told["rows"] == 4
    assert told["rows_without_known_features"] == ["=stranger"]
    head, *lines = read(out / "memberships.csv")
    ids = ["P01", "P02", "P03"]
    assert head == ["patient", *ids, *(f"{one} share" for one in ids)]
    assert [line[0] for line in lines] == ["a", "b", "c", "'=stranger"]
    values = np.array([line[1:] for line in lines], dtype=np.float64)
    np.testing.assert_allclose(values[:3, 3:].sum(axis=1), 1)
    assert not values[3].any()
    model = FittedModel.load(run / "model.npz")  # by hand, in the model's order of modes
    alone = SparseTensor.from_coordinates([[0, 4, 3]], [7.0], modes=model.modes).select(0, [0])
    np.testing.assert_allclose(values[0, :3], model.transform(alone)[0], rtol=1e-6, atol=1e-12)
    assert main(f"project {run / 'model.npz'} {rows} --out {out}".split()) == 0
    assert "new drug" in capsys.readouterr().out


def test_new_rows_in_shards_are_described_as_those_of_one_file(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where all that a shard holds is unknown to the model."""
    run, new = tmp_path / "run", new_rows()
    assert main(f"fit {data} --rank 3 --iterations 9 --out {run}".split()) == 0
    rows = saved(new, tmp_path / "new.swift.npz")
    write_shards(new, tmp_path / "new.swift", 3)
    assert len(open_shards(tmp_path / "new.swift").manifest.shards) == 2
    capsys.readouterr()
    for given, out in ((rows, "one"), (tmp_path / "new.swift", "parts")):
        assert main(f"project {run} {given} --out {tmp_path / out}".split()) == 0
    for file in ("memberships.csv", "projection.json"):
        one, parts = (tmp_path / out / file for out in ("one", "parts"))
        assert one.read_bytes() == parts.read_bytes()
    strangers = replace(new, tensor=new.tensor.select(0, [3]))
    write_shards(strangers, tmp_path / "strangers.swift", 3)
    capsys.readouterr()
    assert main(f"project {run} {tmp_path / 'strangers.swift'} --out {tmp_path / 'x'}".split()) == 2
    assert "share no feature" in capsys.readouterr().err
    assert not list(tmp_path.glob("x/*.csv"))


def event_table(path: Path, patients: range, outcome: str) -> Path:
    """Some lines stand there twice, so that it matters whether entries are counted."""
    lines = ["patient,diagnosis,medication,outcome"]
    for n in patients:
        lines += [f"p{n},diagnosis {n % 4},medication {n % 3},{outcome or n % 2}"] * (1 + n % 3)
        lines += [f"p{n},diagnosis {(n + 1) % 4},medication {n % 3},{outcome or n % 2}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_new_rows_are_read_as_the_data_of_the_fit_and_need_no_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, run = event_table(tmp_path / "known.csv", range(60), ""), tmp_path / "run"
    fit = f"fit {known} --rank 2 --iterations 9 --entry-values counts --out {run}"
    fit += " --set values=binary --set min_support=5"
    assert main([*fit.split(), "--row-mass", "as recorded"]) == 0
    one = event_table(tmp_path / "one.csv", range(5, 6), "no")  # a single patient, without it
    several = event_table(tmp_path / "several.csv", range(12), "no")
    capsys.readouterr()
    for rows in (one, several):
        assert main(f"project {run} {rows} --out {tmp_path / rows.stem}".split()) == 0
        assert "values=binary" in capsys.readouterr().err
    plain = f"project {run} {one} --set values=count --out {tmp_path / 'counted'}"
    assert main(plain.split()) == 0
    together = membership(tmp_path / "several", "p5")
    np.testing.assert_allclose(membership(tmp_path / "one", "p5"), together, rtol=1e-9)
    assert membership(tmp_path / "counted", "p5").sum() > 1.1 * together.sum()


def membership(folder: Path, row: str) -> np.ndarray:
    (found,) = [line for line in read(folder / "memberships.csv") if line[0] == row]
    return np.array(found[1:], dtype=np.float64)


def test_new_rows_are_described_by_a_run_of_the_store(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit = f"fit {data} --rank 2 --iterations 5 --json --out {tmp_path / 'run'}"
    assert main([*fit.split(), "--data-dir", str(tmp_path / "home")]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    rows = saved(new_rows(), tmp_path / "new.swift.npz")
    asked = f"project {run[:8]} {rows} --data-dir {tmp_path / 'home'} --out {tmp_path / 'stored'}"
    assert main(asked.split()) == 0
    assert main(f"project {tmp_path / 'run'} {rows} --out {tmp_path / 'beside'}".split()) == 0
    one, other = (tmp_path / out / "memberships.csv" for out in ("stored", "beside"))
    assert one.read_bytes() == other.read_bytes()
    capsys.readouterr()
    assert main(f"project {run[:8]} {rows} --out {tmp_path / 'x'}".split()) == 2
    assert "a run with --data-dir" in capsys.readouterr().err


def test_strangers_are_told_of(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"fit {data} --rank 2 --iterations 5 --out {tmp_path / 'run'}".split()) == 0
    table = tmp_path / "strangers.csv"
    table.write_text(
        "patient,medication,diagnosis\na,medication 3,diagnosis 4\n"
        "b,new drug,diagnosis 2\nc,new drug,diagnosis 2\n"
    )
    capsys.readouterr()
    assert main(f"project {tmp_path / 'run'} {table} --out {tmp_path / 'x'}".split()) == 0
    assert "That is most of them" in capsys.readouterr().out


def test_a_model_that_is_none_is_refused(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(f"project {tmp_path} {data} --out {tmp_path / 'x'}".split()) == 2
    assert main(f"project {data} {data} --out {tmp_path / 'x'}".split()) == 2
    said = capsys.readouterr().err
    assert "model-missing" in said and "model-file" in said and not (tmp_path / "x").exists()

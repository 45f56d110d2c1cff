"""``swift fit --cost``: files, hierarchies and blends from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from swiftcore.cli import main
from swiftcore.cost.outside.table_folder import read_tables
from swiftcore.fitting import FittedModel
from swiftcore.model_file import load_model

EVENTS = "patient,diagnosis,medication\n" + "".join(
    f"p{row},{dx} made up,{rx}\n"
    for row in range(24)
    for dx, rx in zip(
        ("428.0", "427.31", "486", "493.9")[row % 3 :], ("diuretic", "steroid") * 2, strict=False
    )
)


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(EVENTS)
    return path


def fit(events: Path, *costs: str) -> int:
    flags = [word for cost in costs for word in ("--cost", cost)]
    out = str(events.parent / "out")
    usual = ["--rank", "2", "--iterations", "3", "--jobs", "1", "--out", out]
    return main(["fit", str(events), *usual, *flags])


def spec_of(events: Path) -> dict[str, str]:
    return dict(FittedModel.load(events.parent / "out" / "model.npz").spec.mode_costs)


def test_a_hierarchy_for_one_mode(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(events, "diagnosis=icd", "medication=none") == 0
    assert spec_of(events) == {"diagnosis": "icd", "medication": "none"}
    first, second = load_model(events.parent / "out" / "model.npz").feature_costs_
    assert second is None and 0 < first[0, 1] < 1
    assert "does not know" not in capsys.readouterr().err


def test_a_second_cost_for_a_mode_is_refused(
    events: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(events, "diagnosis=icd", "medication=none", "diagnosis=ccs") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "(--cost diagnosis): found 'icd' and 'ccs'" in said
    words = f"fit {events} --rank 2 --method cp_continuous --option floor=1 --option floor=2"
    assert main([*words.split(), "--out", str(events.parent / "out")]) == 2
    assert "(--option floor): found '1.0' and '2'" in " ".join(capsys.readouterr().err.split())


def test_a_file_in_a_blend_is_kept_beside_the_model(
    events: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(events.parent)
    Path("mine.csv").write_text("a,b,distance\n428.0,427.31,1\n428.0,486,4\n486,427.31,4\n")
    assert fit(events, "diagnosis=0.5*mine.csv+0.5*cosine") == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "mine.csv holds distances between features: 3 labels" in said
    assert "mine.csv does not know 1 of 4 in diagnosis: 493.9 made up." in said
    (table,) = read_tables(Path("out/costs"))
    assert spec_of(events) == {"diagnosis": f"0.5*{table.text}+0.5*cosine"}


def test_a_file_whose_name_looks_like_a_blend(events: Path) -> None:
    odd = events.parent / "0.5*a+b.txt"
    odd.write_text("2 2\ndiuretic 1 0\nsteroid 0.5 1\n")
    assert fit(events, f"medication={odd}") == 0
    assert read_tables(events.parent / "out" / "costs")[0].kind == "vectors"


@pytest.mark.parametrize(
    ("cost", "said"),
    [
        ("diagnosis=nothing.csv", "no such cost and no such file"),
        ("diagnosis=0.5*icd+0.6*cosine", "weights that add up to 1.1"),
        ("disease=icd", "Choose from patient, diagnosis, medication"),
        ("medication=atc", "none of its 2 features"),
        ("diagnosis", "Write MODE=COST"),
        ("diagnosis=bad.csv", "cost-cycle"),
    ],
)
def test_a_wrong_cost_is_refused_in_words(
    cost: str,
    said: str,
    events: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(events.parent)
    Path("bad.csv").write_text("child,parent\na,b\nb,a\n")
    assert fit(events, cost) == 2
    answer = " ".join(capsys.readouterr().err.split())
    assert said in answer and "Traceback" not in answer

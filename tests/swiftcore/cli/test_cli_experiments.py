"""The evidence commands as a person uses them: results in files, Ctrl-C, going on."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from swiftcore.cli import main
from swiftcore.cli.experiment_tables import experiment_tables, interval, number
from swiftcore.cli.progress_log import ProgressLog
from swiftcore.evaluation.experiments.result import Experiment, ExperimentProgress
from swiftcore.evaluation.experiments.trial import Trial, run_trial
from swiftcore.evaluation.methods import classifiers
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.protocol.scores import compare_with, summarise


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A table of 90 patients whose outcome goes with one of three groups of features."""
    rng = np.random.default_rng(0)
    lines = ["patient,diagnosis,medication,outcome"]
    for row in range(90):
        group = row % 3
        ill = int(rng.random() < (0.9 if group == 2 else 0.1))
        for _ in range(6):
            lines.append(f"{row},d{group}{rng.integers(3)},m{group}{rng.integers(2)},{ill}")
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines))
    return path


def test_without_ours_nothing_is_compared_and_no_column_says_so() -> None:
    scores = pd.DataFrame(
        [
            (method, "factorization", 3, 0, 0, fold, 0.5 + 0.1 * fold)
            for method in ("cp_als", "cp_nmu")
            for fold in range(3)
        ],
        columns=["method", "kind", "rank", "subset", "repeat", "fold", "score"],
    )
    summary, none = summarise(scores, 1 / 3), compare_with(scores, "swift", 1 / 3)
    tables = {"scores": scores, "summary": summary, "comparison": none}
    (table,) = experiment_tables(Experiment("evaluation", {"metric_title": "PR-AUC"}, tables))
    assert table.headings == ("method", "mean", "SD", "n")
    assert [line[:2] for line in table.lines] == [("CP-ALS", "0.600"), ("CP-NMU", "0.600")]
    assert {len(line) for line in table.lines} == {4}


def test_a_difference_of_nothing_has_no_minus() -> None:
    assert number(-1e-17) == "0.000"
    assert interval(-1e-17, 0.002) == "+0.000 to +0.002"
    assert interval(-0.002, None) == number(float("nan")) == ""


@pytest.mark.parametrize("command", ["evaluate", "noise", "ablate", "stability", "ranks"])
def test_help_names_the_methods_that_an_experiment_takes(
    command: str, events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    named = re.search(r"METHOD \[METHOD \.\.\.\] of ([a-z_, ]+?) --ranks", shown)[1].split(", ")
    assert "swift" in named and set(named) <= set(CATALOGUE)
    assert ("lasso_indicators" in named) == (command in ("evaluate", "noise"))
    for other in sorted(set(CATALOGUE) - set(named))[:1]:
        words = f"{command} {events} --ranks 3 --methods {other} --out {tmp_path / 'out'}"
        assert main(words.split()) == 2
        assert "method-unfit" in capsys.readouterr().err


def test_evaluate_writes_json_csv_and_a_page(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = f"evaluate {events} --ranks 3 --folds 3 --quick --methods swift cp_als --out {out}"
    assert main(words.split()) == 0
    shown = capsys.readouterr().out
    assert "SWIFT" in shown and "CP-ALS" in shown
    stored = json.loads((out / "evaluation.json").read_text())
    assert stored["about"]["data"]["shape"] == [90, 9, 6]
    assert (out / "evaluation_scores.csv").read_text().startswith("method,kind,rank")
    page = (out / "evaluation.html").read_text()
    assert "SWIFT minus other methods" in page
    without_plotly = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "http" not in without_plotly and "<script src" not in page


def test_tables_have_spread_and_intervals_and_no_nan(
    events: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(classifiers._MAKERS, "knn", lambda *_: None)  # fails in every fold
    out, spec = tmp_path / "out", tmp_path / "spec.json"
    spec.write_text('{"rank": 2, "sharpness": 5, "max_iterations": 5, "method": "cp_als"}')
    words = f"evaluate {events} --folds 3 --quick --methods lasso_indicators knn_indicators"
    assert main([*words.split(), "--spec", str(spec), "--out", str(out)]) == 0
    shown = capsys.readouterr()
    assert "nan" not in shown.out.lower() and "CP-ALS (the given" in shown.out
    assert "CP-ALS ahead by" in shown.out and " to +" in shown.out and "SD" in shown.out
    line = next(one for one in shown.out.splitlines() if "k-nearest" in one)
    assert [cell.strip() for cell in line.split("│")[2:-1]] == ["", "", "0", "", ""]
    said = " ".join(shown.err.split())
    assert "failed 3 times" in said and "is the given spec (R = 2, sharpness 5" in said
    log = (out / "progress.log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\S* ", one) for one in log)
    assert sum(" failed: " in one for one in log) == 6 and log[-1].endswith(" done")
    assert "18/18 k-nearest neighbours on indicators, fold 3" in said  # no terminal: lines


def test_progress_is_in_the_file_while_it_runs(tmp_path: Path) -> None:
    screen = Console(file=io.StringIO(), force_terminal=False)
    with ProgressLog(tmp_path / "new" / "progress.log", screen) as log:
        for done in range(1, 101):
            log(ExperimentProgress(done, 100, f"part {done}", 1.0, 2.0))
            lines = (tmp_path / "new" / "progress.log").read_text().splitlines()
            assert len(lines) == done and lines[-1].endswith(f"part {done}; 2 s left")
    assert len(screen.file.getvalue().splitlines()) == 21  # the first, then every twentieth
    with ProgressLog(tmp_path / "new" / "progress.log", screen) as log:
        log.note("taken up\nagain")
    assert len((tmp_path / "new" / "progress.log").read_text().splitlines()) == 101


def test_noise_ablation_and_stability_print_their_comparison() -> None:
    scores = pd.DataFrame(
        [
            (method, "factorization", 3, level, 0, 0, 0, fold, 0.5 + 0.1 * (method == "swift"))
            for method in ("swift", "cp_als")
            for level in (0.0, 0.1)
            for fold in range(3)
        ],
        columns=["method", "kind", "rank", "level", "draw", "subset", "repeat", "fold", "score"],
    )
    survival = pd.DataFrame({"rank": [3], "phenotype": ["P01"], "level": [0.1], "cosine": [0.9]})
    noise = Experiment(
        "noise",
        {"metric_title": "PR-AUC"},
        {
            "scores": scores,
            "survival": survival,
            "summary": summarise(scores, 1 / 3, within=["level"]),
            "comparison": compare_with(scores, "swift", 1 / 3, within=["level"]),
        },
    )
    first, clean, noisy = experiment_tables(noise)
    assert first.lines == (("10%", "0.900", "", "100%"),)
    assert clean.title == "PR-AUC, 0% false entries, 3 components"
    assert noisy.lines[0][:4] == ("SWIFT", "0.600", "0.000", "3") and noisy.lines[0][4:] == ("", "")
    assert noisy.lines[1][4:] == ("+0.100", "+0.100 to +0.100")
    matches = pd.DataFrame(
        [
            (method, 2, phenotype, against, run, 0.9 if method == "swift" or run else 0.1)
            for method in ("swift", "cp_als")
            for phenotype in ("P01", "P02")
            for against in ("seed", "fold")
            for run in range(3)
        ],
        columns=["method", "rank", "phenotype", "against", "run", "cosine"],
    )
    summary = pd.DataFrame(
        {
            "phenotype": ["P01"],
            "seeds": 1.0,
            "folds": 1.0,
            "cosine": 0.9,
            "method": "swift",
            "rank": 2,
        }
    )
    seeds, rows, *_ = experiment_tables(
        Experiment("stability", {}, {"matches": matches, "summary": summary})
    )
    assert [line[1] for line in seeds.lines] == ["1.000", "0.667"]
    assert seeds.lines[1][4] == "+0.333" == rows.lines[1][4]
    assert rows.lines[1][5] != seeds.lines[1][5]  # parts of the rows overlap: a wider interval


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ablate", "stability", "noise"])
def test_the_other_experiments_write_theirs(events: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    words = f"{command} {events} --ranks 3 --folds 3 --quick --methods swift --out {out}"
    more = " --levels 0.2 --draws 1" if command == "noise" else ""
    assert main((words + more).split()) == 0
    kind = {"ablate": "ablation"}.get(command, command)
    assert (out / f"{kind}.json").is_file() and (out / f"{kind}.html").is_file()


@pytest.mark.parametrize("place", ["--out", "--data-dir"])
def test_ranks_are_tried_with_a_given_spec(
    place: str, events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text('{"rank": 4, "sharpness": 5, "max_iterations": 3, "consensus": 2}')
    words = f"ranks {events} --ranks 2 {place} {tmp_path / 'out'} --restarts 1"
    assert main([*words.split(), "--spec", str(spec)]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "Take 2 phenotypes" in said
    assert "Each number is tried with 6 fits, not the 2 of the given spec." in said


def test_neighbours_cope_with_few_rows(events: Path, tmp_path: Path) -> None:
    few = tmp_path / "few.csv"
    lines = events.read_text().splitlines()
    few.write_text("\n".join(lines[: 1 + 36 * 6]))  # 36 patients: fewer than k-NN would ask
    out = tmp_path / "out"
    words = f"evaluate {few} --folds 3 --quick --methods knn_indicators knn_unfolded --out {out}"
    assert main(words.split()) == 0
    stored = json.loads((out / "evaluation.json").read_text())
    assert len(stored["tables"]["scores"]["score"]) == 6


def test_ctrl_c_twice_leaves_without_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("swiftcore.cli.experiments.run_experiment", interrupted)
    assert main(["evaluate", "heart_failure", "--out", str(tmp_path)]) == 130
    assert "Left at once" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_keeps_finished_parts_and_a_second_run_goes_on(
    events: Path, tmp_path: Path, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    words = f"evaluate {events} --ranks 2 3 --folds 3 --quick --methods swift --out {out}"
    words += f" --jobs {jobs}"
    command = [sys.executable, "-m", "swiftcore.cli", *words.split()]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    limit = time.monotonic() + 120
    while time.monotonic() < limit and len(list(out.glob("parts/*.json"))) < 3:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 130 and b"goes on where it was stopped" in said
    assert b"Traceback" not in said
    kept = {path.name: path.stat().st_mtime_ns for path in out.glob("parts/*.json")}
    assert len(kept) >= 3 and not (out / "evaluation.json").exists()
    computed: list[Trial] = []

    def noted(*arguments: Any) -> dict[str, Any]:
        computed.append(arguments[-1])
        return run_trial(*arguments)

    monkeypatch.setattr("swiftcore.evaluation.experiments.cross_validation.run_trial", noted)
    assert main(words.replace("--jobs 2", "--jobs 1").split()) == 0
    now = {path.name: path.stat().st_mtime_ns for path in out.glob("parts/*.json")}
    assert all(now[name] == kept[name] for name in kept)
    assert len(computed) == len(now) - len(kept) > 0


def test_mistakes_are_answered_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("patient,diagnosis,medication\n1,a,x\n2,b,y\n")
    assert main(["evaluate", str(path), "--quick", "--out", str(tmp_path / "out")]) == 2
    assert "no-outcome" in capsys.readouterr().err
    wrong = ["evaluate", str(path), "--methods", "magic", "swift", "hocus", "--ranks", "0"]
    assert main([*wrong, "--out", "x"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "found 'magic', 'hocus'. Choose from swift," in told and "Every rank is" in told

"""The evidence commands as a person uses them: results in files, Ctrl-C, going on."""

from __future__ import annotations

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
import pytest

from swiftcore.cli import main
from swiftcore.evaluation.experiments.trial import Trial, run_trial


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


@pytest.mark.slow
@pytest.mark.parametrize("command", ["ablate", "stability", "noise"])
def test_the_other_experiments_write_theirs(events: Path, tmp_path: Path, command: str) -> None:
    out = tmp_path / "out"
    words = f"{command} {events} --ranks 3 --folds 3 --quick --methods swift --out {out}"
    more = " --levels 0.2 --draws 1" if command == "noise" else ""
    assert main((words + more).split()) == 0
    kind = {"ablate": "ablation"}.get(command, command)
    assert (out / f"{kind}.json").is_file() and (out / f"{kind}.html").is_file()


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
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("swiftcore.cli.experiments.run_experiment", interrupted)
    assert main(["evaluate", "heart_failure", "--out", "x"]) == 130
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

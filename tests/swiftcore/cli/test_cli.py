"""The swift command as a person uses it: files in, files out, mistakes answered in words."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from swiftcore.cli import ALL, MODULES, fit, main
from swiftcore.data.samples import sample_folder
from swiftcore.model_file import load_model
from swiftcore.progress import FitProgress


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """A small coordinate file, 40 x 12 x 10."""
    rng = np.random.default_rng(0)
    coordinates = rng.integers(0, [40, 12, 10], size=(400, 3))
    path = tmp_path / "small.npz"
    np.savez(path, coordinates=coordinates, values=np.ones(400), shape=[40, 12, 10])
    return path


def test_fit_writes_model_phenotypes_and_history(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = f"fit {events} --rank 3 --iterations 7 --jobs 1 --tolerance 0 --json --out {out}"
    code = main(words.split())
    assert code == 0
    printed = json.loads(capsys.readouterr().out)
    stored = json.loads((out / "phenotypes.json").read_text())
    assert printed == printed | stored
    took = {name: printed[name] for name in printed if name not in stored}
    assert set(took) == {"seconds", "cpu_seconds", "peak_memory_bytes", "workers"}
    assert min(took.values()) > 0
    model = load_model(out / "model.npz")
    assert model.n_iterations_ == printed["iterations"] == 7
    assert [phenotype["id"] for phenotype in printed["phenotypes"]] != []
    assert sum(phenotype["share"] for phenotype in printed["phenotypes"]) == pytest.approx(1)
    assert len((out / "history.csv").read_text().splitlines()) == 1 + 8


def test_the_seed_reaches_the_fit(events: Path, tmp_path: Path) -> None:
    """That one seed means one result is a contract of every method."""
    factors = []
    for seed in ("1", "2"):
        main(f"fit {events} --rank 3 --iterations 3 --seed {seed} --out {tmp_path / seed}".split())
        factors.append(load_model(tmp_path / seed / "model.npz").factors_[1])
    assert not np.array_equal(*factors)


def test_table_names_every_phenotype(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fit", str(events), "--rank", "2", "--iterations", "2", "--out", str(tmp_path / "r")])
    shown = capsys.readouterr().out
    assert "P01" in shown and "P02" in shown


def test_signs_are_printed(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(f"fit {events} --method cp_als --rank 3 --out {tmp_path / 'r'}".split())
    said = capsys.readouterr().out
    assert "CP-ALS, rank 3" in said
    assert re.search(r"\+\d+% ", said) and re.search(r"-\d+% ", said)


def test_flags_that_change_nothing_are_named(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fit_of = f"fit {events} --rank 2 --iterations 2 --jobs 1 --out {tmp_path / 'out'}"
    cost = ("--cost", "mode 2=none")
    idle = "--sharpness 5 --row-relation none --outcome-power 2"
    assert main([*f"{fit_of} --method cp_als --json {idle}".split(), *cost]) == 0
    shown = capsys.readouterr()
    said = " ".join(shown.err.split())
    assert (
        "Without effect here: --sharpness, --row-relation, --cost (CP-ALS has no use for this); "
        "--outcome-power (no feature is weighed by the outcome)." in said
    )
    assert "mass moves" not in said.lower() and json.loads(shown.out)["row_relation_why"] == ""
    main(f"{fit_of} --consensus-rows 0.5".split())
    said = " ".join(capsys.readouterr().err.split())
    assert "Without effect here: --consensus-rows (there is one fit, without --consensus)." in said
    assert "Mass moves between any two rows" in said
    main([*f"{fit_of} --sharpness 5 --consensus 2 --consensus-rows 0.5".split(), *cost])
    assert "Without effect" not in capsys.readouterr().err


def test_all_wrong_settings_are_named_at_once(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["fit", str(events), "--rank", "0", "--sharpness", "-1", "--out", str(tmp_path)])
    said = capsys.readouterr().err
    assert code == 2
    assert "setting-rank" in said and "setting-sharpness" in said and "Traceback" not in said


def test_reading_tables_loads_no_compiler() -> None:
    program = (
        "import sys; from swiftcore.cli import main; code = main(sys.argv[1:]); "
        "sys.exit(code or ' '.join({'numba', 'sklearn'} & set(sys.modules)) or 0)"
    )
    words = ["data", "inspect", str(sample_folder("heart_failure"))]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_command_is_listed_and_found_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^    (\w+)(?:  |$)", capsys.readouterr().out, re.MULTILINE)
    assert set(listed) == {*ALL, "dashboard"}
    assert sum(map(len, MODULES.values())) == len(ALL)
    for name in ALL:
        with pytest.raises(SystemExit) as left:
            main([name, "--help"])
        assert left.value.code == 0
        assert f"usage: swift {name}" in capsys.readouterr().out


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["fit", str(tmp_path / "none.csv"), "--rank", "2", "--out", str(tmp_path / "r")])
    assert code == 2
    assert "path-missing" in capsys.readouterr().err
    assert not list((tmp_path / "r").iterdir())


def test_inspect_and_build_then_fit_the_bundle(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "inspect", str(events)]) == 0
    assert "40" in capsys.readouterr().out
    bundle = tmp_path / "small.bundle"
    assert main(["data", "build", str(events), "--out", str(bundle)]) == 0
    assert "SHA-256" in capsys.readouterr().out
    assert main(f"fit {bundle} --rank 2 --iterations 1 --out {tmp_path / 'b'}".split()) == 0


@pytest.mark.slow
def test_ctrl_c_keeps_the_last_full_iteration(events: Path, tmp_path: Path) -> None:
    out = tmp_path / "stopped"
    words = f"fit {events} --rank 10 --iterations 100000 --tolerance 0 --out {out}".split()
    process = subprocess.Popen(
        [sys.executable, "-m", "swiftcore.cli", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200", "FORCE_COLOR": "1"},  # as on a terminal
    )
    assert process.stderr is not None
    seen, limit = b"", time.monotonic() + 60
    while not re.search(rb"iteration [1-9]", seen):  # the first iterations are through
        part = os.read(process.stderr.fileno(), 4096)
        seen += part
        assert part and time.monotonic() < limit, seen.decode()
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=60)
    assert process.returncode == 0, (seen + rest).decode()
    model = load_model(out / "model.npz")
    assert model.outcome_.name == "STOPPED"
    assert 0 < model.n_iterations_ < 100000
    assert model.objective_ == model.history_[-1].objective < model.history_[0].objective


def test_the_same_command_goes_on_after_ctrl_c(
    events: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = f"fit {events} --rank 3 --iterations 9 --tolerance 0 --jobs 1 --json --out".split()
    whole, out = tmp_path / "whole", tmp_path / "run"
    assert main([*words, str(whole)]) == 0
    real = fit._FitLine.__call__

    def interrupted(self: fit._FitLine, progress: FitProgress) -> bool:
        if progress.iteration == 4:
            signal.raise_signal(signal.SIGINT)
        return real(self, progress)

    with monkeypatch.context() as patch:
        patch.setattr(fit._FitLine, "__call__", interrupted)
        assert main([*words, str(out)]) == 0
    assert "The same command goes on from here." in capsys.readouterr().err
    assert load_model(out / "model.npz").n_iterations_ == 4
    assert main([*words, str(out)]) == 0
    said = capsys.readouterr().err
    assert "Going on after iteration 4" in said and "with more --iterations goes on" in said
    for name in ("phenotypes.json", "memberships.csv"):
        assert (out / name).read_bytes() == (whole / name).read_bytes()
    words[words.index("9")], words[words.index("--tolerance") + 1] = "5000", "0.001"
    assert main([*words, str(out)]) == 0  # another tolerance is another fit
    assert "Going on" not in capsys.readouterr().err
    assert sorted(path.name for path in out.iterdir()) == sorted(fit.RESULTS)  # converged


def test_a_consensus_says_in_how_many_fits_each_phenotype_is(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"fit {events} --rank 2 --consensus 3 --jobs 2 --out {tmp_path / 'c'}".split()
    assert main(words) == 0
    said = capsys.readouterr()
    assert "fits" in said.out and "3 of 3" in said.out
    found = json.loads((tmp_path / "c" / "phenotypes.json").read_text())
    assert [each["found_in"] for each in found["phenotypes"]] == 2 * [{"fits": 3, "of": 3}]
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == sorted(fit.RESULTS)


def test_the_dashboard_takes_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["dashboard", "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(option in shown for option in ("--port", "--data-dir", "--no-browser"))
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "dashboard" in capsys.readouterr().out

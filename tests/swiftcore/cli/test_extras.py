"""Without the optional packages the commands say what is missing, and do what they can."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from swiftcore.cli import extras, main

PROJECT = Path(__file__).parents[3] / "pyproject.toml"


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """As if these packages were not installed."""

    def find(name: str) -> object:
        return None if name in names else object()

    monkeypatch.setattr(extras, "find_spec", find)
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)


def test_the_dashboard_is_refused_with_a_cure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    without(monkeypatch, "streamlit", "plotly")
    assert main(["dashboard", "--no-browser"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "dashboard-missing The dashboard is not installed (swift dashboard)" in said
    assert "found no package plotly, streamlit" in said
    assert 'pip install "swift-phenotyping[dashboard]"' in said


def test_the_dashboard_does_not_wait_for_the_compiler() -> None:
    code = (
        "import sys\nfrom swiftcore.cli import main\n"
        "try: main(['dashboard', '--help'])\n"
        "finally: print({'numba', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "--port" in done.stdout and done.stdout.strip().endswith("set()"), done.stderr


def test_an_evaluation_without_plotly_has_all_but_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    without(monkeypatch, "plotly")
    table = tmp_path / "events.csv"
    rows = [f"{row},d{row % 3},m{row % 2},{row % 3 % 2}" for row in range(24)]
    table.write_text("\n".join(["patient,diagnosis,medication,outcome", *rows]))
    out = tmp_path / "out"
    words = f"evaluate {table} --folds 3 --quick --methods knn_indicators --out {out}"
    assert main(words.split()) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert 'For a page with charts: pip install "swift-phenotyping[charts]"' in said
    written = {path.name for path in out.iterdir()}
    assert {"evaluation.json", "evaluation_scores.csv"} <= written
    assert "evaluation.html" not in written


def import_name(wanted: str) -> str:
    return re.split(r"[<>=\[]", wanted)[0].replace("-", "_")


@pytest.mark.parametrize("extra", extras.EXTRAS)
def test_extras_are_those_of_the_project(extra: str) -> None:
    offered = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]

    def packages(name: str) -> set[str]:
        found: set[str] = set()
        for wanted in offered[name]:
            own = re.fullmatch(r"swift-phenotyping\[(\w+)\]", wanted)
            found |= packages(own[1]) if own else {import_name(wanted)}
        return found

    assert set(extras.EXTRAS[extra]) == packages(extra)

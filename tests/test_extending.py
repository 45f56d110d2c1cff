"""A new method is one file and one entry; a new setting is one field: tried on a copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
TOY = '''"""A toy: every component is the mean profile, a little disturbed."""

import numpy as np

from swiftcore.baselines.cp_nmu import CpNmu


class ToyMean(CpNmu):
    """The start of CP-NMU, and not a step further."""

    def _sweep(self, tensor, factors):
        return list(factors)
'''
ENTRY = """    Method(
        "toy_mean",
        "Toy mean",
        model="swiftcore.baselines.toy_mean:ToyMean",
    ),
)
_CLASSIFIERS = {"""
FIELD = """    caution: float = setting(
        0.5,
        "How careful the fit is.",
        "Caution in the fit",
        "Caution (kappa)",
        minimum=0.0,
        offered=(0.0, 5.0),
    )
    options: Mapping"""
PAGE = """
import sys
from support.opened_page import open_page, tab
from support.tiny_store import tiny_dataset
from dashboard.store.store import Store
import pytest
store = Store(sys.argv[1])
store.add_dataset(tiny_dataset(), synthetic=True)
page = open_page("runs", store, pytest.MonkeyPatch())
"""

Run = Callable[..., str]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The product and what its tests share, to be changed at will."""
    for name in ("swiftcore", "dashboard", "tests/support", "sample_data"):
        shutil.copytree(ROOT / name, tmp_path / name)
    return tmp_path


@pytest.fixture
def run(copy: Path) -> Run:
    """Run Python in the copy; what it printed."""

    def ask(*words: str) -> str:
        path = f"{copy}:{copy / 'tests'}"
        answer = subprocess.run(
            [sys.executable, *words],
            capture_output=True,
            text=True,
            cwd=copy,
            env={"PYTHONPATH": path, "PATH": "", "HOME": str(copy), "COLUMNS": "400"},
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return answer.stdout

    return ask


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has {old!r} {text.count(old)} times"
    path.write_text(text.replace(old, new))


def test_a_toy_baseline_is_offered_everywhere(copy: Path, run: Run) -> None:
    (copy / "swiftcore/baselines/toy_mean.py").write_text(TOY)
    catalogue = copy / "swiftcore/evaluation/methods/catalogue.py"
    replace_once(catalogue, ")\n_CLASSIFIERS = {", ENTRY)
    assert "toy_mean" in run("-m", "swiftcore.cli", "evaluate", "--help")
    assert "toy_mean" in run("-m", "swiftcore.cli", "fit", "--help")
    fit = ["fit", "heart_failure", "--method", "toy_mean", "--rank", "2", "--out", "fit", "--json"]
    assert '"method": "toy_mean"' in run("-m", "swiftcore.cli", *fit)
    (copy / "rows.csv").write_text(
        "patient,diagnosis,medication,outcome\n"
        + "".join(
            f"p{n},d{n % 3},m{n % 2},{n % 2}\np{n},d{n % 4},m{n % 5},{n % 2}\n" for n in range(40)
        )
    )
    words = ["evaluate", "rows.csv", "--methods", "toy_mean", "lasso_indicators", "--ranks", "2"]
    table = run("-m", "swiftcore.cli", *words, "--folds", "3", "--quick", "--out", "evidence")
    assert "Toy mean" in table
    choices = (
        "tab(page, 'runs.tab', 'Experiments')\n"
        "print([one.options for one in page.multiselect if one.key == 'experiment.methods'])"
    )
    assert "'Toy mean'" in run("-c", PAGE + choices, str(copy / "store"))


def test_a_new_setting_is_asked_for_everywhere(copy: Path, run: Run) -> None:
    replace_once(copy / "swiftcore/spec/model_spec.py", "    options: Mapping", FIELD)
    assert "--caution N" in run("-m", "swiftcore.cli", "fit", "--help")
    labels = "print([one.label for one in page.number_input])"
    assert "Caution in the fit" in run("-c", PAGE + labels, str(copy / "store"))
    code = (
        "from swiftcore.spec import ModelSpec\nfrom dashboard.store.request import Request\n"
        "usual, careful = (Request('fit', 'a' * 32, {'caution': c}) for c in (0.5, 2))\n"
        "print(usual.key() == Request('fit', 'a' * 32).key(), careful.key() == usual.key())\n"
        "print(ModelSpec(caution=2).to_json()['caution'], careful.title)\n"
        "print(ModelSpec.from_json(ModelSpec(caution=2).to_json()).caution)\n"
    )
    said = run("-c", code).splitlines()
    assert said == ["True False", "2.0 SWIFT, R = 10, caution 2", "2.0"]
    shutil.copytree(ROOT / "docs" / "_ext", copy / "docs")
    page = "import sys; sys.path.insert(0, 'docs')\nfrom settings_table import settings_table\n"
    page += "from swiftcore.spec import SETTINGS\nprint(settings_table(SETTINGS))"
    assert "How careful the fit is." in run("-c", page) and "--caution" in run("-c", page)
    before = subprocess.run(
        [
            sys.executable,
            "-c",
            "from dashboard.store.request import Request\nprint(Request('fit', 'a' * 32).key())",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    assert (
        run(
            "-c",
            "from dashboard.store.request import Request\nprint(Request('fit', 'a' * 32).key())",
        )
        == before.stdout
    )

"""What is handed out: an archive of the sources, and a wheel that needs no extra to fit."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("swiftcore", "dashboard")
SOURCES = (*PACKAGES, "sample_data", "tests", "benchmarks", "docs", "tools", "requirements", ".ci")
IMPORT_EVERYTHING = """
import pkgutil, swiftcore
from importlib import import_module
from importlib.util import find_spec

names = [each.name for each in pkgutil.walk_packages(swiftcore.__path__, "swiftcore.")]
for name in names:
    if not name.endswith("__main__"):
        import_module(name)
print(swiftcore.__file__, len(names), [one for one in ("streamlit", "plotly") if find_spec(one)])
"""
DESCRIBE = """
from swiftcore import describe_phenotypes, load_model

model = load_model("run/model.npz")
print([phenotype.name for phenotype in describe_phenotypes(model.factors_, model.modes_)])
"""
CCS = """
from swiftcore.data.building.ccs import ccs_category

print(ccs_category("I50.9", "icd10"))
"""

pytestmark = pytest.mark.slow


def run(folder: Path, *command: str | Path, code: int = 0) -> str:
    """What a command prints; nothing of this checkout is on its path."""
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=around | {"COLUMNS": "200"}, capture_output=True, text=True
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def files(root: Path, *folders: str) -> set[str]:
    """All files below these folders, by their path from the root."""
    found = (path for folder in folders for path in (root / folder).rglob("*"))
    return {
        str(path.relative_to(root))
        for path in found
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the sources, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    run(ROOT, sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


@pytest.fixture(scope="module")
def wheel(unpacked: Path) -> Path:
    """The wheel as an installer builds it from the archive."""
    run(unpacked, sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist")
    return next((unpacked / "dist").glob("*.whl"))


def test_the_archive_holds_all_that_the_tests_need(unpacked: Path) -> None:
    assert files(ROOT, *SOURCES) - files(unpacked, *SOURCES) == set()
    beside = {path.name for path in ROOT.iterdir() if path.is_file()}
    assert beside - {path.name for path in unpacked.iterdir()} <= {".git"}


def test_the_wheel_holds_the_packages_and_the_samples(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    samples = files(ROOT / "sample_data", "heart_failure", "news")
    wanted = files(ROOT, *PACKAGES) | {f"swiftcore/data/_samples/{name}" for name in samples}
    assert held == wanted | {"dashboard/text/_pages/for-clinicians.md"}


def test_the_wheel_alone_fits_and_says_how_to_get_the_dashboard(
    wheel: Path, tmp_path: Path
) -> None:
    """In an environment that holds its dependencies and nothing else."""
    run(tmp_path, sys.executable, "-m", "venv", "fresh")
    python, swift = (tmp_path / "fresh" / "bin" / name for name in ("python", "swift"))
    limits = ("--constraint", ROOT / "constraints.txt")
    run(tmp_path, python, "-m", "pip", "install", "--quiet", "--no-compile", *limits, wheel)
    where, count, extras = run(tmp_path, python, "-c", IMPORT_EVERYTHING).split(maxsplit=2)
    assert Path(where).is_relative_to(tmp_path / "fresh")
    assert int(count) > 100 and extras.strip() == "[]"
    said = run(tmp_path, swift, "fit", "heart_failure", "--rank", "3", "--out", "run")
    assert "1000 patient" in said and "P01" in said and "P03" in said
    assert " + " in run(tmp_path, python, "-c", DESCRIBE)
    assert "CcsLevel(number='7.2', label='Diseases of the heart')" in run(
        tmp_path, python, "-c", CCS
    )
    refusal = " ".join(run(tmp_path, swift, "dashboard", code=2).split())
    assert 'Install it: pip install "swift-phenotyping[dashboard]"' in refusal

"""Lock files name exactly the versions of constraints.txt, with hashes and without addresses."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
ENTRY = re.compile(
    r"^([a-z0-9-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n", re.MULTILINE
)
EXTRAS = {
    "run": {"charts", "dashboard"},
    "test": {"charts", "dashboard", "databases", "test", "bench", "docs"},
}


def text(name: str) -> str:
    return (ROOT / "requirements" / f"{name}.lock").read_text("utf-8")


def locked(name: str) -> dict[str, str]:
    return {package: version for package, version, _ in ENTRY.findall(text(name))}


def pinned() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines}


@pytest.mark.parametrize("name", ["run", "test"])
def test_every_line_is_a_package_a_hash_or_the_heading(name: str) -> None:
    rest = ENTRY.sub("", text(name))
    assert len(locked(name)) > 50
    assert all(line.startswith("#") for line in rest.splitlines()), rest
    assert not re.search(r"://|index|@|\.(org|com|net|io)\b", text(name))


def test_versions_are_those_of_the_constraints() -> None:
    assert locked("test") == pinned()
    assert locked("run").items() <= locked("test").items()


def test_constraints_carry_no_hash_and_no_address() -> None:
    """One hash there would ask for hashes of everything, the project in place included."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


@pytest.mark.parametrize("name", ["run", "test"])
def test_what_the_project_asks_for_is_locked_at_a_version_it_accepts(name: str) -> None:
    optional = PROJECT["project"]["optional-dependencies"]
    needs = [*PROJECT["build-system"]["requires"], *PROJECT["project"]["dependencies"]]
    needs += [need for extra in EXTRAS[name] for need in optional[extra]]
    versions = locked(name)
    for need in map(Requirement, needs):
        if need.name != PROJECT["project"]["name"]:
            assert need.specifier.contains(versions[canonicalize_name(need.name)]), need


@pytest.mark.parametrize("name", ["run", "test"])
def test_what_locked_packages_ask_for_is_locked(name: str) -> None:
    """With --no-deps nothing else would notice that one is missing."""
    versions = locked(name)
    here = {canonicalize_name(one.name): one for one in metadata.distributions()}
    known = [here[one] for one in versions if one in here and here[one].version == versions[one]]
    assert len(known) > 0.8 * len(versions)  # some are for another system
    for package in known:
        for need in map(Requirement, package.requires or ()):
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                assert canonicalize_name(need.name) in versions, f"{package.name} needs {need}"


def test_build_requirements_are_pinned() -> None:
    for need in map(Requirement, PROJECT["build-system"]["requires"]):
        assert str(need.specifier) == f"=={pinned()[canonicalize_name(need.name)]}"


def test_a_wheel_with_another_hash_is_refused(tmp_path: Path) -> None:
    """By pip itself, without a network: a package of that name and version, but not its bytes."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "iniconfig.py").write_text("")
    version = locked("test")["iniconfig"]
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "iniconfig"\nversion = "{version}"\n'
    )
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    subprocess.run(build, cwd=source, check=True, capture_output=True, timeout=120)
    only = tmp_path / "only.lock"
    only.write_text(
        next(one[0] for one in re.finditer(ENTRY, text("test")) if one[1] == "iniconfig")
    )
    wheels = ["--no-index", "--find-links", source / "dist", "--target", tmp_path / "target"]
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--require-hashes", *wheels]
    done = subprocess.run([*install, "-r", only], capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr

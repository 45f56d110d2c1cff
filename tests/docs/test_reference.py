"""What the documentation says of the code is what the code says."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from fenced import DOCUMENTS, ROOT, prose

from swiftcore import __version__
from swiftcore.data.option_help import option_help, options_as_table
from swiftcore.data.options import BuildOptions, options_from_text
from swiftcore.spec import SETTINGS

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))
from layer_picture import layer_picture, layers  # noqa: E402
from settings_table import settings_table  # noqa: E402
from swift_reference import command_help  # noqa: E402

ROW = re.compile(r"^\| `(\w+)` \| `([\w.]+)` \|", re.MULTILINE)
VERSION = re.compile(r"^[A-Z_]*(FORMAT|VERSION|SCHEMA|PROTOCOL|GRIDS)$")
NO_VERSION = {"CLASSIFIER_GRIDS"}  # grids themselves
PARTS = "swiftcore|dashboard|tests|benchmarks|docs|sample_data"
FILE = re.compile(rf"`((?:{PARTS})/[\w./-]*)`")
MODULE = re.compile(r"`((?:swiftcore|dashboard)(?:\.[a-z]\w*)+)`")
TOYS = {"dashboard/views/cohorts.py"}  # what a how-to tells to write


def constants(path: Path) -> set[str]:
    """Public names that a module assigns."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            found |= {name.id for name in names if isinstance(name, ast.Name)}
    return {name for name in found if not name.startswith("_")}


def test_every_version_constant_is_on_its_page_and_where_the_page_says() -> None:
    listed = set(ROW.findall((DOCS / "reference" / "formats.md").read_text(encoding="utf-8")))
    there = {
        (name, ".".join(path.relative_to(ROOT).with_suffix("").parts))
        for part in ("swiftcore", "dashboard")
        for path in (ROOT / part).rglob("*.py")
        for name in constants(path) - NO_VERSION
        if VERSION.match(name)
    }
    assert {f"{module}.{name}" for name, module in listed} == {
        f"{module}.{name}" for name, module in there
    }, "bring docs/reference/formats.md up to the code"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_and_module_that_is_named_exists(path: Path) -> None:
    named = set(FILE.findall(prose(path))) | {
        module.replace(".", "/") for module in MODULE.findall(prose(path))
    }
    assert [one for one in sorted(named) if not exists(one)] == []


def exists(name: str) -> bool:
    """Whether a file, a module, or a module that holds the last part of the name is there."""
    places = (ROOT / name, ROOT / f"{name}.py", (ROOT / name).parent.with_suffix(".py"))
    return any(place.exists() for place in places) or name in TOYS


def test_every_command_has_its_help_on_the_page() -> None:
    page = (DOCS / "reference" / "command-line.md").read_text(encoding="utf-8")
    known = re.findall(r"^    (\w+)\b", command_help([]), re.MULTILINE)
    known.remove("data")
    known += [f"data {one}" for one in re.findall(r"^    (\w+) ", command_help(["data"]), re.M)]
    assert len(known) >= 8
    assert [one for one in known if f"```{{command-help}} {one}\n" not in page] == []
    assert all(command_help(one.split()).startswith(f"usage: swift {one}") for one in known)


def test_every_setting_is_in_the_table() -> None:
    lines = settings_table(SETTINGS)
    assert len(lines) == 2 + len(SETTINGS) and len({line.count(" | ") for line in lines}) == 2
    for name, setting in SETTINGS.items():
        line = next(line for line in lines if line.startswith(f"| `{name}`"))
        assert setting.help in line and setting.option in line and setting.clinician in line


def test_every_option_of_a_build_has_values_default_and_an_example_that_is_taken() -> None:
    known = [field.name for field in dataclasses.fields(BuildOptions)]
    assert [one.name for one in option_help()] == known
    lines = options_as_table().splitlines()
    assert len(lines) == 2 + len(known) and len({line.count(" | ") for line in lines}) == 2
    for one in option_help():
        assert one.values and one.default and one.about.endswith(".")
        taken = options_from_text([one.example]).to_json()[one.name]
        assert taken != BuildOptions().to_json()[one.name], one.example


def test_the_picture_shows_every_layer_lowest_at_the_bottom() -> None:
    shown = re.findall(r">((?:swiftcore|dashboard)\.[\w.]+)<", layer_picture())
    assert shown == [name for name in reversed(layers()) if "." in name]
    assert len(shown) > 30 and all(find_spec(name.split(".")[0]) for name in shown)


def test_the_citation_names_this_version_and_the_paper() -> None:
    yaml = pytest.importorskip("yaml")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["version"] == __version__ and citation["license"] == "BSD-3-Clause"
    paper = citation["preferred-citation"]
    assert paper["year"] == 2021 and len(paper["authors"]) == 7

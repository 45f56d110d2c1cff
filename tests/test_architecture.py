"""Who may import whom, read from the source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "swiftcore").rglob("*.py"))
BELOW = {  # what each part of swiftcore may use besides itself and FOR_ALL
    "tensor": set(),
    "transport": {"parallel"},
    "cost": set(),
    "data": set(),
    "factorization": {"transport", "cost", "parallel"},
    "baselines": {"cost", "parallel"},
    "factorizer": set(),
    "phenotypes": set(),
    "parallel": set(),
    "progress": set(),
    "errors": set(),
    "whole_file": set(),
    "tf_idf": set(),
    "free_memory": {"errors"},
    "csv_safe": set(),
    "classifiers": set(),
    "entry_weights": set(),
    "methods": {"baselines", "classifiers", "data", "entry_weights", "evaluation", "factorization"},
    "fits": {"cost", "data", "factorization", "methods"},
    "experiments": {"data", "evaluation", "fits", "methods"},
    "method_names": set(),
    "evaluation": {"cost", "data", "method_names", "phenotypes", "parallel", "transport"},
}
FOR_ALL = {
    "csv_safe", "errors", "factorizer", "free_memory", "progress", "tensor", "tf_idf", "whole_file",
}  # fmt: skip
LEAVES = {
    "errors": set(), "progress": set(), "tensor": {"errors"}, "parallel": set(),
    "tf_idf": set(), "whole_file": set(), "free_memory": {"errors"},
    "factorizer": {"progress", "tensor"},
}  # fmt: skip
EVERYWHERE = {"__init__", "cli"}  # the front door and the command may use every part


def part_of(path: Path) -> str:
    inside = path.relative_to(ROOT / "swiftcore").parts
    return inside[0] if len(inside) > 1 else path.stem


def imports(path: Path) -> list[tuple[str, ast.AST]]:
    """Every imported module, with ``from a import b`` as a.b."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found: list[tuple[str, ast.AST]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found += [(f"{node.module}.{alias.name}", node) for alias in node.names]
    return found


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_the_core_knows_no_screen_and_no_plot(path: Path) -> None:
    for name, _ in imports(path):
        screens = {"dashboard", "streamlit", "plotly", "matplotlib", "tests", "benchmarks"}
        if part_of(path) == "cli":  # the front door may open the dashboard
            screens.remove("dashboard")
        assert name.split(".")[0] not in screens, name


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_imports_only_go_downward(path: Path) -> None:
    part = part_of(path)
    if part in EVERYWHERE:
        return
    allowed = LEAVES.get(part, BELOW[part] | FOR_ALL) | {part}
    for name, _ in imports(path):
        pieces = name.split(".")
        if pieces[0] == "swiftcore":
            assert len(pieces) > 1 and pieces[1] in allowed, f"{part} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_no_import_hides_in_a_function_to_dodge_a_cycle(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import):
                    names = [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    names = [str(node.module)]
                else:
                    continue
                assert not any(name.startswith("swiftcore") for name in names), names


def test_evaluation_knows_no_concrete_model() -> None:
    for path in (ROOT / "swiftcore" / "evaluation").rglob("*.py"):
        for name, _ in imports(path):
            assert not name.startswith("swiftcore.factorization"), f"{path}: {name}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_library_code_logs_and_does_not_print(path: Path) -> None:
    if part_of(path) == "cli":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_randomness_is_passed_in_and_nothing_is_pickled(path: Path) -> None:
    for name, _ in imports(path):
        assert name.split(".")[0] not in {"random", "pickle", "cloudpickle", "dill"}, name
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("np.random."):
            allowed = {"np.random.default_rng", "np.random.Generator"}
            assert ast.unparse(node) in allowed, f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", f"line {node.value.lineno}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_no_name_says_nothing(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "common", "manager", "misc"}


def test_all_parts_are_known_here() -> None:
    parts = {part_of(path) for path in FILES} - EVERYWHERE
    assert parts <= set(BELOW)

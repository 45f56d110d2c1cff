"""Who may import whom in the dashboard, read from the source and from a fresh process."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "dashboard").rglob("*.py"))
VIEWS = sorted(path.stem for path in (ROOT / "dashboard" / "views").glob("[a-z]*.py"))
ON_SCREEN = {"app", "state", "cache", "views", "widgets"}  # who may use Streamlit
HEAVY = ("sklearn", "numba", "swiftcore.factorization", "swiftcore.experiments")
WORKERS = {"worker", "compute"}  # run in a process of their own
BELOW = {  # what each part must not import, so that imports only go downward
    "charts": {"views", "widgets", "state", "cache", "app"},
    "runs": {"views", "widgets", "charts", "state", "cache", "app", "report"},
    "report": {"views", "widgets", "state", "cache", "app"},
    "widgets": {"views", "app"},
}


def part_of(path: Path) -> str:
    inside = path.relative_to(ROOT / "dashboard").parts
    return inside[0] if len(inside) > 1 else path.stem


def imports(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def ids(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_streamlit_is_only_on_the_screen(path: Path) -> None:
    if part_of(path) in ON_SCREEN:
        return
    for name, node in imports(path):
        launcher = path.stem == "launch" and name == "streamlit.starlette.App"
        assert launcher or name.split(".")[0] != "streamlit", f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_session_and_url_have_one_door(path: Path) -> None:
    if path == ROOT / "dashboard" / "state.py":
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"session_state", "query_params"}, f"line {node.lineno}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_imports_only_go_downward(path: Path) -> None:
    forbidden = BELOW.get(part_of(path), set())
    for name, _ in imports(path):
        pieces = name.split(".")
        if pieces[0] == "dashboard" and len(pieces) > 1:
            assert pieces[1] not in forbidden, f"{ids(path)} imports {name}"


def test_no_view_imports_a_view() -> None:
    for path in (ROOT / "dashboard" / "views").glob("*.py"):
        for name, _ in imports(path):
            assert not name.startswith("dashboard.views"), f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_pages_never_import_the_compiler(path: Path) -> None:
    if path.stem in WORKERS:
        return
    for name, node in imports(path):
        assert not name.startswith(HEAVY), f"line {node.lineno}: {name}"
        assert name != "swiftcore.Swift", f"line {node.lineno}"
        assert not name.startswith("plotly.express"), f"line {node.lineno}"


def test_views_open_without_compiler_and_without_charts_before_the_table() -> None:
    code = (
        "import sys; from importlib import import_module\n"
        "import_module('dashboard.views.phenotypes'); import_module('dashboard.widgets.sidebar')\n"
        "early = 'dashboard.charts.phenotypes' in sys.modules\n"
        f"[import_module(f'dashboard.views.{{name}}') for name in {VIEWS!r}]\n"
        "print(early, sorted({'numba', 'sklearn', 'swiftcore.factorization'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.stdout.strip() == "False []", answer.stdout + answer.stderr
    assert "phenotypes" in VIEWS


@pytest.mark.parametrize("path", FILES, ids=ids)
def test_nothing_unsafe_is_written(path: Path) -> None:
    for name, _ in imports(path):
        assert name.split(".")[0] not in {"pickle", "cloudpickle", "dill", "shelve"}, name
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.keyword):
            assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, node.arg
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in {"Exception", "BaseException", "everything"}, f"{node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}"
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "st.toast":
            raise AssertionError("a toast has no accessible name")

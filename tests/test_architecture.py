"""Who may import whom: one ordered list of layers, read from the source."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# A file belongs to the longest prefix that names it. It may import its own layer and those
# above it in this list; the front doors (swiftcore itself, the command line) may import all.
LAYERS = (
    "swiftcore.errors",
    "swiftcore.progress",
    "swiftcore.spec",
    "swiftcore.runtime",
    "swiftcore.tensor",
    "swiftcore.phenotypes",
    "swiftcore.factorizer",
    "swiftcore.cost",
    "swiftcore.transport.compiled",
    "swiftcore.transport",
    "swiftcore.swift",
    "swiftcore.baselines.defaults",
    "swiftcore.baselines.solvers",
    "swiftcore.baselines",
    "swiftcore.data.options",
    "swiftcore.data.reading",
    "swiftcore.data.building",
    "swiftcore.data.summary",
    "swiftcore.data.dataset",
    "swiftcore.data.bundle",
    "swiftcore.data.synthetic",
    "swiftcore.data.samples",
    "swiftcore.data.from_path",
    "swiftcore.data",
    "swiftcore.evaluation.protocol",
    "swiftcore.evaluation.methods",
    "swiftcore.model_file",
    "swiftcore.fitting",
    "swiftcore.evaluation.experiments",
    "swiftcore.evaluation",
    "dashboard.text",
    "dashboard.privacy",
    "dashboard.store",
    "dashboard.fit_view",
    "dashboard.charts",
    "dashboard.report",
    "dashboard.jobs",
    "dashboard.session",
    "dashboard.widgets",
    "dashboard.views",
    "dashboard.launch",
    "dashboard.app",
    "dashboard",
)
FRONT_DOORS = ("swiftcore", "swiftcore.cli")
STREAMLIT = ("dashboard.session", "dashboard.widgets", "dashboard.views", "dashboard.app")
CONCRETE = ("swiftcore.swift", "swiftcore.baselines")  # models that only the catalogue names
HEAVY = ("sklearn", "numba", *CONCRETE, "swiftcore.fitting")
WORKERS = ("dashboard.jobs.worker", "dashboard.jobs.compute")  # run in a process of their own
FILES = sorted(path for part in ("swiftcore", "dashboard") for path in (ROOT / part).rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}


def module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def layer(name: str) -> int:
    found = [place for place, known in enumerate(LAYERS) if within(name, known)]
    return max(found, key=lambda place: len(LAYERS[place]), default=-1)


def imports(tree: ast.AST) -> list[tuple[str, int]]:
    """Every imported module, with ``from a import b`` as a.b, and its line."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: relative import"
            found += [(f"{node.module}.{alias.name}", node.lineno) for alias in node.names]
    return found


every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))


@every_file
def test_imports_only_go_down_the_list(path: Path) -> None:
    name = module(path)
    if name in FRONT_DOORS or within(name, "swiftcore.cli"):
        return
    assert layer(name) >= 0, f"{name} belongs to no layer"
    for imported, line in imports(TREES[path]):
        if within(imported, "swiftcore", "dashboard"):
            assert layer(imported) <= layer(name), f"line {line}: {name} imports {imported}"
            assert not within(imported, "swiftcore.cli"), f"line {line}: {imported}"


@every_file
def test_the_core_knows_no_screen_and_no_plot(path: Path) -> None:
    name = module(path)
    for imported, line in imports(TREES[path]):
        top = imported.split(".")[0]
        assert top not in {"tests", "benchmarks", "matplotlib"}, f"line {line}: {imported}"
        if within(name, "swiftcore"):
            assert top not in {"streamlit", "plotly"}, f"line {line}: {imported}"
            command = within(name, "swiftcore.cli")  # it may open the dashboard
            assert command or top != "dashboard", f"line {line}: {imported}"


@every_file
def test_streamlit_is_only_on_the_screen(path: Path) -> None:
    name = module(path)
    for imported, line in imports(TREES[path]):
        launcher = name == "dashboard.launch" and imported == "streamlit.starlette.App"
        allowed = launcher or within(name, *STREAMLIT)
        assert allowed or imported.split(".")[0] != "streamlit", f"line {line}"


@every_file
def test_only_the_catalogue_names_concrete_models(path: Path) -> None:
    name = module(path)
    above = within(name, "dashboard", "swiftcore.evaluation", "swiftcore.fitting")
    if not above or within(name, "swiftcore.evaluation.methods"):
        return
    for imported, line in imports(TREES[path]):
        assert not within(imported, *CONCRETE), f"line {line}: {imported}"


@every_file
def test_pages_never_import_the_compiler(path: Path) -> None:
    name = module(path)
    if not within(name, "dashboard") or name in WORKERS:
        return
    for imported, line in imports(TREES[path]):
        assert not within(imported, *HEAVY, "plotly.express"), f"line {line}: {imported}"
        assert imported != "swiftcore.Swift", f"line {line}"


@every_file
def test_no_import_hides_in_a_function_to_dodge_a_cycle(path: Path) -> None:
    if not within(module(path), "swiftcore"):
        return
    for function in ast.walk(TREES[path]):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for imported, line in imports(function):
                assert not within(imported, "swiftcore"), f"line {line}: {imported}"


def test_no_view_imports_a_view() -> None:
    for path in (ROOT / "dashboard" / "views").glob("*.py"):
        for imported, line in imports(TREES[path]):
            assert not within(imported, "dashboard.views"), f"{path.name}, line {line}"


@every_file
def test_session_and_address_have_one_door(path: Path) -> None:
    if module(path) == "dashboard.session.state":
        return
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute):
            assert node.attr not in {"session_state", "query_params"}, f"line {node.lineno}"


@every_file
def test_library_code_logs_and_does_not_print(path: Path) -> None:
    if within(module(path), "swiftcore.cli"):
        return
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id != "print", f"line {node.lineno}"


@every_file
def test_randomness_is_passed_in_and_nothing_is_pickled(path: Path) -> None:
    for imported, _ in imports(TREES[path]):
        banned = {"random", "pickle", "cloudpickle", "dill", "shelve"}
        assert imported.split(".")[0] not in banned, imported
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.Attribute) and ast.unparse(node).startswith("np.random."):
            allowed = {"np.random.default_rng", "np.random.Generator"}
            assert ast.unparse(node) in allowed, f"line {node.lineno}: {ast.unparse(node)}"
        if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
            assert ast.unparse(node.value) == "False", f"line {node.value.lineno}"


@every_file
def test_nothing_unsafe_is_drawn_and_no_error_is_swallowed(path: Path) -> None:
    if not within(module(path), "dashboard"):
        return
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.keyword):
            assert node.arg not in {"unsafe_allow_html", "unsafe_allow_javascript"}, node.arg
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in {"Exception", "BaseException", "everything"}, f"{node.lineno}"
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "st.toast":
            raise AssertionError("a toast has no accessible name")


@every_file
def test_no_name_says_nothing(path: Path) -> None:
    assert path.stem not in {"utils", "helpers", "common", "manager", "misc"}


def test_every_layer_exists() -> None:
    names = {module(path) for path in FILES}
    assert [one for one in LAYERS if not any(within(name, one) for name in names)] == []


def test_views_open_without_compiler_and_without_charts_before_the_table() -> None:
    views = sorted(path.stem for path in (ROOT / "dashboard" / "views").glob("[a-z]*.py"))
    assert "phenotypes" in views
    code = (
        "import sys; from importlib import import_module\n"
        "import_module('dashboard.views.phenotypes'); import_module('dashboard.widgets.sidebar')\n"
        "early = 'dashboard.charts.phenotypes' in sys.modules\n"
        f"[import_module(f'dashboard.views.{{name}}') for name in {views!r}]\n"
        "print(early, sorted({'numba', 'sklearn', 'swiftcore.swift'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.stdout.strip() == "False []", answer.stdout + answer.stderr

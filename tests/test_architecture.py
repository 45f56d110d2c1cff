"""Who may import whom: one ordered list of layers, read from the source."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

from support.source_trees import FILES, ROOT, trees

# A file belongs to the longest prefix that names it. It may import its own layer and those
# above it in this list; the front doors (swiftcore itself, the command line) may import all.
LAYERS = (
    "swiftcore.errors",
    "swiftcore.progress",
    "swiftcore.runtime",
    "swiftcore.spec",
    "swiftcore.tensor",
    "swiftcore.phenotypes",
    "swiftcore.factorizer",
    "swiftcore.cost",
    "swiftcore.transport.limits",
    "swiftcore.transport.compiled",
    "swiftcore.transport",
    "swiftcore.swift",
    "swiftcore.baselines.defaults",
    "swiftcore.baselines.solvers",
    "swiftcore.baselines",
    "swiftcore.data.side_tables",
    "swiftcore.data.text_arrays",
    "swiftcore.data.side_arrays",
    "swiftcore.data.options",
    "swiftcore.data.option_help",
    "swiftcore.data.sql",
    "swiftcore.data.reading",
    "swiftcore.data.building",
    "swiftcore.cost.outside",
    "swiftcore.data.tally",
    "swiftcore.data.summary",
    "swiftcore.data.dataset",
    "swiftcore.data.bundle",
    "swiftcore.data.shards",
    "swiftcore.data.synthetic",
    "swiftcore.data.samples",
    "swiftcore.data.from_path",
    "swiftcore.data.out_of_core",
    "swiftcore.data.databases",
    "swiftcore.data",
    "swiftcore.definitions",
    "swiftcore.evaluation.protocol",
    "swiftcore.evaluation.methods",
    "swiftcore.model_checks",
    "swiftcore.model_file",
    "swiftcore.model_costs",
    "swiftcore.fit_job",
    "swiftcore.finished_fit",
    "swiftcore.cluster",
    "swiftcore.consensus_fits",
    "swiftcore.fitting",
    "swiftcore.row_parts",
    "swiftcore.parts_fit",
    "swiftcore.cluster_fit",
    "swiftcore.refitting",
    "swiftcore.projection",
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
    "dashboard.server",
    "dashboard.launch",
    "dashboard.app",
    "dashboard",
)
FRONT_DOORS = ("swiftcore", "swiftcore.cli")
STREAMLIT = ("dashboard.session", "dashboard.widgets", "dashboard.views", "dashboard.app")
RUNNING_STREAMLIT = ("streamlit.starlette.App", "streamlit.runtime.get_instance")
CONCRETE = ("swiftcore.swift.estimator", "swiftcore.baselines")  # only the catalogue names them
HEAVY = (  # packages that take seconds to import, and the modules that import them
    "sklearn",
    "numba",
    *CONCRETE,
    "swiftcore.consensus_fits",
    "swiftcore.finished_fit",
    "swiftcore.fitting",
    "swiftcore.parts_fit",
    "swiftcore.cluster_fit",
    "swiftcore.refitting",
    "swiftcore.swift.engine",
    "swiftcore.swift.fit_file",
    "swiftcore.swift.guided_start",
    "swiftcore.swift.loop",
    "swiftcore.swift.parts",
    "swiftcore.swift.search",
    "swiftcore.swift.start",
    "swiftcore.transport.column_task",
    "swiftcore.transport.compiled",
    "swiftcore.transport.sweep",
)
SESSION_DOORS = ("get", "set", "forget", "bind_widget")
# they read what everybody said: one hands out what may be seen, one looks for what is new
KNOWING = ("dashboard.session.cache", "dashboard.widgets.downloads")
WORKERS = ("dashboard.jobs.worker", "dashboard.jobs.compute")  # run in a process of their own
Node = TypeVar("Node", bound=ast.AST)
Found = Iterator[tuple[int, str]]
Rule = Callable[[str, ast.AST], Found]
"""(name of a module, its tree) to the lines that break a rule, each with what stands there."""


def module(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def layer(name: str) -> int:
    found = [place for place, known in enumerate(LAYERS) if within(name, known)]
    return max(found, key=lambda place: len(LAYERS[place]), default=-1)


@cache
def every_node(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def nodes(tree: ast.AST, kind: type[Node]) -> Iterator[Node]:
    return (node for node in every_node(tree) if isinstance(node, kind))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every imported module, with ``from a import b`` as a.b, and its line."""
    for node in nodes(tree, ast.Import):
        yield from ((alias.name, node.lineno) for alias in node.names)
    for found in nodes(tree, ast.ImportFrom):
        yield from ((f"{found.module}.{alias.name}", found.lineno) for alias in found.names)


def forbid(rule: Rule, *packages: str) -> None:
    """Fail with every line that breaks a rule in the files of some packages (without any: all)."""
    faults = [
        f"{path.relative_to(ROOT)}:{line}: {found}"
        for path, tree in trees().items()
        if not packages or within(module(path), *packages)
        for line, found in rule(module(path), tree)
    ]
    assert not faults, "\n".join(["", *faults])


def test_no_import_is_relative() -> None:
    def relative(_: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.ImportFrom):
            if node.level:
                yield node.lineno, "relative import"

    forbid(relative)


def test_imports_only_go_down_the_list() -> None:
    def upward(name: str, tree: ast.AST) -> Found:
        if name in FRONT_DOORS or within(name, "swiftcore.cli"):
            return
        if layer(name) < 0:
            yield 1, "belongs to no layer"
        for imported, line in imports(tree):
            if within(imported, "swiftcore", "dashboard") and (
                layer(imported) > layer(name) or within(imported, "swiftcore.cli")
            ):
                yield line, imported

    forbid(upward)


def test_the_core_knows_no_screen_and_no_plot() -> None:
    def screen(name: str, tree: ast.AST) -> Found:
        banned = {"tests", "benchmarks", "matplotlib"}
        if within(name, "swiftcore"):
            banned |= {"streamlit", "plotly"}
            if not within(name, "swiftcore.cli"):  # it may open the dashboard
                banned.add("dashboard")
        for imported, line in imports(tree):
            if imported.split(".")[0] in banned:
                yield line, imported

    forbid(screen)


def test_streamlit_is_only_on_the_screen() -> None:
    def streamlit(name: str, tree: ast.AST) -> Found:
        for imported, line in imports(tree):
            launcher = name == "dashboard.launch" and imported in RUNNING_STREAMLIT
            allowed = launcher or within(name, *STREAMLIT)
            if within(imported, "streamlit") and not allowed:
                yield line, imported

    forbid(streamlit)


def test_only_the_catalogue_names_concrete_models() -> None:
    def concrete(name: str, tree: ast.AST) -> Found:
        if within(name, "swiftcore.evaluation.methods"):
            return
        for imported, line in imports(tree):
            if within(imported, *CONCRETE):
                yield line, imported

    forbid(
        concrete, "dashboard", "swiftcore.evaluation", "swiftcore.fitting", "swiftcore.model_file"
    )


def test_pages_never_import_the_compiler() -> None:
    def heavy(name: str, tree: ast.AST) -> Found:
        if name in WORKERS:
            return
        for imported, line in imports(tree):
            if within(imported, *HEAVY, "plotly.express") or imported == "swiftcore.Swift":
                yield line, imported

    forbid(heavy, "dashboard")


def test_no_import_hides_in_a_function_to_dodge_a_cycle() -> None:
    def hidden(_: str, tree: ast.AST) -> Found:
        for function in (*nodes(tree, ast.FunctionDef), *nodes(tree, ast.AsyncFunctionDef)):
            for imported, line in imports(function):
                if within(imported, "swiftcore"):
                    yield line, imported

    forbid(hidden, "swiftcore")


def test_no_view_imports_a_view() -> None:
    def view(_: str, tree: ast.AST) -> Found:
        for imported, line in imports(tree):
            if within(imported, "dashboard.views"):
                yield line, imported

    forbid(view, "dashboard.views")


def test_session_and_address_have_one_door() -> None:
    def other_door(name: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.Attribute):
            door = node.attr in {"session_state", "query_params"}
            if door and name != "dashboard.session.state":
                yield node.lineno, node.attr

    forbid(other_door)


def test_every_session_key_is_in_the_registry() -> None:
    state = trees()[ROOT / "dashboard" / "session" / "state.py"]
    registry = next(one for one in nodes(state, ast.ClassDef) if one.name == "Key")
    listed = {one.id for one in nodes(registry, ast.Name) if isinstance(one.ctx, ast.Store)}
    doors = {f"{place}{door}" for place in ("", "state.") for door in SESSION_DOORS}
    used: set[str] = set()

    def loose_key(_: str, tree: ast.AST) -> Found:
        for attribute in nodes(tree, ast.Attribute):
            if isinstance(attribute.value, ast.Name) and attribute.value.id == "Key":
                used.add(attribute.attr)
        for call in nodes(tree, ast.Call):
            text = call.args and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
            if text and ast.unparse(call.func) in doors:
                yield call.lineno, ast.unparse(call)

    forbid(loose_key, "dashboard")
    assert used == listed and len(listed) > 20


def test_pages_list_runs_through_the_session() -> None:
    def listing(name: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.Attribute):
            own = node.attr == "runs" and "store" in ast.unparse(node.value)
            if own and name != "dashboard.session.cache":
                yield node.lineno, ast.unparse(node)

    forbid(listing, *STREAMLIT)


def test_pages_read_results_through_the_session_which_knows_who_must_not_see_the_outcome() -> None:
    def reading(name: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.Attribute):
            own = node.attr in ("fit", "dataset") and "store()" in ast.unparse(node.value)
            said = node.attr in ("latest", "all") and "reviews()" in ast.unparse(node.value)
            if (own or said) and name not in KNOWING:
                yield node.lineno, ast.unparse(node)

    forbid(reading, *STREAMLIT)


def test_library_code_logs_and_does_not_print() -> None:
    def printing(name: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.Name):
            if node.id == "print" and not within(name, "swiftcore.cli"):
                yield node.lineno, "print"

    forbid(printing)


def test_randomness_is_passed_in() -> None:
    allowed = {"np.random.default_rng", "np.random.Generator"}

    def global_state(_: str, tree: ast.AST) -> Found:
        for imported, line in imports(tree):
            if within(imported, "random"):
                yield line, imported
        for node in nodes(tree, ast.Attribute):
            name = ast.unparse(node)
            if name.startswith("np.random.") and name not in allowed:
                yield node.lineno, name

    forbid(global_state)


def test_nothing_is_pickled() -> None:
    def pickling(_: str, tree: ast.AST) -> Found:
        for imported, line in imports(tree):
            if within(imported, "pickle", "cloudpickle", "dill", "shelve"):
                yield line, imported
        for node in nodes(tree, ast.keyword):
            if node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
                yield node.value.lineno, "allow_pickle"

    forbid(pickling)


def test_nothing_unsafe_is_drawn() -> None:
    def unsafe(_: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.keyword):
            if node.arg in {"unsafe_allow_html", "unsafe_allow_javascript"}:
                yield node.value.lineno, node.arg
        for attribute in nodes(tree, ast.Attribute):
            if ast.unparse(attribute) == "st.toast":
                yield attribute.lineno, "a toast has no accessible name"

    forbid(unsafe, "dashboard")


def test_html_is_drawn_in_one_place_and_comes_from_the_escaping_templates() -> None:
    only = "dashboard.widgets.html"

    def drawn(name: str, tree: ast.AST) -> Found:
        for call in nodes(tree, ast.Call):
            if ast.unparse(call.func).endswith("st.html"):
                templated = (
                    len(call.args) == 1
                    and not call.keywords
                    and isinstance(call.args[0], ast.Call)
                    and ast.unparse(call.args[0].func) == "render"
                )
                if name != only or not templated:
                    yield call.lineno, ast.unparse(call)
        for found in nodes(tree, ast.Attribute):
            if name != only and ast.unparse(found) == "st.html":
                yield found.lineno, "st.html"
        for imported, line in imports(tree):
            if imported.endswith(".Markup"):
                yield line, imported

    forbid(drawn, "dashboard")
    calls = [ast.unparse(one.func) for one in nodes(_tree(only), ast.Call)]
    assert calls.count("st.html") == 1
    environment = next(
        one
        for one in nodes(_tree("dashboard.report.templates"), ast.Call)
        if ast.unparse(one.func) == "Environment"
    )
    assert {one.arg: ast.unparse(one.value) for one in environment.keywords}["autoescape"] == "True"
    templates = (ROOT / "dashboard" / "report").glob("*.j2")
    faults = [
        one.name for one in templates if re.search(r"\|\s*safe\b|autoescape", one.read_text())
    ]
    assert faults == []


def _tree(name: str) -> ast.AST:
    return next(tree for path, tree in trees().items() if module(path) == name)


def test_no_error_is_swallowed() -> None:
    def swallowed(_: str, tree: ast.AST) -> Found:
        for node in nodes(tree, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            if caught in {"Exception", "BaseException", "everything"}:
                yield node.lineno, f"catches {caught}"

    forbid(swallowed, "dashboard")


def test_no_name_says_nothing() -> None:
    empty = {"utils", "helpers", "common", "manager", "misc"}
    assert [str(path.relative_to(ROOT)) for path in FILES if path.stem in empty] == []


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
        f"print(early, sorted({{*{HEAVY!r}}} - {{'swiftcore.baselines'}} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.stdout.strip() == "False []", answer.stdout + answer.stderr

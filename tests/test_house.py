"""Bars for the product's code: short functions, few arguments, words that last, nothing dead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from fnmatch import filter as filter_names
from fnmatch import fnmatch

import pytest
from support.source_trees import FILES, ROOT, trees

MAX_LINES, P95_LINES, MAX_ARGUMENTS = 60, 30, 8
# An estimator's constructor names all its settings, as scikit-learn wants it.
ESTIMATORS = ("swiftcore/swift/estimator.py", "swiftcore/baselines/")
# Names that were replaced because readers stumbled over them.
OLD_MODULES = {
    "as_typed",
    "cells",
    "chain",
    "csv_safe",
    "entry_weights",
    "follower",
    "free_memory",
    "look_alikes",
    "open_fit",
    "parts",
    "phenotype_facts",
    "row_facts",
    "run_facts",
    "sealed_folder",
    "several_tables",
    "share",
    "sharp_columns",
    "sound_tables",
    "telling_features",
    "verdicts",
    "whole_file",
    "words",
}
OLD_DEFINITIONS = {  # functions and classes; as words of a variable they may be the right ones
    "BrokenSeal",
    "OpenFit",
    "Part",
    "StillKernel",
    "_Diary",
    "_look",
    "as_typed",
    "checked",
    "keep",
    "mirror",
    "push_on",
    "recall",
    "run_share",
    "say",
    "settle",
    "with_weights_in",
    "write_whole",
}
OLD_NAMES = re.compile(
    r"SETTLED|rows_still_?|follower|look_alikes?|sealed_folder|several_tables|telling_features"
    r"|(MOST|LEAST|LONGEST)_\w+"
)
OLD_LABELS = ("Alikeness", "How special to it")
# What only something outside the product calls; at most 15, each with its caller.
ALLOWED_UNUSED = {  # patterns
    "Cp*": "the catalogue loads the baselines by name",
    "SupervisedCp": "the catalogue loads the baselines by name",
    "DirectWasserstein": "a benchmark: it is there for its slowness",
    "feature_bars": "a chart for notebooks; on the screen the card shows the same",
    "from_frame": "the way from pandas, for notebooks",
    "from_sparse": "the way from pydata sparse, for notebooks",
    "__dir__": "Python lists the names of the package by it",
    "__getattr__": "Python imports the names of the package by it, when they are needed",
    "deep": "scikit-learn's get_params has this argument",
    "loss_never_rises": "a promise of each factorizer that the contract tests hold it to",
    "readinto": "Python's buffered reader calls it on a stream of bytes",
    "retrieve_result": "joblib calls it on its backend",
    "serve": "the reading process is started by a line of Python that calls it",
    "supports_retrieve_callback": "joblib reads it from its backend",
}
CALLED_BY_DECORATOR = ["@atexit.register", "@overload"]  # at exit; by compiled code


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}", node


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from ``def`` to the last one, the docstring included."""
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def n_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args]
    bound = bool(named) and named[0].arg in ("self", "cls")
    several = bool(given.vararg) + bool(given.kwarg)
    return len(named) - bound + len(given.kwonlyargs) + several


def test_no_function_is_long() -> None:
    long = {where: length(one) for where, one in functions() if length(one) > MAX_LINES}
    assert not long, long


def test_nearly_all_functions_are_short() -> None:
    lengths = sorted(length(function) for _, function in functions())
    beyond = {where: length(one) for where, one in functions() if length(one) > P95_LINES}
    assert lengths[int(0.95 * len(lengths))] <= P95_LINES, beyond


def test_no_function_takes_many_arguments() -> None:
    many = {
        where: n_arguments(function)
        for where, function in functions()
        if n_arguments(function) > MAX_ARGUMENTS
        and not (function.name == "__init__" and where.startswith(ESTIMATORS))
    }
    assert not many, many


def test_the_formatter_has_the_last_word() -> None:
    skipped = "# fmt:" + " skip"
    code = [
        path
        for part in ("swiftcore", "dashboard", "tests", "benchmarks", "sample_data")
        for path in (ROOT / part).rglob("*.py")
    ]
    assert not [path for path in code if skipped in path.read_text(encoding="utf-8")]


def names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that the code gives or uses, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg | ast.keyword) and node.arg:
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def test_replaced_names_stay_away() -> None:
    found = [str(path) for path in FILES if path.stem in OLD_MODULES]
    for path, tree in trees().items():
        found += [
            f"{path}:{node.lineno} {node.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.name in OLD_DEFINITIONS
        ]
        found += [
            f"{path}:{line} {name}" for name, line in names(tree) if OLD_NAMES.fullmatch(name)
        ]
        found += [
            f"{path}:{node.lineno} {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and node.value in OLD_LABELS
        ]
    assert not found, "\n".join(found)


def test_nothing_is_dead_and_nothing_is_excused_in_vain() -> None:
    vulture = pytest.importorskip("vulture", reason="vulture is not installed")
    search = vulture.Vulture(ignore_decorators=CALLED_BY_DECORATOR)
    samples = ROOT / "sample_data" / "generate.py"  # it makes the samples that ship
    search.scavenge([ROOT / "swiftcore", ROOT / "dashboard", samples])
    unused = search.get_unused_code(min_confidence=60)
    dead = [
        f"{one.filename}:{one.first_lineno} {one.name}"
        for one in unused
        if not any(fnmatch(one.name, allowed) for allowed in ALLOWED_UNUSED)
    ]
    assert not dead, "\n".join(dead)
    found = {one.name for one in unused}
    assert [allowed for allowed in ALLOWED_UNUSED if not filter_names(found, allowed)] == []
    assert len(ALLOWED_UNUSED) <= 15

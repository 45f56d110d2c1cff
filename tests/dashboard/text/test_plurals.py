"""Every noun that our own sentences count has its plural; nouns of the data may have none."""

from __future__ import annotations

import ast
from pathlib import Path

import dashboard
from dashboard.text.wording import plural


def counted() -> set[str]:
    """The nouns that stand as texts in calls of count_of and plural."""
    found = set()
    for path in Path(dashboard.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("count_of", "plural"):
                last = node.args[-1]
                if isinstance(last, ast.Constant) and isinstance(last.value, str):
                    found.add(last.value)
    return found


def test_all_of_them_are_known() -> None:
    nouns = counted()
    assert {"phenotype", "technical note"} <= nouns
    assert [noun for noun in sorted(nouns) if plural(noun) == noun] == []

"""The product's code as syntax trees, parsed once and only where a test looks at them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted(path for part in ("swiftcore", "dashboard") for path in (ROOT / part).rglob("*.py"))


@cache
def trees() -> dict[Path, ast.Module]:
    """Every file with its tree."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}

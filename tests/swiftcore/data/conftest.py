"""Real data beside the repository (skipped with a reason when absent), and small tables."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
SHARED = Path(os.environ.get("SWIFT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """The path of a shared data set, or a skip that names it."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"real data '{name}' are not here (set SWIFT_SHARED_DATA)")
        return path

    return find


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file under a fresh folder and return its path."""

    def put(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return put

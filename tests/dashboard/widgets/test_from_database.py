"""From a database on the page Data: only configured ones, watched, stopped, never its address."""

from __future__ import annotations

import time
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo, sql
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, words
from support.postgresql import load_cdm, write_cdm

from dashboard.store.store import Store
from swiftcore.data.databases.addresses import SETTINGS
from swiftcore.data.databases.child import ENDS_WITHIN, Asked, DatabaseReading
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions, Limits

WAIT = 60.0  # seconds for a process to start on a busy machine


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    return write_cdm(tmp_path / "omop")


@pytest.fixture
def clinic(
    postgresql_server: str, tables: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A connection called clinic to a schema called page; returns the address."""
    load_cdm(postgresql_server, "page", tables)
    known = conninfo.conninfo_to_dict(postgresql_server)
    settings = tmp_path / "databases.toml"
    lines = [f'{name} = "{value}"' for name, value in known.items() if value]
    settings.write_text("\n".join(["[clinic]", *lines, 'schema = "page"']))
    settings.chmod(0o600)
    monkeypatch.setenv(SETTINGS, str(settings))
    return postgresql_server


def add_data(page: AppTest) -> AppTest:
    return drawn(page.radio(key="data_place").set_value("database").run())


def counted(page: AppTest) -> AppTest:
    page = drawn(page.button(key="database.count").click().run())
    begun = page.session_state["swift.database"]
    assert begun.reading.wait(WAIT)
    return drawn(page.run())


def test_without_a_configured_connection_nothing_is_offered(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(SETTINGS, str(tmp_path / "none.toml"))
    page = open_page("data", store, monkeypatch)
    assert "data_place" not in [one.key for one in page.radio]


def test_a_database_becomes_a_data_set(
    store: Store, clinic: str, tables: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = counted(add_data(open_page("data", store, monkeypatch)))
    assert "What would be built" in words(page)
    drawn(page.button(key="database.keep").click().run())
    (card,) = store.datasets()
    expected = build_path(tables, BuildOptions(top=100, outcome="none"))
    assert store.dataset(card.id).tensor.digest() == expected.tensor.digest()
    assert not card.synthetic and card.name == "clinic"
    assert not list((store.root / "uploads").glob("draft-*"))


def test_what_cannot_be_counted_is_told_without_the_address(
    store: Store, clinic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = add_data(open_page("data", store, monkeypatch))
    page.text_input(key="database.schema.clinic").set_value("nowhere")
    page = counted(page)
    assert "nowhere" in words(page)
    host = conninfo.conninfo_to_dict(clinic)["host"]
    assert host and str(host) not in words(page)
    assert not store.datasets()


def test_stopping_ends_the_statement_on_the_server(
    clinic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A view that sleeps stands in for a table that takes long to count."""
    with psycopg.connect(clinic, autocommit=True) as owner:
        owner.execute("ALTER TABLE page.person RENAME TO person_kept")
        owner.execute(
            "CREATE VIEW page.person AS SELECT person_kept.* FROM page.person_kept, "
            "(SELECT pg_sleep(40)) AS nap"
        )
        folder = tmp_path / "answer"
        folder.mkdir()
        options = BuildOptions(limits=Limits(seconds=60))
        reading = DatabaseReading(Asked("postgresql:clinic", "page", options), folder)
        asleep = sql.SQL(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' "
            "AND application_name = 'swift'"
        )

        def sleeping() -> bool:
            return owner.execute(asleep).fetchone() != (0,)

        end = time.monotonic() + WAIT
        while not sleeping() and time.monotonic() < end:
            time.sleep(0.1)
        assert sleeping()
        begun = time.monotonic()
        reading.stop()
        assert reading.wait(WAIT) and time.monotonic() - begun < 2 * ENDS_WITHIN
        assert not sleeping()
        assert reading.inspection().problems[0].code == "database-reader-ended"

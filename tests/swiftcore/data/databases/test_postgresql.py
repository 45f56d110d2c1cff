"""An OMOP CDM in a real PostgreSQL: the same tensor as from files, read-only, address kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from support.postgresql import load_cdm, write_cdm

from swiftcore.cli import main
from swiftcore.data.bundle import read_bundle
from swiftcore.data.databases.addresses import URL, Address
from swiftcore.data.databases.build import build_from_database
from swiftcore.data.databases.connection import ReadingStopped, open_reading
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions, options_from_text
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, SwiftError

GIBLEED = Path(__file__).parents[5] / "shared" / "data" / "gibleed_omop"
CANARY = "canary7Secret"
LOGIN = f"{CANARY}:{CANARY}"


@pytest.fixture
def url(postgresql_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(URL, postgresql_server)
    return postgresql_server


def go_on(_what: str, _rows: int) -> bool:
    return False


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_cdm(tmp_path / "omop")


SETTINGS = [
    [],
    ["top=5"],
    ["min_support=12", "values=binary"],
    ["outcome_column=gender_concept_id"],
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_same_tensor_as_from_the_exported_tables(
    url: str, small: Path, settings: list[str]
) -> None:
    load_cdm(url, "cdm", small)
    findings, options = Findings(), options_from_text(settings)
    built = build_from_database("postgresql:", "cdm", options, findings, go_on)
    expected = build_path(small, options)
    assert built.tensor.digest() == expected.tensor.digest()
    assert (built.outcome is None) == (expected.outcome is None)
    if built.outcome is not None and expected.outcome is not None:
        assert built.outcome.tolist() == expected.outcome.tolist()
    assert built.summary is not None and expected.summary is not None

    def counts(summary: Any) -> list[tuple[str, int]]:
        return sorted((one.reason, one.count) for one in summary.left_out)

    assert counts(built.summary) == counts(expected.summary)


@pytest.mark.skipif(not GIBLEED.is_dir(), reason="the shared data are not here")
@pytest.mark.parametrize("settings", [[], ["top=20"]], ids=str)
def test_the_same_tensor_of_gibleed(url: str, settings: list[str]) -> None:
    load_cdm(url, "gibleed", GIBLEED)
    options = options_from_text(settings)
    built = build_from_database("postgresql:", "gibleed", options, Findings(), go_on)
    assert built.tensor.digest() == build_path(GIBLEED, options).tensor.digest()


def test_the_commands(
    url: str, small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    load_cdm(url, "cdm", small)
    out = tmp_path / "my.swift.npz"
    assert main(["data", "build", "postgresql:", "--schema", "cdm", "--out", str(out)]) == 0
    assert read_bundle(out).tensor.digest() == build_path(small).tensor.digest()
    assert main(["data", "inspect", "postgresql:", "--schema", "cdm"]) == 0
    assert "No problems." in capsys.readouterr().out


WRITES = """
INSERT INTO cdm.person (person_id) VALUES (1)|UPDATE cdm.person SET person_id = 1
DELETE FROM cdm.person|TRUNCATE cdm.person|DROP TABLE cdm.person|DROP SCHEMA cdm CASCADE
CREATE TABLE cdm.x (a int)|CREATE SCHEMA x|CREATE VIEW cdm.v AS SELECT 1
ALTER TABLE cdm.person ADD COLUMN x int|CREATE INDEX ON cdm.person (person_id)
CREATE ROLE x|GRANT SELECT ON cdm.person TO PUBLIC|COMMENT ON TABLE cdm.person IS 'x'
CREATE SEQUENCE cdm.s|CREATE FUNCTION cdm.f() RETURNS int LANGUAGE sql AS 'SELECT 1'
SELECT * INTO cdm.y FROM cdm.person|COPY cdm.person FROM STDIN|SET TRANSACTION READ WRITE
REFRESH MATERIALIZED VIEW cdm.m
"""


def test_the_server_refuses_every_write(url: str, small: Path) -> None:
    load_cdm(url, "cdm", small)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("CREATE MATERIALIZED VIEW cdm.m AS SELECT 1 AS a")
    statements = [one for line in WRITES.split("\n") for one in line.split("|") if one]
    assert len(statements) == 20
    for statement in statements:
        with open_reading(Address("test", {"conninfo": url}), 30, go_on) as reading:
            with pytest.raises(psycopg.Error) as refused:
                reading.connection.execute(statement)  # type: ignore[call-overload]
            assert refused.value.sqlstate in ("25006", "25001"), statement
            reading.connection.rollback()


@pytest.mark.parametrize(
    "name",
    [
        'x"; DROP SCHEMA cdm CASCADE; --',
        "cdm'; DELETE FROM cdm.person; --",
        "%s",
        "cdm.person",
        "é",
    ],
)
def test_hostile_schema_names_run_nothing(url: str, small: Path, name: str) -> None:
    load_cdm(url, "cdm", small)
    with pytest.raises(InvalidData, match="no schema"):
        build_from_database("postgresql:", name, BuildOptions(), Findings(), go_on)
    load_cdm(url, name, small)
    built = build_from_database("postgresql:", name, BuildOptions(), Findings(), go_on)
    assert built.tensor.digest() == build_path(small).tensor.digest()
    with psycopg.connect(url) as owner:
        assert owner.execute("SELECT count(*) FROM cdm.person").fetchone() == (60,)


def test_missing_tables_are_all_named(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("CREATE SCHEMA IF NOT EXISTS bare")
    with pytest.raises(InvalidData) as refused:
        build_from_database("postgresql:", "bare", BuildOptions(), Findings(), go_on)
    assert [one.code for one in refused.value.problems] == ["table-missing"] * 2


@pytest.mark.parametrize(
    ("address", "code"),
    [
        (f"postgresql://{LOGIN}@127.0.0.1:1/{CANARY}", "database-unreachable"),
        (f"no address {CANARY}", "address-malformed"),
    ],
)
def test_an_unusable_address_is_not_repeated(
    address: str, code: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(URL, address)
    with pytest.raises(SwiftError) as refused:
        build_from_database("postgresql:", "cdm", BuildOptions(), Findings(), go_on)
    assert [one.code for one in refused.value.problems] == [code]
    assert main(["data", "inspect", "postgresql:", "--schema", "cdm"]) == 2
    shown = "".join(capfd.readouterr()) + str(refused.value) + repr(refused.value.__context__ and 0)
    assert CANARY not in shown


def test_a_wrong_user_and_the_address_in_no_bundle(
    url: str, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_cdm(url, "cdm", small)
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"DROP OWNED BY {CANARY}") if _has_role(owner) else owner.execute(
            f"CREATE ROLE {CANARY} LOGIN"
        )
        owner.execute(f"GRANT USAGE ON SCHEMA cdm TO {CANARY}")
        owner.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA cdm TO {CANARY}")
    monkeypatch.setenv(URL, url.replace("postgres:@", f"{CANARY.lower()}:{CANARY}@", 1))
    out = tmp_path / "my.swift.npz"
    assert main(["data", "build", "postgresql:", "--schema", "cdm", "--out", str(out)]) == 0
    built = read_bundle(out)
    assert CANARY.lower() not in f"{built.origin} {built.name} {built.summary}".lower()
    monkeypatch.setenv(URL, url.replace("postgres:@", f"nobody{CANARY}:x@", 1))
    with pytest.raises(InvalidData) as refused:
        build_from_database("postgresql:", "cdm", BuildOptions(), Findings(), go_on)
    assert refused.value.problems[0].code == "database-login"
    assert CANARY not in str(refused.value)


def _has_role(owner: Any) -> bool:
    found = owner.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (CANARY.lower(),))
    return bool(found.fetchone())


def test_an_address_on_the_command_line_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    address = f"postgresql://{LOGIN}@host/db"
    assert main(["data", "build", address, "--out", str(tmp_path / "x.swift.npz")]) == 2
    shown = "".join(capfd.readouterr())
    assert CANARY not in shown and URL in shown.replace("\n", "")


def test_stopping_ends_the_statement_on_the_server(url: str) -> None:
    calls = []

    def stop(_what: str, _rows: int) -> bool:
        calls.append(1)
        return len(calls) > 2

    with (
        pytest.raises(ReadingStopped),
        open_reading(Address("test", {"conninfo": url}), 30, stop) as reading,
    ):
        reading.rows(sql.SQL("SELECT pg_sleep(25)"))
    with psycopg.connect(url) as owner:
        running = (
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(25)' "
            "AND state = 'active' AND pid <> pg_backend_pid()"
        )
        assert owner.execute(running).fetchone() == (0,)

"""Definitions in an OMOP CDM: SQL in DuckDB and PostgreSQL, the cohort in OHDSI's own circe."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import psycopg
import pytest
from circe import build_cohort, cohort_expression_from_json

from swiftcore.cli import main

HOSTILE = "Sepsis'); DROP TABLE person; --\n* / \u2028 DROP TABLE drug_era;"
CONDITIONS = [*(f"Condition {k}" for k in range(11)), HOSTILE]
DRUGS = [f"Drug {k}" for k in range(9)]


@pytest.fixture(scope="module")
def cdm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hundred people of two kinds, with repeated events, as an OMOP export."""
    draw, folder = random.Random(5), tmp_path_factory.mktemp("omop")
    conditions, drugs = [], []
    for person in range(1, 401):
        kind = person % 2
        for table, names, first in ((conditions, CONDITIONS, 500), (drugs, DRUGS, 700)):
            half = range(len(names) // 2 + 1) if kind else range(len(names) // 2, len(names))
            for _ in range(draw.randint(1, 7)):
                often = draw.choice(half) if draw.random() < 0.8 else draw.randrange(len(names))
                table.append((person, first + often, f"2020-0{draw.randint(1, 9)}-11"))
    names = {500 + k: one for k, one in enumerate(CONDITIONS)}
    names |= {700 + k: one for k, one in enumerate(DRUGS)}
    people = [(who, 8507 + 25 * (who % 2), 1950) for who in range(1, 401)]
    periods = [(who, who, "2019-01-01", "2021-12-31") for who in range(1, 401)]
    _write(folder, "person", ["person_id", "gender_concept_id", "year_of_birth"], people)
    _write(folder, "concept", ["concept_id", "concept_name"], list(names.items()))
    for table, rows in (("condition", conditions), ("drug", drugs)):
        columns = [f"{table}_era_id", "person_id", f"{table}_concept_id"]
        columns += [f"{table}_era_start_date", f"{table}_era_end_date"]
        numbered = [(k, who, what, when, when) for k, (who, what, when) in enumerate(rows)]
        _write(folder, f"{table}_era", columns, numbered)
    columns = ["observation_period_id", "person_id"]
    columns += ["observation_period_start_date", "observation_period_end_date"]
    _write(folder, "observation_period", columns, periods)
    return folder


def _write(folder: Path, name: str, columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    pd.DataFrame(rows, columns=columns).to_csv(folder / f"{name}.csv", index=False)


@pytest.fixture(scope="module")
def fit(cdm: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fit")
    words = ["--rank", "2", "--iterations", "15", "--seed", "1", "--out", str(out)]
    assert main(["fit", str(cdm), *words]) == 0
    return out


@pytest.fixture(scope="module", params=[(), ("condition=3", "drug=2"), ("condition=2", "drug=0")])
def defined(
    request: pytest.FixtureRequest, fit: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("definition")
    asked = [word for one in request.param for word in ("--at-least", one)]
    assert main(["define", str(fit), "p02", *asked, "--carriers", "--out", str(out)]) == 0
    return out


def expected_people(cdm: Path, defined: Path) -> set[int]:
    """Who fulfils the rule, by pandas from the raw tables."""
    definition = json.loads((defined / "definition.json").read_text())
    people = set(pd.read_csv(cdm / "person.csv")["person_id"])
    for part in definition["parts"]:
        events = pd.read_csv(cdm / f"{part['mode']}_era.csv")
        wanted = {concept for feature in part["features"] for concept in feature["concepts"]}
        assert len(wanted) == len(part["features"])
        column = f"{part['mode']}_concept_id"
        had = events[events[column].isin(wanted)].groupby("person_id")[column].nunique()
        people &= set(had[had >= part["at_least"]].index) if part["at_least"] else people
    return people


def test_the_numbers_are_those_of_a_direct_count(cdm: Path, defined: Path) -> None:
    quality = json.loads((defined / "definition.json").read_text())["quality"]
    people = expected_people(cdm, defined)
    carriers = set(pd.read_csv(defined / "carriers.csv")["patient"])
    assert quality["found"] == len(people) > 0
    assert quality["carriers"] == len(carriers) > 0
    assert quality["right"] == len(people & carriers)
    assert quality["sensitivity"] == pytest.approx(len(people & carriers) / len(carriers))
    assert quality["positive_predictive_value"] == pytest.approx(
        len(people & carriers) / len(people)
    )


def test_the_sql_finds_these_people_in_duckdb(cdm: Path, defined: Path) -> None:
    with duckdb.connect() as database:
        for file in cdm.glob("*.csv"):
            database.read_csv(str(file)).create(file.stem)
        found = database.execute((defined / "cohort.sql").read_text()).fetchall()
    assert [who for (who,) in found] == sorted(expected_people(cdm, defined))


def test_the_sql_finds_these_people_in_postgresql(
    cdm: Path, fit: Path, defined: Path, tmp_path: Path, postgresql_server: str
) -> None:
    rule = json.loads((defined / "definition.json").read_text())["quality"]["at_least"]
    asked = [word for mode, k in rule.items() for word in ("--at-least", f"{mode}={k}")]
    schema = 'odd "schema'
    words = ["define", str(fit), "P02", *asked, "--schema", schema, "--out", str(tmp_path)]
    assert main(words) == 0
    with psycopg.connect(postgresql_server, autocommit=True) as database:
        database.execute('DROP SCHEMA IF EXISTS "odd ""schema" CASCADE')
        database.execute('CREATE SCHEMA "odd ""schema"')
        for name in ("condition", "drug"):
            table = f'"odd ""schema".{name}_era'
            database.execute(f"CREATE TABLE {table} (person_id int, {name}_concept_id int)")
            events = pd.read_csv(cdm / f"{name}_era.csv")[["person_id", f"{name}_concept_id"]]
            with database.cursor().copy(f"COPY {table} FROM STDIN") as sink:
                for row in events.itertuples(index=False):
                    sink.write_row(row)
        found = database.execute((tmp_path / "cohort.sql").read_bytes()).fetchall()
    assert [who for (who,) in found] == sorted(expected_people(cdm, defined))


def test_circe_finds_these_people_by_the_cohort_definition(
    cdm: Path, defined: Path, tmp_path: Path
) -> None:
    file = tmp_path / "cdm.duckdb"
    with duckdb.connect(str(file)) as database:
        for table in cdm.glob("*.csv"):
            database.read_csv(str(table)).create(table.stem)
    expression = cohort_expression_from_json((defined / "atlas.json").read_text())
    cohort = build_cohort(expression, backend=ibis.duckdb.connect(file), cdm_schema="main")
    found = cohort.execute()
    column = next(name for name in found.columns if name in ("subject_id", "person_id"))
    assert set(found[column]) == expected_people(cdm, defined)


@pytest.mark.parametrize("name", ["definition.json", "atlas.json"])
def test_a_definition_is_read_back_and_finds_the_same_rows(
    cdm: Path, defined: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "rows.csv"
    assert main(["match", str(defined / name), str(cdm), "--out", str(out)]) == 0
    known = set(pd.read_csv(cdm / "drug_era.csv")["person_id"])
    assert set(pd.read_csv(out)["patient"]) == expected_people(cdm, defined) & known


def test_own_concepts_serve_data_that_carry_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fit, out, concepts = tmp_path / "fit", tmp_path / "out", tmp_path / "concepts.csv"
    words = ["--rank", "3", "--iterations", "5", "--out", str(fit)]
    assert main(["fit", "heart_failure", *words]) == 0
    define = ["define", str(fit), "P01", "-n", "2", "--out", str(out)]
    assert main(define) == 0
    assert "No SQL and no ATLAS file" in capfd.readouterr().out
    assert not (out / "cohort.sql").exists() and (out / "codes.csv").exists()
    parts = json.loads((out / "definition.json").read_text())["parts"]
    labels = [one["label"] for part in parts for one in part["features"]]
    concepts.write_text("feature,concept_id\nx,no number\n,7\n")
    assert main([*define, "--concepts", str(concepts)]) == 2
    assert "line 2" in (said := capfd.readouterr().err) and "line 3" in said
    table = pd.DataFrame({"feature": labels, "concept_id": range(1, len(labels) + 1)})
    table.to_csv(concepts, index=False)
    assert main([*define, "--concepts", str(concepts)]) == 0
    statement = (out / "cohort.sql").read_text()
    assert '"condition_occurrence"' in statement and '"drug_exposure"' in statement
    assert json.loads((out / "atlas.json").read_text())["ConceptSets"]


@pytest.mark.parametrize(
    "words",
    [
        ["P99"],
        ["P01", "--at-least", "condition"],
        ["P01", "--at-least", "condition=x"],
        ["P01", "--at-least", "nothing=1"],
        ["P01", "--at-least", "condition=99"],
        ["P01", "--at-least", "condition=0", "--at-least", "drug=0"],
        ["P01", "--features", "0"],
        ["P01", "--table", "condition=person"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_defined_is_refused_in_words(
    fit: Path, tmp_path: Path, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["define", str(fit), *words, "--out", str(tmp_path / "d")]) == 2
    said = capfd.readouterr().err
    assert "1 problem:" in said and "Traceback" not in said


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"ConceptSets": []}', '{"format": 1}'])
def test_what_is_no_definition_is_refused(
    cdm: Path, tmp_path: Path, content: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.json").write_text(content)
    out = ["--out", str(tmp_path / "rows.csv")]
    assert main(["match", str(tmp_path / "d.json"), str(cdm), *out]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_a_cohort_that_asks_for_more_is_refused(cdm: Path, fit: Path, tmp_path: Path) -> None:
    assert main(["define", str(fit), "P01", "--out", str(tmp_path)]) == 0
    cohort = json.loads((tmp_path / "atlas.json").read_text())
    group = cohort["InclusionRules"][0]["expression"]
    group["CriteriaList"][0]["StartWindow"]["Start"]["Days"] = 30
    (tmp_path / "atlas.json").write_text(json.dumps(cohort))
    words = ["match", str(tmp_path / "atlas.json"), str(cdm), "--out", str(tmp_path / "rows.csv")]
    assert main(words) == 2

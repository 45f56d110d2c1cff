"""An experiment that was changed elsewhere is refused where it is read, and nowhere else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import made_up

from swiftcore.errors import InvalidData
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.schema import TABLES

RECORDED = sorted((Path(__file__).parents[4] / "benchmarks" / "results").glob("*.json"))
MADE = {
    "two classes": made_up.evaluation(),
    "three classes": made_up.evaluation(("art", "sport", "war")),
    "noise": made_up.noise(),
    "ablation": made_up.ablation(),
    "stability": made_up.stability(),
    "tune": made_up.tune(),
    "links": made_up.links(),
}


def refusal(experiment: Experiment) -> str:
    with pytest.raises(InvalidData) as caught:
        Experiment.from_json(experiment.to_json())
    return str(caught.value)


def with_table(experiment: Experiment, name: str, table: pd.DataFrame) -> Experiment:
    return replace(experiment, tables={**experiment.tables, name: table})


@pytest.mark.parametrize("name", MADE)
def test_whole_experiments_are_read(name: str) -> None:
    made = MADE[name]
    read = Experiment.from_json(made.to_json())
    for key, table in made.tables.items():
        pd.testing.assert_frame_equal(read.tables[key], table, check_dtype=False)


def test_every_recorded_experiment_is_read() -> None:
    plain = [json.loads(path.read_text()) for path in RECORDED]
    experiments = [one for one in plain if isinstance(one, dict) and "tables" in one]
    assert len(experiments) >= 10
    for one in experiments:
        Experiment.from_json(json.dumps(one))


@pytest.mark.parametrize("name", MADE)
def test_every_column_a_page_draws_is_needed(name: str) -> None:
    made = MADE[name]
    for key, schema in TABLES[made.kind].items():
        if key not in made.tables:
            continue
        table = made.tables[key]
        if schema.required:
            tables = {one: made.tables[one] for one in made.tables if one != key}
            assert f"table {key}" in refusal(replace(made, tables=tables))
        for column in (*schema.texts, *schema.numbers, *schema.whole):
            broken = with_table(made, key, table.drop(columns=column))
            assert f"table {key}" in refusal(broken) and f"no column {column}" in refusal(broken)


@pytest.mark.parametrize("name", MADE)
def test_columns_hold_what_a_page_expects(name: str) -> None:
    made = MADE[name]
    for key, table in made.tables.items():
        schema = TABLES[made.kind][key]
        for column in (*schema.numbers, *schema.whole):
            assert f"text in {column}" in refusal(
                with_table(made, key, table.assign(**{column: "x"}))
            )
        for column in schema.texts:
            assert f"no text in {column}" in refusal(
                with_table(made, key, table.assign(**{column: 1.5}))
            )
        for column in schema.whole:
            gaps = table.assign(**{column: [None] * len(table)})
            assert f"no whole numbers in {column}" in refusal(with_table(made, key, gaps))


@pytest.mark.parametrize(
    "about", [{"notes": 3}, {"notes": [1]}, {"classes": "a"}, {"found_from": "much"}]
)
def test_facts_hold_what_a_page_expects(about: dict[str, Any]) -> None:
    assert next(iter(about)) in refusal(replace(MADE["noise"], about=about))


def test_cells_are_text_or_numbers() -> None:
    for cell in ([1], {"a": 1}):
        plain = json.loads(made_up.ablation().to_json())
        plain["tables"]["scores"]["validation"][0] = cell
        with pytest.raises(InvalidData, match="damaged"):
            Experiment.from_json(json.dumps(plain))


def test_another_kind_is_refused() -> None:
    assert "'weather'" in refusal(replace(MADE["noise"], kind="weather"))

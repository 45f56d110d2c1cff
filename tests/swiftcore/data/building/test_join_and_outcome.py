"""Joins against a plain double loop; outcomes, their own codes, and what came before them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from swiftcore.data.building import join as join_module
from swiftcore.data.building.events import Events
from swiftcore.data.building.join import join_events
from swiftcore.data.building.outcome import matches
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.from_path.sandbox import inspect_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
Row = tuple[str, str, str, float]


def events(name: str, rows: list[Row]) -> Events:
    who, visit, what, day = zip(*rows, strict=True)
    feature = Coded.from_texts(name, what)
    return Events(
        name,
        Coded.from_texts("patient", who),
        feature,
        feature.labels,
        visit=Coded.from_texts("visit", visit),
        time=np.array(day),
    )


def random_rows(rng: random.Random, count: int, letter: str) -> list[Row]:
    return [
        (
            f"p{rng.randrange(6)}",
            f"v{rng.randrange(3)}",
            f"{letter}{rng.randrange(4)}",
            float(rng.randrange(60)),
        )
        for _ in range(count)
    ]


def counted(
    tables: list[Events], how: str, window: float = 5, duplicates: str = "sum"
) -> Counter[tuple[str, ...]]:
    cells = join_events(tables, how, window, Findings(), duplicates=duplicates)
    total: Counter[tuple[str, ...]] = Counter()
    for place in range(len(cells)):
        names = [cells.row.labels[cells.row.codes[place]]]
        names += [feature.labels[feature.codes[place]] for feature in cells.features]
        total[tuple(names)] += int(cells.amount[place])
    return total


@pytest.mark.parametrize("how", ["patient", "visit", "window"])
@pytest.mark.parametrize("seed", range(5))
def test_join_of_two_tables_equals_a_double_loop(how: str, seed: int) -> None:
    rng = random.Random(seed)
    first, second = random_rows(rng, 50, "d"), random_rows(rng, 40, "m")
    expected: Counter[tuple[str, ...]] = Counter()
    for who, visit, what, day in first:
        for who2, visit2, what2, day2 in second:
            together = {"patient": True, "visit": visit == visit2, "window": abs(day - day2) <= 5}
            if who == who2 and together[how]:
                expected[(who, what, what2)] += 1
    tables = [events("d", first), events("m", second)]
    assert counted(tables, how) == expected
    assert counted(tables, how, duplicates="refuse") == expected  # nothing put together first


def test_join_of_three_tables() -> None:
    rng = random.Random(8)
    parts = [random_rows(rng, 15, letter) for letter in "abc"]
    expected: Counter[tuple[str, ...]] = Counter()
    for one in parts[0]:
        for two in parts[1]:
            for three in parts[2]:
                if one[:2] == two[:2] == three[:2]:
                    expected[(one[0], one[2], two[2], three[2])] += 1
    tables = [events(letter, rows) for letter, rows in zip("abc", parts, strict=True)]
    assert counted(tables, "visit") == expected


def test_join_counts_who_has_no_partner_and_refuses_the_endless(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    left = events("d", [("p", "v", "a", 0.0), ("q", "v", "a", 0.0)])
    right = events("m", [("p", "v", "x", 0.0), ("r", "v", "x", 0.0), ("s", "v", "x", 0.0)])
    findings = Findings()
    join_events([left, right], "patient", 0, findings)
    assert [(one.where, one.count) for one in findings.left_out] == [("d", 1), ("m", 2)]
    with pytest.raises(InvalidData, match="No events belong together"):
        join_events([left.take(np.array([1])), right], "patient", 0, Findings())
    monkeypatch.setattr(join_module, "MAX_PAIRS", 0)
    with pytest.raises(InvalidData, match="too many pairs"):
        join_events([left, right], "patient", 0, Findings())


def test_codes_match_without_dots_and_by_beginning() -> None:
    codes, labels = ("428.0", "4280, I50.9", "I500", "250.00"), ("HF", "b", "c", "Diabetes")
    assert matches(codes, labels, ["428*"]) == [True, True, False, False]
    assert matches(codes, labels, ["I50.9"]) == [False, True, False, False]
    assert matches(codes, labels, ["diabetes"]) == [False, False, False, True]
    assert matches(codes, labels, ["*"]) == [False] * 4


def hospital(write: Write) -> Path:
    write(
        "hospital/diagnoses.csv",
        "patient_id,visit,date,code\n"
        + "".join(
            f"{who},{visit},{date},{code}\n"
            for who, visit, date, code in [
                ("1", "a", "2020-01-01", "I10"),
                ("1", "b", "2020-06-01", "I50.9"),
                ("1", "b", "2020-07-01", "N18"),
                ("2", "c", "2020-02-01", "I10"),
                ("2", "c", "2020-03-01", "E11"),
                ("3", "d", "2020-02-02", "E11"),
            ]
        ),
    )
    write(
        "hospital/medications.csv",
        "patient_id,visit,date,drug\n"
        + "".join(
            f"{who},{visit},{date},{drug}\n"
            for who, visit, date, drug in [
                ("1", "a", "2020-01-02", "A"),
                ("1", "b", "2020-06-05", "B"),
                ("2", "c", "2020-02-03", "A"),
                ("3", "d", "2020-02-02", "B"),
            ]
        ),
    )
    return write(
        "hospital/patients.csv",
        "patient_id,sex,heart_failure,heart_failure_date\n"
        "1,f,1,2020-06-01\n2,m,0,\n3,m,0,\n4,f,1,2020-01-01\n",
    ).parent


def test_several_tables_of_ones_own(write: Write) -> None:
    folder = hospital(write)
    findings = Findings()
    data = read_path(folder, BuildOptions(outcome_column="heart_failure"), findings)
    assert [mode.name for mode in data.tensor.modes] == ["patient", "code", "drug"]
    assert data.tensor.shape == (3, 4, 2)
    assert data.outcome is not None and data.outcome.tolist() == [True, False, False]
    assert findings.mapping["patients"] == "patients by patient_id"
    visits = read_path(folder, BuildOptions(join="visit"), Findings())
    assert visits.tensor.n_entries < data.tensor.n_entries


def test_outcome_codes_are_removed_and_said_so(write: Write) -> None:
    folder = hospital(write)
    data = read_path(folder, BuildOptions(outcome_codes=("I50*",)), Findings())
    assert "I50.9" not in data.tensor.modes[1].labels and data.summary
    assert data.outcome is not None and data.outcome.tolist() == [True, False, False]
    assert any("the outcome itself ('I50.9')" in one.reason for one in data.summary.left_out)
    assert any("before the outcome" in note for note in data.summary.notes)
    kept = read_path(
        folder, BuildOptions(outcome_codes=("I50*",), keep_outcome_codes=True), Findings()
    )
    assert "I50.9" in kept.tensor.modes[1].labels


@pytest.mark.parametrize("by", [{"outcome_codes": ("I50*",)}, {"outcome_column": "heart_failure"}])
def test_only_events_before_the_outcome(write: Write, by: dict[str, object]) -> None:
    folder = hospital(write)
    options = BuildOptions(before_outcome=True, **by)  # type: ignore[arg-type]
    data = read_path(folder, options, Findings())
    mine = data.tensor.coordinates[data.tensor.coordinates[:, 0] == 0]
    named = {(data.tensor.modes[1].labels[d], data.tensor.modes[2].labels[m]) for _, d, m in mine}
    assert named == {("I10", "A")}  # all of patient 1 that lies before the first of June
    short = BuildOptions(lookback_days=20, **by)  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="same outcome"):
        read_path(folder, short, Findings())


def test_wrong_outcomes_are_refused(write: Write) -> None:
    folder = hospital(write)
    for options, code in [
        (BuildOptions(outcome_codes=("Z99",)), "outcome-absent"),
        (BuildOptions(outcome="death"), "death-missing"),
        (BuildOptions(outcome_column="smoker"), "outcome-column"),
        (BuildOptions(outcome_column="sex", before_outcome=True), "outcome-undated"),
    ]:
        with pytest.raises(InvalidData) as caught:
            read_path(folder, options, Findings())
        assert caught.value.problems[0].code == code


def test_dropped_codes_are_meant_before_and_after_grouping(write: Write) -> None:
    folder = hospital(write)
    raw = read_path(folder, BuildOptions(code_groups="ccs", drop_codes=("I10",)), Findings())
    assert "Essential hypertension" not in raw.tensor.modes[1].labels
    name = BuildOptions(code_groups="ccs", drop_codes=("essential hypertension",))
    assert read_path(folder, name, Findings()).tensor == raw.tensor


def test_one_long_table_has_the_same_outcomes(write: Write) -> None:
    path = write(
        "long.csv",
        "patient,date,dx,rx\n1,2020-01-01,I10,A\n1,2020-06-01,I50,B\n"
        "1,2020-07-01,I10,C\n2,2020-01-01,I10,A\n2,2020-09-01,N18,A\n",
    )
    data = read_path(path, BuildOptions(outcome_codes=("I50*",)), Findings())
    assert data.outcome is not None and data.outcome.tolist() == [True, False]
    assert data.tensor.modes[1].labels == ("I10", "N18") and data.tensor.n_entries == 4
    assert data.summary
    assert any("the outcome itself" in one.reason for one in data.summary.left_out)
    options = BuildOptions(outcome_codes=("I50*",), before_outcome=True)
    assert read_path(path, options, Findings()).tensor.n_entries == 3
    dropped = read_path(path, BuildOptions(drop_codes=("A", "N18")), Findings())
    assert dropped.tensor.modes[2].labels == ("B", "C")
    kept = BuildOptions(outcome_codes=("I50*",), keep_outcome_codes=True)
    assert "I50" in read_path(path, kept, Findings()).tensor.modes[1].labels


def test_no_outcome_names_the_columns_that_could_be_one(write: Write) -> None:
    findings = Findings()
    read_path(hospital(write), BuildOptions(before_outcome=True), findings)
    assert "Columns that could be the outcome: sex, heart_failure." in findings.notes
    assert any("all events count" in note for note in findings.notes)
    assert findings.outcome_candidates == ("sex", "heart_failure")


def test_outcome_columns_keep_names_with_commas_and_words(write: Write) -> None:
    write("odd/diagnoses.csv", "patient_id,code\n1,a\n2,b\n3,a\n4,b\n")
    write("odd/drugs.csv", "patient_id,drug\n1,x\n2,y\n3,x\n4,y\n")
    columns = ("sex", "signs and symptoms", "age, years", "died")
    header = ",".join(["patient_id", *(f'"{name}"' for name in columns)])
    rows = "1,f,none,70,0\n2,m,some,80,1\n3,f,none,70,0\n4,m,some,80,1\n"
    folder = write("odd/patients.csv", f"{header}\n{rows}").parent
    findings = Findings()
    read_path(folder, BuildOptions(), findings)
    assert findings.outcome_candidates == columns
    assert inspect_path(folder).outcome_candidates == columns
    for column in columns:
        data = read_path(folder, BuildOptions(outcome_column=column), Findings())
        assert data.outcome_name == column and data.outcome is not None


def test_dates_that_can_be_read_two_ways_are_asked_for(write: Write) -> None:
    text = "patient,date,code\n1,03/04/2020,a\n1,05/06/2020,b\n"
    write("x/diagnoses.csv", text)
    folder = write("x/drugs.csv", text.replace("code", "drug")).parent
    options = {"join": "window", "window_days": 1.0}
    with pytest.raises(InvalidData) as caught:
        read_path(folder, BuildOptions(**options), Findings())  # type: ignore[arg-type]
    assert {problem.code for problem in caught.value.problems} == {"date-order"}
    settled = BuildOptions(date_order="day first", **options)  # type: ignore[arg-type]
    assert read_path(folder, settled, Findings()).tensor.n_entries == 2


def test_a_column_called_outcome_is_the_outcome_unless_none_is_wanted(write: Write) -> None:
    write("plain/diagnoses.csv", "patient_id,code\n1,a\n2,b\n3,a\n4,b\n")
    write("plain/drugs.csv", "patient_id,drug\n1,x\n2,y\n3,x\n4,y\n")
    rows = "1,f,0\n2,m,1\n3,f,0\n4,m,1\n"
    folder = write("plain/patients.csv", f"patient_id,sex,Outcome\n{rows}").parent
    findings = Findings()
    found = read_path(folder, BuildOptions(), findings)
    assert found.outcome is not None and found.outcome.tolist() == [False, True, False, True]
    assert found.outcome_name == "Outcome" == findings.mapping["outcome"]
    assert read_path(folder, BuildOptions(outcome="none"), Findings()).outcome is None
    sex = read_path(folder, BuildOptions(outcome_column="sex"), Findings()).outcome
    assert sex is not None and set(sex) == {"f", "m"}

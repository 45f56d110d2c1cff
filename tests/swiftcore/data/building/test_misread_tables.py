"""Tables that could pass for something else: read rightly, or asked about, never just accepted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
RNG = random.Random(5)
CODES = [f"{letter}{number}.{digit}" for letter in "EIJ" for number in (10, 25) for digit in "09"]
DRUGS = ["Metformin", "Ramipril", "Aspirin", "Insulin", "Bisoprolol", "Torasemid", "Digoxin"]
ENTRIES = {
    f"{7001 + 3 * k}": (
        sorted(RNG.sample(CODES, RNG.randint(1, 4))),
        sorted(RNG.sample(DRUGS, RNG.randint(1, 3))),
    )
    for k in range(80)
}


def build(path: Path, findings: Findings | None = None, **options: bool) -> Dataset:
    return read_path(path, BuildOptions(**options), findings or Findings())  # type: ignore[arg-type]


def problems(path: Path) -> list[str]:
    with pytest.raises(InvalidData) as caught:
        build(path)
    return [problem.code for problem in caught.value.problems]


def test_a_table_on_its_side_is_asked_about(write: Write) -> None:
    def flags(rows: list[str], columns: list[str], has: Callable[[str, str], bool]) -> str:
        lines = [
            ";".join([row, *("x" if has(row, column) else "" for column in columns)])
            for row in rows
        ]
        return "\n".join([";".join(["name", *columns]), *lines]) + "\n"

    people = list(ENTRIES)
    codes = write("c.csv", flags(CODES, people, lambda code, who: code in ENTRIES[who][0]))
    assert "table-on-its-side" in problems(codes)
    drugs = write("d.csv", flags(DRUGS, people, lambda drug, who: drug in ENTRIES[who][1]))
    assert "table-on-its-side" in problems(drugs)
    assert build(drugs, yes=True).tensor.shape == (7, 80)
    upright = write("u.csv", flags(people, CODES, lambda who, code: code in ENTRIES[who][0]))
    assert build(upright).tensor.shape == (80, 12)


def test_one_line_each_with_names_that_hardly_come_back_is_asked_about(write: Write) -> None:
    """As lists do whose separator nobody knows."""
    lines = [f"{who};{'~'.join(dx)};{'~'.join(rx)}\n" for who, (dx, rx) in ENTRIES.items()]
    path = write("t.csv", "number;found;given\n" + "".join(lines))
    assert "mode-unique" in problems(path)


def test_an_export_that_loses_most_of_its_patients_needs_a_yes(write: Write) -> None:
    write("omop/person.csv", "person_id\n" + "".join(f"{k}\n" for k in range(60)))
    write(
        "omop/condition_occurrence.csv",
        "condition_occurrence_id,person_id,condition_concept_id,condition_start_date\n"
        + "".join(f"{k},{k % 60},{300 + k % 7},2020-01-01\n" for k in range(180)),
    )
    path = write(
        "omop/drug_exposure.csv",
        "drug_exposure_id,person_id,drug_concept_id,drug_exposure_start_date\n"
        + "".join(f"{k},{k % 20},{700 + k % 5},2020-01-01\n" for k in range(60)),
    ).parent
    assert problems(path) == ["rows-lost"]
    assert build(path, yes=True).tensor.shape[0] == 20


def test_fhir_of_free_texts_that_never_come_back_needs_a_yes(write: Write) -> None:
    resources = [
        {
            "resourceType": kind,
            "id": f"{kind}{k}",
            "status": "active",
            "subject": {"reference": f"Patient/{k % 30}"},
            key: {"text": words},
        }
        for k in range(90)
        for kind, key, words in (
            ("Condition", "code", f"finding {k} in words of its own"),
            ("MedicationRequest", "medicationCodeableConcept", DRUGS[k % 7]),
        )
    ]
    path = write("all.ndjson", "".join(json.dumps(one) + "\n" for one in resources))
    assert problems(path) == ["mode-unique"]
    assert build(path, yes=True).tensor.shape == (30, 90, 7)

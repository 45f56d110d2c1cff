"""Tables that could pass for something else: read rightly, or asked about, never just accepted."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from swiftcore.data.building.layouts.profile import list_separator
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


def lists(join: Callable[[list[str]], str]) -> str:
    lines = [f"{who};{join(dx)};{join(rx)}\n" for who, (dx, rx) in ENTRIES.items()]
    return "number;found;given\n" + "".join(lines)


def same_tensor(found: Dataset) -> None:
    labels = [set(mode.labels) for mode in found.tensor.modes]
    assert labels == [set(ENTRIES), set(CODES), set(DRUGS)]
    assert found.tensor.n_entries == sum(len(dx) * len(rx) for dx, rx in ENTRIES.values())


@pytest.mark.parametrize("separator", [" / ", "/", " + ", " & ", "~", " - "])
def test_lists_with_rarer_separators(write: Write, separator: str) -> None:
    same_tensor(build(write("t.csv", lists(separator.join))))


@pytest.mark.parametrize(
    "join",
    [repr, lambda some: repr(tuple(some)), json.dumps, lambda some: "{" + ",".join(some) + "}"],
)
def test_lists_as_programs_write_them(write: Write, join: Callable[[list[str]], str]) -> None:
    body = lists(join).replace('"', "'")  # CSV would read double quotes as its own
    same_tensor(build(write("t.csv", body)))


def test_lists_on_lines_of_their_own_in_a_cell(write: Write) -> None:
    same_tensor(build(write("t.csv", lists(lambda some: '"' + "\n".join(some) + '"'))))


@pytest.mark.parametrize(
    "names",
    [
        ["Amoxicillin/Clavulanate", "Piperacillin/Tazobactam", "Aspirin", "Ramipril/HCT", "HCT"],
        ["Pain and fever", "Aspirin", "B + C vitamins", "Salt & water", "Glucose 5 % / NaCl"],
        [f"{drug}/{other}" for drug in ("Ramipril", "Valsartan", "Losartan") for other in "HA"],
        [f"{what}, {how}" for what in ("Pain", "Fever", "Cough", "Rash") for how in "ac"],
    ],
)
def test_names_with_such_signs_stay_whole(names: list[str]) -> None:
    assert list_separator(dict.fromkeys(names, 9)) == ""


def test_lists_of_measurements_and_of_what_describes_others_are_no_features() -> None:
    rng = random.Random(1)
    for some in (["icd9", "icd10"], ["2020-01-05", "2020-02-07", "2021-01-09"], ["1.5", "22.75"]):
        cells = {"|".join(rng.choices(some, k=rng.randint(2, 6))): 1 for _ in range(60)}
        assert list_separator(cells) == "", some


def test_a_header_that_comes_again_is_no_patient(write: Write) -> None:
    header = "number;found;given\n"
    lines = [f"{who};{dx[0]};{rx[0]}\n" for who, (dx, rx) in ENTRIES.items()]
    findings = Findings()
    path = write("t.csv", header + "".join(lines[:40]) + header + "".join(lines[40:]))
    found = build(path, findings)
    assert set(found.tensor.modes[0].labels) == set(ENTRIES)
    left = [(one.reason, one.count) for one in findings.left_out]
    assert ("lines that repeat the header", 1) in left


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
    lines = [f"{who};{'=='.join(dx)};{'=='.join(rx)}\n" for who, (dx, rx) in ENTRIES.items()]
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


def test_ids_counted_anew_at_every_site_are_asked_about_and_joined_when_told(write: Write) -> None:
    events = [
        (site, str(100 + k), code)
        for k in range(40)
        for site in "AB"
        for code in random.Random(f"{site}{k}").sample(CODES, 3)
    ]
    lines = [";".join(event) for event in events]
    path = write("t.csv", "\n".join(["Klinik;Nr;code", *lines]) + "\n")
    assert problems(path) == ["row-unclear"]
    alone = read_path(path, BuildOptions(columns={"row": "Nr"}), Findings()).tensor
    assert alone.shape[0] == 40
    both = read_path(path, BuildOptions(columns={"row": "Klinik, Nr"}), Findings()).tensor
    assert set(both.modes[0].labels) == {f"{site} / {who}" for site, who, _ in events}
    assert both.n_entries == 240


@pytest.mark.parametrize("mark", ["\t", ",", "|"])
def test_tables_in_a_folder_may_be_called_txt(write: Write, mark: str) -> None:
    for name, place in (("dx", 0), ("rx", 1)):
        lines = [mark.join((who, one, "x")) for who, both in ENTRIES.items() for one in both[place]]
        path = write(f"ward/{name}.txt", "\n".join([mark.join(("mrn", name, "z")), *lines]) + "\n")
    write("ward/readme.txt", "These are tables, we hope.\nSee them; use them.\n")
    same_tensor(build(path.parent))


def events(name: str, place: int, key: str = "pat_id") -> str:
    """A table whose lines have numbers of their own, as tables of databases do."""
    pairs = [(who, one) for who, both in ENTRIES.items() for one in both[place]]
    lines = [f"{k + 1},{who},{one}\n" for k, (who, one) in enumerate(pairs)]
    return f"id,{key},{name}\n" + "".join(lines)


@pytest.mark.parametrize("patients", [True, False])
def test_numbers_of_lines_are_no_patients(write: Write, patients: bool) -> None:
    path = write("d/dx.csv", events("icd", 0))
    write("d/rx.csv", events("drug", 1))
    if patients:
        lines = [f"{who},{k % 3},{40 + k % 30}\n" for k, who in enumerate(ENTRIES)]
        write("d/people.csv", "id,site_id,age\n" + "".join(lines))
    same_tensor(build(path.parent))
    for head in ("id,pat_id", "Lfd. Nr.,Patienten-ID", "row_id,mrn"):
        alone = build(write("alone.csv", events("icd", 0).replace("id,pat_id", head, 1)))
        assert set(alone.tensor.modes[0].labels) == set(ENTRIES), head


def test_numbers_from_1_on_are_ids_beside_a_number_such_as_a_post_code(write: Write) -> None:
    rng = random.Random(3)
    lines = [
        f"{k + 1},{10115 + rng.randrange(9)},{'|'.join(dx)}\n"
        for k, (dx, _) in enumerate(ENTRIES.values())
    ]
    for head in ("Nr", "id"):
        tensor = build(write("t.csv", f"{head},PLZ,dx\n" + "".join(lines))).tensor
        assert tensor.shape[0] == len(ENTRIES) and tensor.modes[0].name == head


def test_numbers_that_are_codes_are_read_in_numbered_columns_flags_beside_them_are_not(
    write: Write,
) -> None:
    rng = random.Random(2)
    codes = ["4280", "25000", "4019", "41401", "4111", "486", "5849"]
    found = {who: rng.sample(codes, 3) for who in ENTRIES}
    head = "mrn,diag1,poa1,diag2,poa2,diag3,poa3\n"
    lines = [
        ",".join([who, *(cell for one in some for cell in (one, rng.choice("YN")))]) + "\n"
        for who, some in found.items()
    ]
    tensor = build(write("t.csv", head + "".join(lines))).tensor
    assert [mode.name for mode in tensor.modes] == ["mrn", "diag"]
    assert tensor.n_entries == 3 * len(ENTRIES)


def test_tables_of_one_kind_are_put_together_and_copies_are_not_used(write: Write) -> None:
    pairs = {
        place: [(who, one) for who, both in ENTRIES.items() for one in both[place]]
        for place in (0, 1)
    }

    def table(some: list[tuple[str, str]]) -> str:
        return "mrn,code\n" + "".join(f"{who},{one}\n" for who, one in some)

    for year in range(3):
        path = write(f"ward/dx {2020 + year} x.csv", table(pairs[0][year::3]))
    write("ward/rx.csv", table(pairs[1]))
    same_tensor(build(path.parent))
    write("copy/dx.csv", table(pairs[0]))
    write("copy/dx (1).csv", table(pairs[0]))
    findings = Findings()
    same_tensor(build(write("copy/rx.csv", table(pairs[1])).parent, findings))
    assert any("says the same" in note for note in findings.notes)
    half = len(pairs[0]) // 2
    write("two/admission.csv", table(pairs[0][:half]))
    path = write("two/discharge.csv", table(pairs[0][half:])).parent
    assert problems(path) == ["tables-alike"]

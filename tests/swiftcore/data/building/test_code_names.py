"""Codes under names and in groups, in tables of one's own and in exports."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swiftcore.data.building.ccs import SYSTEMS, ccs_codes, icd_category
from swiftcore.data.building.code_groups import atc, ccs, icd_categories
from swiftcore.data.building.code_names import CodedModes, coded_modes
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, InvalidSettings

Write = Callable[[str, str | bytes], Path]
Shared = Callable[[str], Path]

FAILURE = "Congestive heart failure; nonhypertensive"
LONG = """patient,diagnosis,medication,date
p1,428,C09AA05,2020-01-01
p1,250,A10BA02,2020-01-02
p2,428.0,C09CA01,2020-01-03
p2,401.9,A10BA02,2020-01-04
p3,428.1,aspirin,2020-01-05
p3,E880.1,C09AA02,2020-01-06
p4,401.9,C09AA05,2020-01-07
p4,428,C09AA05,2020-01-08
"""
NAMES = "code,name\n4280,Heart failure\n401.9,Hypertension\nC09,Renin agents\n"


def built(path: Path, **options: str) -> tuple[Dataset, Findings]:
    findings = Findings()
    return read_path(path, BuildOptions(yes=True, **options), findings), findings  # type: ignore[arg-type]


def refusal(path: Path, **options: str) -> str:
    with pytest.raises((InvalidData, InvalidSettings)) as caught:
        built(path, **options)
    return caught.value.problems[0].code


# --- groups


@pytest.mark.parametrize(
    ("code", "system", "group"),
    [
        ("428", "icd9", FAILURE),
        ("I50", "icd10", FAILURE),
        ("i50.", "icd10", FAILURE),
        ("250", "icd9", "Diabetes mellitus with complications"),  # 38 of its 40 codes
        ("414", "icd9", "Coronary atherosclerosis and other heart disease"),
        ("I10.90", "icd10", "Essential hypertension"),  # German edition; ours has I10 only
        ("zz, 428", "icd9", FAILURE),
        ("42", "icd9", ""),
        ("44054006", "", ""),  # SNOMED: digits that begin like a code of ICD-9
        ("I50", "icd9", ""),
    ],
)
def test_a_code_outside_the_map_goes_with_most_codes_that_begin_so(
    code: str, system: str, group: str
) -> None:
    assert ccs().near(code, system) == group


@given(st.data(), st.sampled_from(SYSTEMS), st.text("0123456789XZ", max_size=3))
def test_the_nearest_group_is_the_most_frequent_below_the_longest_known_beginning(
    data: st.DataObject, system: str, more: str
) -> None:
    codes = ccs().groups[system]
    code = data.draw(st.sampled_from(sorted(codes)))
    asked = code[: data.draw(st.integers(3, len(code)))] + more
    found = ccs().near(asked, system)
    longest = max(
        (
            asked[:n]
            for n in range(3, len(asked) + 1)
            if any(c.startswith(asked[:n]) for c in codes)
        ),
        key=len,
    )
    counts = Counter(group for one, group in codes.items() if one.startswith(longest))
    assert counts[found] == max(counts.values())
    assert ccs().near(asked[:1] + "." + asked[1:].lower(), system) == found


@given(st.sampled_from(SYSTEMS), st.data())
def test_every_code_has_a_category_that_it_begins_with(system: str, data: st.DataObject) -> None:
    code = data.draw(st.sampled_from(sorted(ccs_codes(system))))
    category = icd_category(code, system)
    assert code.startswith(category)
    assert len(category) == (4 if system == "icd9" and code[0] == "E" else 3)
    assert icd_category(category, system) == category == icd_categories().group(code, system)


@pytest.mark.parametrize(
    ("characters", "groups"), [(1, "C C"), (3, "C09 C09"), (4, "C09A C09A"), (5, "C09AA ")]
)
def test_atc_groups_are_beginnings_and_nothing_else_has_one(characters: int, groups: str) -> None:
    cut = atc(characters)
    assert [cut.group("c09aa05", ""), cut.group("C09A", "")] == groups.split(" ")
    assert [cut.group(one, "") for one in ("aspirin", "C9", "C09AA055", "1191", "")] == [""] * 5


def test_modes_are_known_by_their_names() -> None:
    assert coded_modes(["diagnosis", "medication"]) == CodedModes(0, 1)
    assert coded_modes(["drug", "icd"]) == CodedModes(1, 0)
    assert coded_modes(["a", "b"]) == CodedModes(0, 1)
    assert coded_modes(["code"]) == CodedModes(0, None)
    assert coded_modes(["atc"]) == CodedModes(None, 0)


def test_a_long_table_is_grouped_and_its_dates_stay(write: Write) -> None:
    data, findings = built(write("t.csv", LONG), code_groups="ccs", medication_groups="atc3")
    assert data.tensor.modes[1].labels == (
        FAILURE,
        "Diabetes mellitus with complications",
        "E Codes: Fall",
        "Essential hypertension",
    )
    assert data.tensor.modes[2].labels == ("A10", "C09", "aspirin")
    notes = " ".join(findings.notes)
    assert "2 codes are not in the CCS themselves" in notes
    assert "1 codes (1 events) have no ATC (3 characters); they stay as they are" in notes
    assert data.side.events is not None and len(data.side.events.row) == 16
    assert "diagnoses grouped by CCS, medications grouped by ATC" in data.origin


def test_categories_keep_what_is_no_code(write: Write) -> None:
    data, findings = built(write("t.csv", LONG.replace("p4,428,", "p4,gout,")), code_groups="icd3")
    assert data.tensor.modes[1].labels == ("250", "401", "428", "E880", "gout")
    assert any("1 codes (1 events) have no ICD category" in note for note in findings.notes)
    assert not findings.left_out


def test_one_category_of_two_systems_stays_two(write: Write) -> None:
    write(
        "hosp/diagnoses_icd.csv",
        "subject_id,hadm_id,icd_code,icd_version\n1,1,V4581,9\n"
        "1,1,V451XXA,10\n2,2,4280,9\n2,2,V4581,9\n",
    )
    write("hosp/patients.csv", "subject_id,gender\n1,F\n2,M\n")
    path = write("hosp/prescriptions.csv", "subject_id,hadm_id,drug\n1,1,Aspirin\n2,2,Aspirin\n")
    data, _ = built(path.parents[1], code_groups="icd3")
    assert data.tensor.modes[1].labels == ("428", "V45 (icd10)", "V45 (icd9)")


def test_a_group_may_be_the_outcome_of_a_long_table(write: Write) -> None:
    path = write("t.csv", LONG)
    data, _ = built(path, code_groups="ccs", outcome_codes=("Essential hypertension",))  # type: ignore[arg-type]
    assert "Essential hypertension" not in data.tensor.modes[1].labels
    assert data.outcome is not None and data.outcome.tolist() == [False, True, False, True]


def test_groups_that_do_not_fit_or_are_not_there_are_refused(write: Write) -> None:
    path = write("t.csv", LONG.replace("C09", "drug ").replace("A10", "pill "))
    assert refusal(path, medication_groups="atc3") == "map-foreign"
    assert refusal(path, code_groups="icd4") == "map-missing"
    alone = write("one.csv", "patient,code\np1,428\np1,401\np2,428\np2,250\n")
    _, findings = built(alone, medication_groups="atc3")
    assert "There are no medications to group: the features are code." in findings.notes


# --- names


def test_names_of_ones_own_table_are_shown_with_their_codes(write: Write) -> None:
    names = str(write("names.csv", NAMES))
    data, findings = built(write("t.csv", LONG), code_names=names, medication_groups="atc3")
    assert data.tensor.modes[1].labels == (
        "250",
        "428",
        "428.1",
        "E880.1",
        "Heart failure [428.0]",
        "Hypertension [401.9]",
    )
    assert data.tensor.modes[2].labels == ("A10", "Renin agents [C09]", "aspirin")
    assert "diagnosis: 4 of 6 codes have no name in names.csv; they stay as they are." in (
        findings.notes
    )
    assert data.options["code_names"] == "names.csv"
    assert data.side.events is not None and len(data.side.events.row) == 16


def test_names_change_no_number(write: Write) -> None:
    path, names = write("t.csv", LONG), str(write("names.csv", NAMES))
    plain, named = built(path)[0].tensor, built(path, code_names=names)[0].tensor
    assert plain.shape == named.shape
    assert sorted(plain.values.tolist()) == sorted(named.values.tolist())


def test_diagnoses_can_have_the_names_of_the_ccs(write: Write) -> None:
    data, _ = built(write("t.csv", LONG), code_names="ccs")
    assert f"{FAILURE} [428]" in data.tensor.modes[1].labels
    assert f"{FAILURE} [428.1]" in data.tensor.modes[1].labels
    assert "C09AA05" in data.tensor.modes[2].labels  # looks like ICD-10, C09 a cancer


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ("code,name\nX99.9,nothing here\n", "names-foreign"),
        ("code,name\n428,one\n428,two\n", "map-doubtful"),
        ("code,name\n,\n", "map-empty"),
        ("code\n428\n", "map-columns"),
    ],
)
def test_tables_of_names_that_cannot_serve_are_refused(write: Write, table: str, code: str) -> None:
    assert refusal(write("t.csv", LONG), code_names=str(write("names.csv", table))) == code


# --- real files


def test_real_diagnoses_cut_to_categories_are_grouped(shared: Shared, write: Write) -> None:
    with (shared("mimic3_demo") / "DIAGNOSES_ICD.csv").open() as handle:
        rows = list(csv.DictReader(handle))
    cut = [f"{row['subject_id']},{icd_category(row['icd9_code'], 'icd9')}" for row in rows]
    path = write("categories.csv", "\n".join(["patient,diagnosis", *cut, ""]))
    data, findings = built(path, code_groups="ccs")
    assert not findings.left_out  # without beginnings most of them were unknown
    assert sum(data.tensor.values) == len(rows)
    assert FAILURE in data.tensor.modes[1].labels


def test_real_names_of_real_codes(shared: Shared, write: Write) -> None:
    folder = shared("mimic3_demo")
    with (folder / "D_ICD_DIAGNOSES.csv").open() as handle:
        titles = {row["icd9_code"]: row["short_title"] for row in csv.DictReader(handle)}
    table = "".join(f'{code[:3]}.{code[3:]},"{name}"\n' for code, name in titles.items())
    names = str(write("names.csv", "code,name\n" + table))
    with (folder / "DIAGNOSES_ICD.csv").open() as handle:
        rows = [(row["subject_id"], row["icd9_code"]) for row in csv.DictReader(handle)]
    lines = "".join(f"{who},{code}\n" for who, code in rows)
    own, findings = built(write("long.csv", "patient,diagnosis\n" + lines), code_names=names)
    known = {code for _, code in rows if code in titles}
    expected = {f"{titles[code]} [{code}]" for code in known}
    assert expected <= set(own.tensor.modes[1].labels)
    unknown = len({code for _, code in rows}) - len(known)
    assert sum("have no name" in note for note in findings.notes) == (unknown > 0)
    export, _ = built(folder, code_names=names)
    assert set(export.tensor.modes[1].labels) <= expected | {
        label for label in export.tensor.modes[1].labels if "[" not in label
    }
    assert len(expected & set(export.tensor.modes[1].labels)) > 0.9 * export.tensor.shape[1]

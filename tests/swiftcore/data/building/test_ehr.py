"""EHR layouts from cut-down exports: names, systems, missing tables, dangling ids."""

from __future__ import annotations

import gzip
import itertools
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from swiftcore.data.building.code_groups import ccs, guess_systems, map_from_rows
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, Problem

Write = Callable[[str, str | bytes], Path]

OMOP = {
    "PERSON.csv": "person_id,year_of_birth\n1,1950\n2,1960\n",
    "CONDITION_OCCURRENCE.csv": "condition_occurrence_id,person_id,condition_concept_id,"
    "condition_start_date,visit_occurrence_id\n1,1,10,2020-01-01,5\n2,1,11,2020-02-01,6\n"
    "3,2,10,2020-01-01,7\n4,2,0,2020-01-01,7\n5,3,10,2020-01-01,8\n",
    "DRUG_EXPOSURE.csv": "drug_exposure_id,person_id,drug_concept_id,"
    "drug_exposure_start_date,visit_occurrence_id\n1,1,20,2020-01-01,5\n2,2,21,2020-01-05,7\n"
    "3,3,99,2020-01-05,8\n",
    "CONCEPT.csv": "concept_id\tconcept_name\n10\tSame\n11\tSame\n20\tAspirin\n21\tBeta\n",
    "DEATH.csv": "person_id,death_date\n2,2021-01-01\n",
}
MIMIC4 = {
    "hosp/patients.csv": "subject_id,gender,dod\n1,F,\n2,M,\n",
    "hosp/admissions.csv": "subject_id,hadm_id,admittime,deathtime,hospital_expire_flag\n"
    "1,11,2150-01-01 00:00:00,,0\n2,22,2151-01-01 00:00:00,2151-01-03 00:00:00,1\n",
    "hosp/diagnoses_icd.csv": "subject_id,hadm_id,seq_num,icd_code,icd_version\n"
    "1,11,1,V4581,9\n1,11,2,V4581,10\n2,22,1,I509,10\n2,22,2,4280,9\n",
    "hosp/d_icd_diagnoses.csv": "icd_code,icd_version,long_title\n"
    'V4581,9,Aortocoronary bypass status\nI509,10,"Heart failure, unspecified"\n',
    "hosp/prescriptions.csv": "subject_id,hadm_id,starttime,drug\n"
    "1,11,2150-01-01 08:00:00,Aspirin\n2,22,2151-01-01 08:00:00,Furosemide\n",
}
SYNTHEA = {
    "patients.csv": "Id,BIRTHDATE,DEATHDATE\na,1950-01-01,\nb,1950-01-01,2001-01-01\n",
    "conditions.csv": "START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION\n"
    "2000-01-01,,a,e1,1,Flu\n2000-01-01,,b,e2,2,Flu\n",
    "medications.csv": "START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION\n"
    "2000-01-01,,a,e1,8,Pill\n2000-01-01,,b,e2,8,Pill (new name)\n",
}


def export(write: Write, tables: dict[str, str], change: Callable[[str], str] = str) -> Path:
    for name, text in tables.items():
        write(f"export/{change(name)}", text)
    return write("export/README.md", "not a table").parent


def codes(path: Path, **options: object) -> list[str]:
    with pytest.raises(InvalidData) as caught:
        read_path(path, BuildOptions(**options), Findings())  # type: ignore[arg-type]
    return [problem.code for problem in caught.value.problems]


def test_omop_occurrences(write: Write) -> None:
    findings = Findings()
    data = read_path(export(write, OMOP), BuildOptions(outcome="death"), findings)
    assert findings.kind == "omop"
    assert data.tensor.modes[1].labels == ("Same [10]", "Same [11]")
    assert data.tensor.modes[2].labels == ("99", "Aspirin", "Beta")
    assert data.outcome is not None and data.outcome.tolist() == [False, True, False]
    notes = " ".join(findings.notes)
    assert "1 codes of drug_concept_id are not in CONCEPT" in notes
    assert "belong to patients not in PERSON" in notes
    assert any("without a concept" in one.reason and one.count == 1 for one in findings.left_out)


def test_omop_per_visit_and_without_names(write: Write) -> None:
    fewer = {name: text for name, text in OMOP.items() if name != "CONCEPT.csv"}
    findings = Findings()
    data = read_path(export(write, fewer), BuildOptions(join="visit"), findings)
    assert data.tensor.n_entries == 3
    assert any("no table CONCEPT" in note for note in findings.notes)


@pytest.mark.parametrize("tables", [OMOP, MIMIC4, SYNTHEA], ids=["omop", "mimic4", "synthea"])
def test_case_gz_and_zip_make_no_difference(
    write: Write, tmp_path: Path, tables: dict[str, str]
) -> None:
    plain = read_path(export(write, tables), BuildOptions(), Findings()).tensor
    for number, change in enumerate([str.lower, str.upper]):
        folder = tmp_path / f"other{number}"
        for name, text in tables.items():
            file = folder / (change(name) + ".gz")
            file.parent.mkdir(parents=True, exist_ok=True)
            head, _, rest = text.partition("\n")
            file.write_bytes(gzip.compress(f"{change(head)}\n{rest}".encode()))
        assert read_path(folder, BuildOptions(), Findings()).tensor == plain
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as out:
        for name, text in tables.items():
            out.writestr(f"../../inside/{name}", text)  # names are labels only
    before = sorted(tmp_path.rglob("*"))
    assert read_path(archive, BuildOptions(), Findings()).tensor == plain
    assert sorted(tmp_path.rglob("*")) == before


def test_the_first_rows_of_every_table_that_is_read_are_shown(write: Write) -> None:
    findings = Findings()
    read_path(export(write, OMOP), BuildOptions(outcome="death"), findings)
    shown = {one.table: one for one in findings.previews}
    assert sorted(shown) == sorted(OMOP)
    assert shown["PERSON.csv"].columns == ("person_id", "year_of_birth")
    assert shown["PERSON.csv"].rows == (("1", "1950"), ("2", "1960"))


def test_zip_with_one_name_twice_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "twice.zip"
    with zipfile.ZipFile(archive, "w") as out:
        out.writestr("a/1.txt", "one text here.")
        with pytest.warns(UserWarning, match="Duplicate"):
            out.writestr("a/1.txt", "another text here.")
    assert codes(archive) == ["zip-twice"]


def test_missing_tables_are_all_named(write: Write) -> None:
    folder = export(write, {name: OMOP[name] for name in ("PERSON.csv", "DRUG_EXPOSURE.csv")})
    with pytest.raises(InvalidData) as caught:
        read_path(folder, BuildOptions(), Findings())
    problem = caught.value.problems[0]
    assert problem.code == "table-missing"
    assert "CONDITION_ERA or CONDITION_OCCURRENCE" in problem.found


@pytest.mark.parametrize("missing", ["person_id", "condition_concept_id"])
def test_missing_columns_are_named(write: Write, missing: str) -> None:
    broken = dict(OMOP)
    head, _, rest = broken["CONDITION_OCCURRENCE.csv"].partition("\n")
    broken["CONDITION_OCCURRENCE.csv"] = head.replace(missing, "other") + "\n" + rest
    assert codes(export(write, broken)) == ["column-missing"]


def test_mimic4_code_systems_stay_apart(write: Write) -> None:
    data = read_path(export(write, MIMIC4), BuildOptions(), Findings())
    assert data.tensor.modes[1].labels == (
        "4280",
        "Aortocoronary bypass status",
        "Heart failure, unspecified",
        "V4581",
    )
    findings = Findings()
    grouped = read_path(
        export(write, MIMIC4), BuildOptions(code_groups="ccs", outcome="death"), findings
    )
    failure = "Congestive heart failure; nonhypertensive"
    assert failure in grouped.tensor.modes[1].labels  # from ICD-9 4280 and ICD-10 I509
    assert grouped.outcome is not None and grouped.outcome.tolist() == [False, True]
    assert grouped.summary and any("grouped by CCS" in note for note in grouped.summary.notes)


def test_synthea_never_merges_a_code_with_two_names(write: Write) -> None:
    data = read_path(export(write, SYNTHEA), BuildOptions(outcome="death"), Findings())
    assert data.tensor.modes[1].labels == ("Flu [1]", "Flu [2]")
    assert data.tensor.modes[2].labels == ("Pill", "Pill (new name)")
    assert data.outcome is not None and data.outcome.tolist() == [False, True]


def test_every_single_missing_file_is_a_result_or_a_refusal_in_words(write: Write) -> None:
    problems: dict[str, tuple[Problem, ...]] = {}
    for number, (tables, gone) in enumerate(
        itertools.chain.from_iterable(
            [(tables, name) for name in tables] for tables in (OMOP, MIMIC4, SYNTHEA)
        )
    ):
        for name, text in tables.items():
            if name != gone:
                path = write(f"cut{number}/{name}", text)
        folder = next(one for one in path.parents if one.name == f"cut{number}")
        try:
            read_path(folder, BuildOptions(), Findings())
        except InvalidData as error:
            problems[gone] = error.problems
    assert all(one.cure and one.where for found in problems.values() for one in found)
    kinds = {"PERSON", "CONDITION_OCCURRENCE", "DRUG_EXPOSURE", "conditions", "medications"}
    needed = kinds | {"hosp/diagnoses_icd", "hosp/prescriptions"}
    assert set(problems) == {f"{name}.csv" for name in needed}  # the others can be done without


def test_code_systems_by_company() -> None:
    nine = guess_systems(("428.0", "V45.81", "E980.0", "250"))
    ten = guess_systems(("I50.9", "V45.81", "E11.9", "K21"))
    assert nine == ("icd9", "icd9", "icd9", "icd9")
    assert ten == ("icd10", "icd10", "icd10", "icd10")


def test_ccs_groups_both_editions_alike() -> None:
    tables = ccs()
    assert tables.group("428.0", "icd9") == tables.group("I50.9", "icd10")
    assert tables.group("401.9, I10", "") == "Essential hypertension"
    assert tables.group("nonsense", "") == ""


def test_a_grouping_that_does_not_fit_is_refused(write: Write) -> None:
    assert codes(export(write, SYNTHEA), code_groups="ccs") == ["map-foreign"]


def test_maps_of_ones_own() -> None:
    mapped = map_from_rows([["A01", "g1", "Group one"], ["b.2", "g2", ""]], "my map")
    assert mapped.group("a01", "") == "Group one" and mapped.group("B2", "") == "g2"
    with pytest.raises(InvalidData, match="two groups"):
        map_from_rows([["a", "x"], ["a", "y"]], "my map")
    with pytest.raises(InvalidData, match="no codes"):
        map_from_rows([["", ""]], "my map")


def test_medications_by_a_map_file(write: Write) -> None:
    groups = write("drugs.csv", "code;group\nAspirin;thinner\nFurosemide;water\n")
    options = BuildOptions(medication_groups=str(groups))
    data = read_path(export(write, MIMIC4), options, Findings())
    assert data.tensor.modes[2].labels == ("thinner", "water")

"""MIMIC-IV and OMOP in the shape in which they are published."""

from __future__ import annotations

import csv
import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from support.rewritten import Table, read_folder

from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.from_path.sandbox import build_path, inspect_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings

Shared = Callable[[str], Path]
OMOP = ("PERSON", "CONDITION_ERA", "DRUG_ERA", "CONCEPT")


def write_csv(path: Path, table: Table, *, header: bool = True, delimiter: str = ",") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else path.open("w") as handle:
        rows = [table[0], *table[1]] if header else table[1]
        csv.writer(handle, delimiter=delimiter, lineterminator="\n").writerows(rows)


def test_mimic_iv_in_its_folders(shared: Shared, tmp_path: Path) -> None:
    """The demo of MIMIC-III, written as MIMIC-IV publishes the same tables."""
    folder = shared("mimic3_demo")
    tables = read_folder(folder, ("DIAGNOSES_ICD", "PRESCRIPTIONS", "PATIENTS", "ADMISSIONS"))
    header, rows = tables["DIAGNOSES_ICD"]
    renamed = ["icd_code" if name.lower() == "icd9_code" else name.lower() for name in header]
    tables["DIAGNOSES_ICD"] = [*renamed, "icd_version"], [[*row, "9"] for row in rows]
    header, rows = tables["PRESCRIPTIONS"]
    renamed = [{"startdate": "starttime", "enddate": "stoptime"}.get(n.lower(), n) for n in header]
    tables["PRESCRIPTIONS"] = renamed, rows
    for name, (header, rows) in tables.items():
        lower = [column.lower() for column in header]
        write_csv(tmp_path / "iv" / "hosp" / f"{name.lower()}.csv.gz", (lower, rows))
    write_csv(tmp_path / "iv" / "icu" / "icustays.csv.gz", (["subject_id"], [["1"]]))
    (tmp_path / "iv" / "LICENSE.txt").write_text("ODbL")
    for name in ("DIAGNOSES_ICD", "PRESCRIPTIONS", "PATIENTS", "ADMISSIONS"):
        (tmp_path / "iii").mkdir(exist_ok=True)
        (tmp_path / "iii" / f"{name}.csv").write_bytes((folder / f"{name}.csv").read_bytes())
    options = BuildOptions(outcome="death", join="visit")
    four, three = build_path(tmp_path / "iv", options), build_path(tmp_path / "iii", options)
    assert four.summary and four.summary.kind == "mimic4"
    assert four.tensor.digest() == three.tensor.digest()
    assert four.outcome is not None and three.outcome is not None
    assert four.outcome.tolist() == three.outcome.tolist()


@pytest.mark.parametrize(("ending", "delimiter"), [(".csv", ","), (".csv.gz", "\t")])
def test_omop_without_header_lines(
    shared: Shared, tmp_path: Path, ending: str, delimiter: str
) -> None:
    tables = read_folder(shared("gibleed_omop"), OMOP)
    for name, table in tables.items():
        tables[name] = table[0], table[1][:3000]
        write_csv(tmp_path / "named" / f"{name}{ending}", tables[name], delimiter=delimiter)
        bare = tmp_path / "bare" / f"CDM_{name}{ending}"
        write_csv(bare, tables[name], header=False, delimiter=delimiter)
    findings, cut_off = Findings(), BuildOptions(yes=True)  # so that few patients are in all tables
    bare_data = read_path(tmp_path / "bare", cut_off, findings)
    named = read_path(tmp_path / "named", cut_off, Findings())
    assert bare_data.tensor.digest() == named.tensor.digest()
    assert [one.name for one in bare_data.side.covariates] == [
        one.name.lower() for one in named.side.covariates
    ]
    told = [note for note in findings.notes if "has no header line" in note]
    assert len(told) == 4 and any("the OMOP CDM's person" in note for note in told)
    assert not any("is called 'column" in note for note in findings.notes)


SYNPUF = {  # of the CDM 5.2.2, made up
    "person.csv": "1,8507,1923,5,1,,8527,38003564,1,,,00013D,1,,1,,1,\n",
    "condition_occurrence.csv": "7,1,320128,2010-03-12,,2010-03-12,,38000230,,66,9,4019,1,,\n",
    "drug_exposure.csv": "5,1,1308216,2010-03-12,,2010-04-12,,,38000175,,,30,30,,,,,9,1,1,,\n",
}


def synpuf(folder: Path, **changed: str) -> Path:
    folder.mkdir()
    for name, line in SYNPUF.items():
        second = line.replace(",1,", ",2,", 1) if name != "person.csv" else "2" + line[1:]
        cells = changed.get(name.removesuffix(".csv"), "")
        lines = [one.rstrip("\n") + cells for one in (line, second, line, second)]
        if name == "person.csv":
            lines = lines[:2]
        (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def test_synpuf_as_it_is_published(tmp_path: Path) -> None:
    data = read_path(synpuf(tmp_path / "a"), BuildOptions(join="visit"), Findings())
    assert data.tensor.shape == (2, 1, 1)
    assert data.tensor.modes[1].labels == ("320128",)


def test_files_beyond_the_limit_are_no_matter_if_they_are_not_needed(tmp_path: Path) -> None:
    folder = synpuf(tmp_path / "a")
    with (folder / "measurement.csv").open("wb") as handle:
        handle.truncate(2 << 30)  # two gigabytes, none of them on the disk
    assert read_path(folder, BuildOptions(), Findings()).tensor.shape == (2, 1, 1)


def test_a_missing_header_is_named_once_when_the_columns_fit_no_version(tmp_path: Path) -> None:
    folder = synpuf(tmp_path / "a", person=",", condition_occurrence=",,", drug_exposure=",,,")
    found = inspect_path(folder)
    assert [problem.code for problem in found.problems] == ["header-missing"]
    assert (
        "17 columns where the OMOP CDM's condition_occurrence has 11 or" in found.problems[0].found
    )
    assert found.kind == "omop"


def test_a_zip_of_an_export_in_folders(tmp_path: Path) -> None:
    folder = synpuf(tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"synpuf/{path.name}")
    one, other = (read_path(p, BuildOptions(), Findings()) for p in (folder, tmp_path / "a.zip"))
    assert one.tensor.digest() == other.tensor.digest()

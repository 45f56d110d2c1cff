"""Every folder of real data is read end to end; counts equal those its papers state."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from swiftcore.data.building.code_groups import CodeMap, ccs, regroup
from swiftcore.data.building.ehr import read_export
from swiftcore.data.building.ehr_layouts import EICU
from swiftcore.data.from_path.report import build_bundle, describe
from swiftcore.data.from_path.sandbox import build_path, inspect_path
from swiftcore.data.from_path.table_sources import tables_in
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.errors import InvalidData

Shared = Callable[[str], Path]


def test_eicu_tidy(shared: Shared, tmp_path: Path) -> None:
    data, _ = build_bundle(shared("eicu_demo"), tmp_path / "eicu.swift.npz")
    assert data.tensor.shape == (1145, 135, 166)
    assert data.tensor.n_entries == 87_738
    assert data.summary and data.summary.tables["tidy_patients.csv.gz"] == 1841


def test_eicu_heart_failure_without_its_own_group(shared: Shared) -> None:
    whole = build_path(shared("eicu_demo"), BuildOptions(outcome_column="hf_dx, hf_history"))
    assert whole.tensor.shape == (1145, 135, 166)
    assert whole.outcome is not None and int(whole.outcome.sum()) == 235
    assert whole.summary and any("Congestive" in one.feature for one in whole.summary.leaky)
    options = BuildOptions(outcome_column="hf_dx, hf_history", drop_codes=("108",))
    dropped = build_path(shared("eicu_demo"), options)
    assert dropped.tensor.shape[1:] == (134, 166)
    assert dropped.summary and not dropped.summary.leaky
    assert any("to be dropped" in one.reason for one in dropped.summary.left_out)


def test_eicu_deaths(shared: Shared) -> None:
    data = build_path(shared("eicu_demo"), BuildOptions(outcome="death"))
    assert data.outcome is not None and int(data.outcome.sum()) == 126


def test_eicu_raw_tables(shared: Shared) -> None:
    options = BuildOptions(tables="raw", code_groups="ccs", join="visit", outcome="death")
    data = build_path(shared("eicu_demo"), options)
    assert data.summary and data.summary.kind == "eicu"
    assert data.summary.tables["diagnosis.csv.gz"] == 24_978
    assert data.summary.tables["medication.csv.gz"] == 75_604
    assert data.summary.tables["patient.csv.gz"] == 2520
    cancelled = [one for one in data.summary.left_out if one.reason == "cancelled orders"]
    assert cancelled and cancelled[0].count == 2636


def test_ccs_grouping_of_raw_eicu_agrees_with_the_tidy_table(shared: Shared) -> None:
    folder = shared("eicu_demo")
    options, findings = BuildOptions(), Findings()
    records = read_export(
        tables_in(Source(folder, Budget(options.limits)), options, findings),
        EICU,
        options,
        findings,
    )
    assert records.died is not None and len(records.died) == 181

    def pairs(grouping: CodeMap) -> set[tuple[str, str]]:
        grouped = regroup(records.events[0], grouping, findings)
        return {
            (grouped.subject.labels[who], grouped.feature.labels[what])
            for who, what in zip(grouped.subject.codes, grouped.feature.codes, strict=True)
        }

    ours = pairs(CodeMap("the codes themselves", ccs().groups))  # all that the tidy table knows
    with gzip.open(folder / "tidy_diagnoses_ccs.csv.gz", "rt") as handle:
        theirs = {(row["patient"], row["ccs_name"]) for row in csv.DictReader(handle)}
    assert len(ours & theirs) >= 0.998 * len(ours | theirs)
    added = pairs(ccs()) - ours  # by the beginnings of 13 cut-off codes of injuries, S22.4 and such
    assert added and {group for _, group in added} <= {
        "Crushing injury or internal injury",
        "Joint disorders and dislocations; trauma-related",
        "Other fractures",
        "Poisoning by other medications and drugs",
        "Spinal cord injury",
        "Superficial injury; contusion",
    }


def test_synthea(shared: Shared) -> None:
    data = build_path(shared("synthea_1k"), BuildOptions(outcome="death"))
    assert data.tensor.shape == (1306, 117, 97)
    assert data.summary
    assert list(data.summary.tables.values()) == [7040, 6048, 1462]
    everyone = build_path(shared("synthea_1k"), BuildOptions(join="visit"))
    assert everyone.tensor.n_entries < data.tensor.n_entries


def test_gibleed(shared: Shared) -> None:
    data = build_path(shared("gibleed_omop"))
    assert data.tensor.shape == (2694, 80, 86)
    assert data.tensor.n_entries == 367_753
    assert data.summary and data.summary.tables["CONDITION_ERA.csv.gz"] == 65_719
    assert data.summary.tables["DRUG_ERA.csv.gz"] == 52_508


def test_gibleed_outcome_from_codes_loses_its_own_code(shared: Shared) -> None:
    options = BuildOptions(outcome_codes=("Gastrointestinal hemorrhage",), before_outcome=True)
    data = build_path(shared("gibleed_omop"), options)
    assert data.tensor.shape[1] == 79
    assert "Gastrointestinal hemorrhage" not in data.tensor.modes[1].labels
    assert data.outcome is not None and 400 < int(data.outcome.sum()) <= 479
    reasons = " ".join(one.reason for one in data.summary.left_out) if data.summary else ""
    assert "the outcome itself" in reasons and "at or after the outcome" in reasons
    everything = build_path(
        shared("gibleed_omop"), BuildOptions(outcome_codes=("192671",), keep_outcome_codes=True)
    )
    assert everything.tensor.shape == (2694, 80, 86)
    assert everything.outcome is not None and int(everything.outcome.sum()) == 479
    assert everything.summary and everything.summary.leaky[0].auc > 0.99


def test_gibleed_has_no_deaths(shared: Shared) -> None:
    with pytest.raises(InvalidData) as caught:
        build_path(shared("gibleed_omop"), BuildOptions(outcome="death"))
    assert caught.value.problems[0].code == "death-missing"


def test_mimic3(shared: Shared) -> None:
    data = build_path(shared("mimic3_demo"), BuildOptions(outcome_codes=("428*",)))
    assert data.tensor.shape[0] == 94
    assert data.tensor.shape[2] == 592
    assert data.outcome is not None and int(data.outcome.sum()) == 33
    assert data.summary and data.summary.tables["DIAGNOSES_ICD.csv"] == 1761
    assert data.summary.tables["PRESCRIPTIONS.csv"] == 10_398
    assert "Congestive heart failure, unspecified" not in data.tensor.modes[1].labels
    assert data.summary.similar_name_count > 0  # 'Azithromycin' and 'Azithromycin '


def test_mimic3_grouped_per_visit(shared: Shared) -> None:
    options = BuildOptions(rows="visit", code_groups="ccs", outcome="death", values="binary")
    data = build_path(shared("mimic3_demo"), options)
    assert len(data.row_groups) == data.tensor.shape[0] > 94
    assert set(data.tensor.values) == {1.0}
    assert data.tensor.modes[0].name == "visit"


def test_bbc(shared: Shared) -> None:
    data = build_path(shared("bbc"))
    assert data.tensor.shape == (2225, 100, 100)
    assert data.outcome is not None
    classes, counts = np.unique(data.outcome, return_counts=True)
    assert dict(zip(classes, counts.tolist(), strict=True)) == {
        "business": 510,
        "entertainment": 386,
        "politics": 417,
        "sport": 511,
        "tech": 401,
    }
    assert data.word_counts is not None and data.word_counts.shape == (2225, len(data.words))
    assert data.summary
    notes = " ".join(data.summary.notes)
    assert "100 documents repeat another one" in notes
    assert "sport/199.txt is not UTF-8" in notes


@pytest.mark.parametrize(
    ("file", "shape", "entries"),
    [
        ("splatt_small.tns", (2, 3, 2), 6),
        ("splatt_small4.tns", (2, 2, 3, 3), 8),
        ("splatt_med.tns.gz", (2425, 10816, 29567), 100_000),
        ("splatt_med4.tns.gz", (60114, 83826, 23034, 1132), 100_000),
        ("parti_3D_12031.tns.gz", (100, 80, 60), 12_031),
    ],
)
def test_tns(shared: Shared, file: str, shape: tuple[int, ...], entries: int) -> None:
    tensor = build_path(shared("tns") / file).tensor
    assert (tensor.shape, tensor.n_entries) == (shape, entries)


def test_tns_with_one_mode_from_zero_is_asked_for(shared: Shared) -> None:
    file = shared("tns") / "splatt_small4_zeroidx.tns"
    found = inspect_path(file)
    assert [problem.code for problem in found.problems] == ["tns-base-unclear"]
    detected = build_path(file, BuildOptions(index_base="detect")).tensor
    usual = build_path(shared("tns") / "splatt_small4.tns").tensor
    assert np.array_equal(detected.coordinates, usual.coordinates)
    assert np.array_equal(detected.values, usual.values)


def test_tns_folder_with_several_tensors_asks_which(shared: Shared) -> None:
    assert inspect_path(shared("tns")).problems[0].code == "tns-several"


def test_code_maps_are_recognised_and_ours_are_the_same(shared: Shared) -> None:
    folder = shared("codemaps")
    report = describe(inspect_path(folder))
    assert "a map from codes to groups" in report
    assert "maps 15,072 codes to 283 groups" in report
    assert "maps 72,446 codes to 283 groups" in report
    groups = ccs().groups
    with (folder / "icd9_to_ccs.csv").open() as handle:
        nine = list(csv.DictReader(handle))
    with gzip.open(folder / "icd10cm_to_ccs.csv.gz", "rt") as handle:
        ten = list(csv.DictReader(handle))
    number = {row["ccs"]: row["ccs_name"] for row in nine}
    assert all(groups["icd9"][row["icd9"]] == row["ccs_name"] for row in nine)
    assert all(groups["icd10"][row["icd10cm"]] == number[row["ccs"]] for row in ten)


def test_a_users_map_file_groups_diagnoses(shared: Shared) -> None:
    options = BuildOptions(code_groups=str(shared("codemaps") / "icd9_to_ccs.csv"))
    mapped = build_path(shared("mimic3_demo"), options)
    package = build_path(shared("mimic3_demo"), BuildOptions(code_groups="ccs"))
    assert mapped.tensor == package.tensor

"""The shipped samples, read as if they were somebody's own files, give the same tensors."""

from __future__ import annotations

import pytest

from swiftcore.data.from_path.sandbox import build_path, inspect_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.samples import load_sample, sample_folder
from swiftcore.errors import InvalidData


def test_heart_failure_folder_is_the_sample() -> None:
    sample = load_sample("heart_failure")
    options = BuildOptions(join="visit", values="binary", outcome_column="heart_failure")
    ours = build_path(sample_folder("heart_failure"), options)
    assert ours.tensor == sample.tensor
    assert ours.outcome is not None and sample.outcome is not None
    assert ours.outcome.tolist() == sample.outcome.tolist()


def test_who_the_patients_are_and_when_they_came_are_no_features() -> None:
    inspection = inspect_path(sample_folder("heart_failure"))
    assert inspection.summary and inspection.summary.shape == (1000, 100, 100)
    assert inspection.summary.mode_names == ("patient", "diagnosis", "medication")
    assert not inspection.problems


def test_heart_failure_before_the_outcome_loses_nothing() -> None:
    """The sample's events all lie before the onset, so looking back changes no cell."""
    folder = sample_folder("heart_failure")
    options = BuildOptions(join="visit", outcome_column="heart_failure")
    whole = build_path(folder, options)
    before = build_path(folder, BuildOptions(**{**vars(options), "before_outcome": True}))
    assert before.tensor == whole.tensor


def test_news_is_read_as_documents() -> None:
    folder = sample_folder("news")
    inspection = inspect_path(folder)
    assert inspection.kind == "document-table"
    assert inspection.summary and inspection.summary.shape == (400, 100, 100)
    assert set(inspection.summary.outcome_counts.values()) == {80}


def test_a_patients_table_alone_has_no_features() -> None:
    inspection = inspect_path(sample_folder("heart_failure") / "patients.csv")
    assert [one.code for one in inspection.problems] == ["features-missing"]


def test_samples_unknown_are_refused() -> None:
    with pytest.raises(InvalidData):
        build_path(sample_folder("heart_failure") / "nothing.csv")

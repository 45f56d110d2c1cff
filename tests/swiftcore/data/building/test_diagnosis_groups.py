"""The smallest CCS group that holds most of a phenotype's diagnoses, where codes are known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swiftcore.data.building.diagnosis_groups import diagnosis_paths, suggested_group

HEART = "Diseases of the heart"
CIRCULATION = "Diseases of the circulatory system"
FAILURE = "Congestive heart failure; nonhypertensive"


def test_codes_are_found_wherever_a_label_has_them() -> None:
    labels = ("428", "I50.9", "428.0 Heart failure", "Heart failure [428.0]", FAILURE, "other")
    paths = diagnosis_paths(labels)
    assert set(paths) == set(labels[:-1])
    assert set(paths.values()) == {(CIRCULATION, HEART, FAILURE)}


def test_a_category_of_codes_stands_for_what_its_codes_share() -> None:
    assert [len(diagnosis_paths((code,))[code]) for code in ("250", "428", "E11")] == [1, 3, 1]


def test_modes_that_hold_no_diagnoses_have_no_groups() -> None:
    assert diagnosis_paths(("250 mg metformin", "aspirin", "500 mg paracetamol")) == {}
    assert diagnosis_paths(("428.0", "new", "year")) == {}


def test_the_smallest_group_that_holds_most_of_the_weight() -> None:
    labels = ("428.0", "427.31", "401.9", "250.00")
    paths = diagnosis_paths(labels)
    weigh = dict(zip(labels, (0.6, 0.2, 0.1, 0.1), strict=True))
    assert suggested_group(weigh, paths) == FAILURE
    assert suggested_group({**weigh, "428.0": 0.3}, paths) == HEART  # 0.5 of 0.7
    assert suggested_group({**weigh, "428.0": 0.0, "401.9": 0.2}, paths) == CIRCULATION
    assert suggested_group({"428.0": 0.5, "250.00": 0.5}, paths) == ""
    assert suggested_group({"428.0": 0.4, "unknown": 0.6}, paths) == ""
    assert suggested_group({}, paths) == ""


@given(st.lists(st.floats(0.0, 1.0), min_size=6, max_size=6))
def test_the_suggestion_holds_most_and_nothing_below_it_does(weights: list[float]) -> None:
    labels = ("428.0", "427.31", "401.9", "250.00", "585.9", "unknown")
    paths, weigh = diagnosis_paths(labels), dict(zip(labels, weights, strict=True))
    group = suggested_group(weigh, paths)
    held = {
        name: sum(weigh[label] for label, path in paths.items() if name in path)
        for path in paths.values()
        for name in path
    }
    most = {name for name, weight in held.items() if weight > sum(weights) / 2 * (1 + 1e-12)}
    if group:
        inside = {path[-1] for path in paths.values() if group in path} - {group}
        assert held[group] > sum(weights) / 2 * (1 - 1e-12) and not inside & most
    else:
        assert not most

"""The synthetic records: right sizes, right truth, the same every time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from swiftcore.data.synthetic.ehr import SyntheticEhr, generate_ehr
from swiftcore.data.synthetic.ehr_phenotypes import ARTEFACT, PHENOTYPES
from swiftcore.data.synthetic.ehr_vocabulary import DIAGNOSES, MEDICATIONS, MEN_ONLY, WOMEN_ONLY
from swiftcore.errors import InvalidSettings


@pytest.fixture(scope="module")
def ehr() -> SyntheticEhr:
    return generate_ehr()


@pytest.mark.parametrize("seed", range(5))
def test_size_of_the_default_data(seed: int) -> None:
    ehr = generate_ehr(seed=seed)
    assert ehr.tensor.shape == (1000, 100, 100)
    assert [mode.name for mode in ehr.tensor.modes] == ["patient", "diagnosis", "medication"]
    assert 25_000 <= ehr.tensor.n_entries <= 60_000
    assert set(ehr.tensor.values) == {1.0}
    assert ehr.outcome.dtype == bool and ehr.outcome.shape == (1000,)
    assert ehr.outcome.sum() == 200
    assert ehr.outcome_name == "heart failure"
    for axis in range(3):  # nobody and nothing without an entry
        assert len(np.unique(ehr.tensor.coordinates[:, axis])) == ehr.tensor.shape[axis]


def test_same_seed_same_data_other_seed_other_data() -> None:
    one, again, other = (
        generate_ehr(300, seed=7),
        generate_ehr(300, seed=7),
        generate_ehr(300, seed=8),
    )
    assert one.tensor.digest() == again.tensor.digest()
    assert np.array_equal(one.outcome, again.outcome) and np.any(one.outcome != other.outcome)
    for attribute in ("age", "is_man", "clinic"):
        mine = getattr(one.patients, attribute)
        np.testing.assert_array_equal(mine, getattr(again.patients, attribute))
        assert np.any(mine != getattr(other.patients, attribute))
    for mine, theirs in zip(one.truth, again.truth, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for records in ("patient", "day", "diagnoses", "medications"):
        np.testing.assert_array_equal(getattr(one.visits, records), getattr(again.visits, records))
    assert one.tensor.digest() != other.tensor.digest()


def test_truth_matches_tensor_and_phenotypes(ehr: SyntheticEhr) -> None:
    memberships, diagnoses, medications = ehr.truth
    n_phenotypes = len(ehr.phenotypes)
    for factor, size in zip(ehr.truth, ehr.tensor.shape, strict=True):
        assert factor.shape == (size, n_phenotypes)
        assert factor.min() == 0 and np.isfinite(factor).all()
    for factor, mode, kind in (
        (diagnoses, ehr.tensor.modes[1], "diagnoses"),
        (medications, ehr.tensor.modes[2], "medications"),
    ):
        np.testing.assert_allclose(factor.sum(axis=0), 1, rtol=1e-12)
        for column, phenotype in enumerate(ehr.phenotypes):
            planted = getattr(phenotype, kind)
            found = {
                mode.labels[row]: factor[row, column] for row in np.flatnonzero(factor[:, column])
            }
            assert found == pytest.approx(planted)
    disease = [phenotype.role != ARTEFACT for phenotype in ehr.phenotypes]
    carried = np.count_nonzero(memberships[:, disease], axis=1)
    assert set(carried) == {0, 1, 2, 3, 4}
    assert (np.count_nonzero(memberships, axis=0) >= 50).all()


def test_entries_are_the_pairs_of_each_visit(ehr: SyntheticEhr) -> None:
    drugs: dict[int, list[int]] = {}
    for visit, drug in ehr.visits.medications.tolist():
        drugs.setdefault(visit, []).append(drug)
    patient = ehr.visits.patient.tolist()
    pairs = {
        (patient[visit], diagnosis, drug)
        for visit, diagnosis in ehr.visits.diagnoses.tolist()
        for drug in drugs[visit]
    }
    assert pairs == set(map(tuple, ehr.tensor.coordinates.tolist()))
    # Not the full product of all a patient ever had.
    ever = sum(
        len({d for p, d, _ in pairs if p == row}) * len({m for p, _, m in pairs if p == row})
        for row in range(20)
    )
    assert sum(1 for p, _, _ in pairs if p < 20) < 0.7 * ever


def test_visits_run_by_patient_then_day(ehr: SyntheticEhr) -> None:
    order = np.lexsort((ehr.visits.day, ehr.visits.patient))
    np.testing.assert_array_equal(order, np.arange(len(order)))
    for records in (ehr.visits.diagnoses, ehr.visits.medications):
        assert set(records[:, 0]) == set(range(len(order)))  # every visit has a record
        assert len(np.unique(records, axis=0)) == len(records)


def test_planted_cells_hold_far_more_than_their_share(ehr: SyntheticEhr) -> None:
    patient, diagnosis, medication = ehr.tensor.coordinates.T
    memberships, diagnoses, medications = (factor > 0 for factor in ehr.truth)
    planted = (memberships[patient] & diagnoses[diagnosis] & medications[medication]).any(axis=1)
    assert 0.55 < planted.mean() < 0.85  # clear, and yet with noise


def test_phenotypes_push_the_outcome_both_ways(ehr: SyntheticEhr) -> None:
    for column, phenotype in enumerate(ehr.phenotypes):
        rate = ehr.outcome[ehr.truth[0][:, column] > 0].mean()
        if phenotype.outcome_effect >= 1.5:
            assert rate > 0.25
        if phenotype.outcome_effect <= -1.0:
            assert rate < 0.2
    effects = [phenotype.outcome_effect for phenotype in ehr.phenotypes]
    assert min(effects) < 0 < max(effects) and 0.0 in effects


def test_no_patient_has_what_their_sex_cannot_have(ehr: SyntheticEhr) -> None:
    for axis in (1, 2):
        labels = np.array(ehr.tensor.modes[axis].labels)[ehr.tensor.coordinates[:, axis]]
        is_man = ehr.patients.is_man[ehr.tensor.coordinates[:, 0]]
        assert not set(labels[is_man]) & WOMEN_ONLY
        assert not set(labels[~is_man]) & MEN_ONLY


def test_names() -> None:
    for vocabulary in (DIAGNOSES, MEDICATIONS):
        assert len(set(vocabulary)) == len(vocabulary) >= 100
    assert not set(DIAGNOSES) & set(MEDICATIONS)
    assert not any("[108" in label or "heart failure" in label.lower() for label in DIAGNOSES)
    assert {"Essential hypertension [98.]", "Anxiety disorders [651]"} <= set(DIAGNOSES)
    assert {*WOMEN_ONLY, *MEN_ONLY} <= {*DIAGNOSES, *MEDICATIONS}
    for phenotype in PHENOTYPES:
        assert set(phenotype.diagnoses) <= set(DIAGNOSES)
        assert set(phenotype.medications) <= set(MEDICATIONS)
        assert sum(phenotype.diagnoses.values()) == pytest.approx(1)
        assert sum(phenotype.medications.values()) == pytest.approx(1)
    assert len({phenotype.name for phenotype in PHENOTYPES}) == len(PHENOTYPES)


def test_phenotypes_overlap() -> None:
    holders = [sum("Essential hypertension [98.]" in p.diagnoses for p in PHENOTYPES[:12])]
    holders.append(sum("HMG CoA Reductase Inhibitors" in p.medications for p in PHENOTYPES[:12]))
    assert min(holders) >= 2


def test_memory_follows_the_entries() -> None:
    per_entry = []
    for n_patients in (2_000, 20_000):
        tracemalloc.start()
        ehr = generate_ehr(n_patients)
        per_entry.append(tracemalloc.get_traced_memory()[1] / ehr.tensor.n_entries)
        tracemalloc.stop()
        assert ehr.outcome.sum() == n_patients // 5
    assert per_entry[1] < 1.2 * per_entry[0]
    assert per_entry[1] < 600  # bytes; a dense mode would need 15,000 and more


def test_smaller_vocabularies_and_ranks() -> None:
    ehr = generate_ehr(50, n_diagnoses=20, n_medications=22, n_phenotypes=2, heart_failure_share=0)
    assert ehr.tensor.shape == (50, 20, 22)
    assert not ehr.outcome.any()
    assert [p.name for p in ehr.phenotypes] == ["Atrial fibrillation", "Cardiometabolic disease"]
    assert generate_ehr(1).tensor.n_entries >= 1
    assert generate_ehr(60, n_phenotypes=len(PHENOTYPES)).truth[0].shape == (60, len(PHENOTYPES))


def test_settings_out_of_range_are_all_named() -> None:
    with pytest.raises(InvalidSettings) as caught:
        generate_ehr(0, n_diagnoses=5, n_medications=999, n_phenotypes=0, heart_failure_share=1.5)
    assert [problem.where for problem in caught.value.problems] == [
        "n_patients",
        "n_diagnoses",
        "n_medications",
        "n_phenotypes",
        "heart_failure_share",
    ]
    with pytest.raises(InvalidSettings):
        generate_ehr(heart_failure_share=float("nan"))

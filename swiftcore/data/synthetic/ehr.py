"""Synthetic health records with planted phenotypes: data whose right answer is known.

Patients carry none to four phenotypes, each to a degree of their own and more likely at some
ages and for one sex. They come to visits; a visit is about one of their phenotypes, or about
something unrelated. At a visit a few diagnoses and a few medications are recorded, most of them
typical of what the visit is about, some of them carried over from the patient's other
phenotypes, some from a background in which common features are common and rare ones rare. An
entry of the tensor is 1 where a patient has a visit at which that diagnosis and that medication
stand together. Heart failure is likelier with some phenotypes, less likely with others, and has
little or nothing to do with the rest. One phenotype is weak, and one is no disease but a
template of one clinic's records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr_draws import Features, Visits, choose_features, draw_visits
from swiftcore.data.synthetic.ehr_patients import (
    Patients,
    draw_memberships,
    draw_patients,
    draw_risk,
    highest,
)
from swiftcore.data.synthetic.ehr_phenotypes import PHENOTYPES, PlantedPhenotype
from swiftcore.data.synthetic.ehr_vocabulary import DIAGNOSES, MEDICATIONS
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.tensor import Mode, SparseTensor

HEART_FAILURE_SHARE = 0.2
OUTCOME_NAME = "heart failure"


@dataclass(frozen=True)
class SyntheticEhr:
    """Synthetic records together with what they were made from.

    Attributes
    ----------
    tensor : SparseTensor
        Modes patient, diagnosis, medication; all values 1.
    outcome : ndarray of bool, (patients,)
        Who develops heart failure, after the last visit.
    outcome_name : str
    phenotypes : tuple of PlantedPhenotype
        In the order of the columns of ``truth``.
    truth : tuple of ndarray
        The planted factors: memberships (patients x phenotypes, in expected visits), then
        diagnoses and medications (features x phenotypes, columns sum to 1).
    visits : Visits
        The records the tensor is built from.
    patients : Patients
        Their age, sex and clinic; the tensor does not hold them.
    """

    tensor: SparseTensor
    outcome: NDArray[np.bool_]
    outcome_name: str
    phenotypes: tuple[PlantedPhenotype, ...]
    truth: tuple[NDArray[np.float64], ...]
    visits: Visits
    patients: Patients


@dataclass(frozen=True)
class Vocabulary:
    """What records are made of: planted phenotypes, and the two feature modes."""

    phenotypes: tuple[PlantedPhenotype, ...]
    diagnoses: Features
    medications: Features

    @property
    def modes(self) -> tuple[Mode, Mode]:
        """The feature modes of the tensor."""
        return (
            Mode("diagnosis", self.diagnoses.labels),
            Mode("medication", self.medications.labels),
        )


@dataclass(frozen=True)
class Cohort:
    """Some patients, what they carry, their records, and their risk of heart failure."""

    patients: Patients
    memberships: NDArray[np.float64]
    visits: Visits
    risk: NDArray[np.float64]


def generate_ehr(
    n_patients: int = 1000,
    *,
    n_diagnoses: int = 100,
    n_medications: int = 100,
    n_phenotypes: int = 12,
    heart_failure_share: float = HEART_FAILURE_SHARE,
    seed: int = 0,
) -> SyntheticEhr:
    """Make synthetic health records with planted phenotypes.

    The same arguments always give the same records. Time and memory grow with the number
    of entries, about 33 per patient.

    Parameters
    ----------
    n_patients : int
    n_diagnoses, n_medications : int
        Sizes of the feature modes: the features of the phenotypes, filled up with the
        commonest others. Labels are in alphabetical order.
    n_phenotypes : int
        How many of the planted phenotypes are used, the first ones first.
    heart_failure_share : float
        This share of the patients, rounded to whole patients, has the outcome.
    seed : int

    Raises
    ------
    InvalidSettings
        With every setting that is out of range.
    """
    check_settings(n_patients, n_diagnoses, n_medications, n_phenotypes, heart_failure_share)
    words = choose_vocabulary(n_diagnoses, n_medications, n_phenotypes)
    cohort = draw_cohort(n_patients, words, np.random.default_rng(seed))
    modes = (Mode("patient", patient_ids(n_patients, 0, n_patients)), *words.modes)
    places = filled_cells(cohort.visits, tuple(len(mode) for mode in modes))
    places.setflags(write=False)
    values = np.ones(len(places))
    values.setflags(write=False)
    return SyntheticEhr(
        tensor=SparseTensor(modes, places, values),
        outcome=highest(cohort.risk, heart_failure_share),
        outcome_name=OUTCOME_NAME,
        phenotypes=words.phenotypes,
        truth=(cohort.memberships, words.diagnoses.weights, words.medications.weights),
        visits=cohort.visits,
        patients=cohort.patients,
    )


def choose_vocabulary(n_diagnoses: int, n_medications: int, n_phenotypes: int = 12) -> Vocabulary:
    """The first phenotypes, their features, and the commonest others."""
    phenotypes = PHENOTYPES[:n_phenotypes]
    return Vocabulary(
        phenotypes,
        choose_features(DIAGNOSES, [p.diagnoses for p in phenotypes], n_diagnoses),
        choose_features(MEDICATIONS, [p.medications for p in phenotypes], n_medications),
    )


def draw_cohort(n_patients: int, words: Vocabulary, rng: np.random.Generator) -> Cohort:
    """Draw some patients and all that is recorded of them."""
    patients = draw_patients(n_patients, rng)
    memberships = draw_memberships(words.phenotypes, patients, rng)
    features = words.diagnoses, words.medications
    visits = draw_visits(memberships, words.phenotypes, patients.is_man, features, rng)
    risk = draw_risk(memberships, words.phenotypes, patients, rng)
    return Cohort(patients, memberships, visits, risk)


def check_settings(
    n_patients: int, n_diagnoses: int, n_medications: int, n_phenotypes: int, share: float
) -> None:
    """Raise :class:`InvalidSettings` with every setting that is out of range."""
    known = PHENOTYPES[: max(1, n_phenotypes)]
    least_diagnoses = len({label for p in known for label in p.diagnoses})
    least_medications = len({label for p in known for label in p.medications})
    problems = [
        Problem(
            "synthetic-range",
            "Synthetic records cannot be made so",
            name,
            str(value),
            f"Choose from {least} to {most}.",
        )
        for name, value, least, most in (
            ("n_patients", n_patients, 1, 10_000_000),
            ("n_diagnoses", n_diagnoses, least_diagnoses, len(DIAGNOSES)),
            ("n_medications", n_medications, least_medications, len(MEDICATIONS)),
            ("n_phenotypes", n_phenotypes, 1, len(PHENOTYPES)),
            ("heart_failure_share", share, 0, 1),
        )
        if not least <= value <= most
    ]
    if problems:
        raise InvalidSettings(problems)


def patient_ids(n_patients: int, first: int, until: int) -> tuple[str, ...]:
    """The ids of some of all patients."""
    width = len(str(n_patients))
    return tuple(f"P{number:0{width}d}" for number in range(first + 1, until + 1))


def filled_cells(visits: Visits, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Wherever a diagnosis and a medication of one patient stand in the same visit; sorted."""
    n_visits = len(visits.patient)
    start = np.searchsorted(visits.medications[:, 0], np.arange(n_visits))
    count = np.bincount(visits.medications[:, 0], minlength=n_visits)
    visit, diagnosis = visits.diagnoses.T
    partners = count[visit]
    # The pairs of one diagnosis record run through all medications of its visit.
    within = np.arange(partners.sum()) - np.repeat(np.cumsum(partners) - partners, partners)
    medication = visits.medications[np.repeat(start[visit], partners) + within, 1]
    places = (
        np.repeat(visits.patient[visit], partners),
        np.repeat(diagnosis, partners),
        medication,
    )
    cells = np.sort(np.ravel_multi_index(places, shape))
    cells = cells[np.flatnonzero(np.diff(cells, prepend=-1))]
    return np.column_stack(np.unravel_index(cells, shape))

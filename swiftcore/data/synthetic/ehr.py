"""Synthetic health records with planted phenotypes: data whose right answer is known.

Patients carry none to three phenotypes, each to a degree of their own. They come to
visits; a visit is about one of their phenotypes, or about something unrelated. At a visit
a few diagnoses and a few medications are recorded, most of them typical of what the
visit is about, some of them carried over from the patient's other phenotypes, some
from a background in which common features are common and rare ones rare. An entry of the
tensor is 1 where a patient has a visit at which that diagnosis and that medication stand
together. Heart failure is likelier with some phenotypes and less likely with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr_vocabulary import (
    DIAGNOSES,
    MEDICATIONS,
    MEN_ONLY,
    PHENOTYPES,
    WOMEN_ONLY,
    PlantedPhenotype,
)
from swiftcore.errors import InvalidSettings, Problem
from swiftcore.tensor import Mode, SparseTensor

PHENOTYPES_PER_PATIENT = (0.06, 0.40, 0.36, 0.18)  # share of patients with 0, 1, 2, 3
VISITS_PER_PHENOTYPE = 3.4
UNRELATED_VISITS = 0.6  # per patient; those without any phenotype have one more
DIAGNOSES_PER_VISIT = 2.9  # records; one that comes up twice at a visit counts once
MEDICATIONS_PER_VISIT = 3.3
UNRELATED_RECORDS = 0.4  # an unrelated visit has this share of the records beyond the first
BACKGROUND_SHARE = 0.08  # of the records of a visit that is about a phenotype
CARRIED_OVER_SHARE = 0.06
ZIPF_EXPONENT = 0.8
DAYS_OBSERVED = 3 * 365


@dataclass(frozen=True)
class Visits:
    """Who came when, and what was recorded; visits are numbered by patient, then by day.

    Attributes
    ----------
    patient, day : ndarray of int64, (visits,)
        The patient's row in the tensor; days since the start of observation.
    diagnoses, medications : ndarray of int64, (records, 2)
        Pairs (visit, feature), sorted, no two alike.
    """

    patient: NDArray[np.int64]
    day: NDArray[np.int64]
    diagnoses: NDArray[np.int64]
    medications: NDArray[np.int64]


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
    age : ndarray of int64, (patients,)
    is_man : ndarray of bool, (patients,)
    """

    tensor: SparseTensor
    outcome: NDArray[np.bool_]
    outcome_name: str
    phenotypes: tuple[PlantedPhenotype, ...]
    truth: tuple[NDArray[np.float64], ...]
    visits: Visits
    age: NDArray[np.int64]
    is_man: NDArray[np.bool_]


def generate_ehr(
    n_patients: int = 1000,
    *,
    n_diagnoses: int = 100,
    n_medications: int = 100,
    n_phenotypes: int = 12,
    heart_failure_share: float = 0.2,
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
    _check_settings(n_patients, n_diagnoses, n_medications, n_phenotypes, heart_failure_share)
    rng = np.random.default_rng(seed)
    phenotypes = PHENOTYPES[:n_phenotypes]
    diagnoses = _chosen_labels(DIAGNOSES, [p.diagnoses for p in phenotypes], n_diagnoses)
    medications = _chosen_labels(MEDICATIONS, [p.medications for p in phenotypes], n_medications)
    diagnosis_weights = _weights([p.diagnoses for p in phenotypes], diagnoses)
    medication_weights = _weights([p.medications for p in phenotypes], medications)

    is_man = rng.random(n_patients) < 0.5
    memberships = _draw_memberships(phenotypes, is_man, rng)
    patient, about, day = _draw_visits(memberships, is_man, rng)
    visits = Visits(
        patient,
        day,
        _draw_records(
            patient,
            about,
            is_man,
            DIAGNOSES_PER_VISIT,
            np.hstack([diagnosis_weights, _background(DIAGNOSES, diagnoses)]),
            rng,
        ),
        _draw_records(
            patient,
            about,
            is_man,
            MEDICATIONS_PER_VISIT,
            np.hstack([medication_weights, _background(MEDICATIONS, medications)]),
            rng,
        ),
    )
    outcome = _draw_outcome(memberships, phenotypes, heart_failure_share, rng)
    # More disease comes with more years; age is for the reader, the tensor does not hold it.
    mean_age = 50 + 5 * np.count_nonzero(memberships, axis=1) + 6 * outcome
    age = np.clip(np.rint(rng.normal(mean_age, 10)), 30, 95).astype(np.int64)
    width = len(str(n_patients))
    patients = tuple(f"P{number:0{width}d}" for number in range(1, n_patients + 1))
    modes = (
        Mode("patient", patients),
        Mode("diagnosis", diagnoses),
        Mode("medication", medications),
    )
    return SyntheticEhr(
        tensor=_tensor(visits, modes),
        outcome=outcome,
        outcome_name="heart failure",
        phenotypes=phenotypes,
        truth=(memberships, diagnosis_weights, medication_weights),
        visits=visits,
        age=age,
        is_man=is_man,
    )


def _check_settings(
    n_patients: int, n_diagnoses: int, n_medications: int, n_phenotypes: int, share: float
) -> None:
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


def _chosen_labels(
    vocabulary: Sequence[str], used: Sequence[dict[str, float]], size: int
) -> tuple[str, ...]:
    """The features the phenotypes use and the commonest others, in alphabetical order."""
    needed = {label for weights in used for label in weights}
    others = [label for label in vocabulary if label not in needed]
    return tuple(sorted([*needed, *others[: size - len(needed)]]))


def _weights(weights: Sequence[dict[str, float]], labels: Sequence[str]) -> NDArray[np.float64]:
    """Features x phenotypes."""
    return np.array([[each.get(label, 0.0) for each in weights] for label in labels])


def _background(vocabulary: Sequence[str], labels: Sequence[str]) -> NDArray[np.float64]:
    """Features x 2: how common each is when nothing is known, for women and for men."""
    commonness = {label: rank**-ZIPF_EXPONENT for rank, label in enumerate(vocabulary, start=1)}
    columns = [
        [0.0 if label in impossible else commonness[label] for label in labels]
        for impossible in (MEN_ONLY, WOMEN_ONLY)
    ]
    weights = np.array(columns).T
    scaled: NDArray[np.float64] = weights / weights.sum(axis=0)
    return scaled


def _draw_memberships(
    phenotypes: Sequence[PlantedPhenotype], is_man: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Patients x phenotypes: expected visits for each, 0 where a patient has it not."""
    size = (len(is_man), len(phenotypes))
    possible = np.column_stack(
        [~is_man if p.patients == "women" else is_man | (p.patients == "all") for p in phenotypes]
    )
    # Adding Gumbel noise to log-frequencies and taking the largest draws without replacement.
    liking = np.log([p.frequency for p in phenotypes]) + rng.gumbel(size=size)
    liking[~possible] = -np.inf
    place = np.argsort(np.argsort(-liking, axis=1), axis=1)
    wanted = rng.choice(len(PHENOTYPES_PER_PATIENT), size=len(is_man), p=PHENOTYPES_PER_PATIENT)
    degree = rng.gamma(4.0, VISITS_PER_PHENOTYPE / 4.0, size=size)
    return np.where(possible & (place < wanted[:, None]), degree, 0.0)


def _draw_visits(
    memberships: NDArray[np.float64], is_man: NDArray[np.bool_], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Patient, subject and day of every visit.

    The subject is a phenotype's column, or behind them the background of women or of men.
    """
    n_patients, n_phenotypes = memberships.shape
    holder, phenotype = np.nonzero(memberships)
    repeats = np.maximum(1, rng.poisson(memberships[holder, phenotype]))
    healthy = ~memberships.any(axis=1)
    unrelated = rng.poisson(UNRELATED_VISITS, size=n_patients) + healthy
    patient = np.r_[np.repeat(holder, repeats), np.repeat(np.arange(n_patients), unrelated)]
    about = np.r_[np.repeat(phenotype, repeats), np.repeat(n_phenotypes + is_man, unrelated)]
    day = rng.integers(DAYS_OBSERVED, size=len(patient))
    order = np.lexsort((about, day, patient))
    return patient[order], about[order], day[order]


def _draw_records(
    patient: NDArray[np.int64],
    about: NDArray[np.int64],
    is_man: NDArray[np.bool_],
    mean_records: float,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Distinct pairs (visit, feature); at least one record per visit.

    ``weights`` is features x (phenotypes, background of women, background of men).
    """
    n_features, n_subjects = weights.shape
    unrelated = about >= n_subjects - 2
    further = rng.poisson((mean_records - 1) * np.where(unrelated, UNRELATED_RECORDS, 1.0))
    visit = np.repeat(np.arange(len(about)), 1 + further)
    subject = about[visit]
    chance = rng.random(len(visit))
    carried = chance < CARRIED_OVER_SHARE
    first = np.searchsorted(patient, patient[visit[carried]], side="left")
    last = np.searchsorted(patient, patient[visit[carried]], side="right")
    subject[carried] = about[rng.integers(first, last)]
    stray = chance > 1 - BACKGROUND_SHARE
    subject[stray] = n_subjects - 2 + is_man[patient[visit[stray]]]
    # One table of all cumulated weights: subject s fills the stretch from s to s + 1.
    cumulated = np.cumsum(weights, axis=0) / weights.sum(axis=0) + np.arange(n_subjects)
    place = np.searchsorted(cumulated.T.ravel(), subject + rng.random(len(visit)), side="right")
    feature = place - subject * n_features
    return np.column_stack(np.divmod(np.unique(visit * n_features + feature), n_features))


def _draw_outcome(
    memberships: NDArray[np.float64],
    phenotypes: Sequence[PlantedPhenotype],
    share: float,
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """The patients of highest latent risk: a logistic model with an exact count."""
    effects = np.array([p.outcome_effect for p in phenotypes])
    risk = memberships @ effects / VISITS_PER_PHENOTYPE + rng.logistic(size=len(memberships))
    outcome = np.zeros(len(risk), dtype=np.bool_)
    outcome[np.argsort(-risk, kind="stable")[: round(share * len(risk))]] = True
    return outcome


def _tensor(visits: Visits, modes: tuple[Mode, ...]) -> SparseTensor:
    """1 wherever a diagnosis and a medication of one patient stand in the same visit."""
    n_visits = len(visits.patient)
    start = np.searchsorted(visits.medications[:, 0], np.arange(n_visits))
    count = np.bincount(visits.medications[:, 0], minlength=n_visits)
    visit, diagnosis = visits.diagnoses.T
    partners = count[visit]
    # The pairs of one diagnosis record run through all medications of its visit.
    within = np.arange(partners.sum()) - np.repeat(np.cumsum(partners) - partners, partners)
    medication = visits.medications[np.repeat(start[visit], partners) + within, 1]
    shape = tuple(len(mode) for mode in modes)
    places = (
        np.repeat(visits.patient[visit], partners),
        np.repeat(diagnosis, partners),
        medication,
    )
    cells = np.unique(np.ravel_multi_index(places, shape))
    coordinates = np.column_stack(np.unravel_index(cells, shape))
    return SparseTensor.from_coordinates(coordinates, np.ones(len(cells)), modes=modes)

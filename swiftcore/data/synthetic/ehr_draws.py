"""The chances behind synthetic health records: who has what, comes when, and gets recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr_vocabulary import MEN_ONLY, WOMEN_ONLY, PlantedPhenotype

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
class Features:
    """One feature mode and how likely each feature is.

    Attributes
    ----------
    labels : tuple of str
    weights : ndarray, (features x phenotypes)
        Columns sum to 1.
    background : ndarray, (features x 2)
        How common each is when nothing is known, for women and for men.
    """

    labels: tuple[str, ...]
    weights: NDArray[np.float64]
    background: NDArray[np.float64]


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


def choose_features(
    vocabulary: Sequence[str], used: Sequence[dict[str, float]], size: int
) -> Features:
    """The features the phenotypes use and the commonest others, in alphabetical order."""
    needed = {label for weights in used for label in weights}
    others = [label for label in vocabulary if label not in needed]
    labels = tuple(sorted([*needed, *others[: size - len(needed)]]))
    weights = np.array([[each.get(label, 0.0) for each in used] for label in labels])
    return Features(labels, weights, _background(vocabulary, labels))


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


def draw_memberships(
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


def draw_visits(
    memberships: NDArray[np.float64],
    is_man: NDArray[np.bool_],
    diagnoses: Features,
    medications: Features,
    rng: np.random.Generator,
) -> Visits:
    """Who comes when, and what is recorded then."""
    patient, about, day = _draw_appointments(memberships, is_man, rng)
    records = [
        _draw_records(patient, about, is_man, mean, np.hstack([mode.weights, mode.background]), rng)
        for mode, mean in (
            (diagnoses, DIAGNOSES_PER_VISIT),
            (medications, MEDICATIONS_PER_VISIT),
        )
    ]
    return Visits(patient, day, *records)


def _draw_appointments(
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


def draw_outcome(
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


def draw_age(
    memberships: NDArray[np.float64], outcome: NDArray[np.bool_], rng: np.random.Generator
) -> NDArray[np.int64]:
    """More disease comes with more years; age is for the reader, the tensor does not hold it."""
    mean_age = 50 + 5 * np.count_nonzero(memberships, axis=1) + 6 * outcome
    age = np.clip(np.rint(rng.normal(mean_age, 10)), 30, 95)
    return np.asarray(age, dtype=np.int64)

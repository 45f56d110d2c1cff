"""The chances behind synthetic health records: who comes when, and what is recorded then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr_phenotypes import ARTEFACT, PlantedPhenotype
from swiftcore.data.synthetic.ehr_vocabulary import MEN_ONLY, WOMEN_ONLY

UNRELATED_VISITS = 0.6  # per patient; those without any phenotype have one more
DIAGNOSES_PER_VISIT = 2.9  # records; one that comes up twice at a visit counts once
MEDICATIONS_PER_VISIT = 3.3
UNRELATED_RECORDS = 0.4  # an unrelated visit has this share of the records beyond the first
BACKGROUND_SHARE = 0.12  # of the records of a visit that is about a phenotype
CARRIED_OVER_SHARE = 0.08
USUAL_SHARE = 0.5  # of all features are usual for a patient; one that is not
DRAWN_AGAIN = 2  # is drawn again so often: people get the same drugs at visit after visit
ZIPF_EXPONENT = 0.8
DAYS_OBSERVED = 5 * 365 + 1
DAYS_OF_TEMPLATE = 3 * 365  # so long the one clinic files its template; then it is given up
LATEST_ENTRY = 2 * 365  # everybody's first visits can be from some day before this one on


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


def draw_visits(
    memberships: NDArray[np.float64],
    phenotypes: Sequence[PlantedPhenotype],
    is_man: NDArray[np.bool_],
    modes: tuple[Features, Features],
    rng: np.random.Generator,
) -> Visits:
    """Who comes when, and what is recorded of the two modes then.

    Visits for an artefact have all its features and no others: a template is filed whole.
    """
    artefact = np.array([p.role == ARTEFACT for p in phenotypes])
    patient, about, day = _draw_appointments(memberships, artefact, is_man, rng)
    templated = np.r_[artefact, False, False][about]
    records = []
    for mode, mean in zip(modes, (DIAGNOSES_PER_VISIT, MEDICATIONS_PER_VISIT), strict=True):
        weights = np.hstack([mode.weights, mode.background])
        drawn = _draw_records(patient, about, is_man, mean, weights, rng)
        place, feature = np.nonzero(mode.weights.T[about[templated]])
        filed = np.column_stack([np.flatnonzero(templated)[place], feature])
        both = np.concatenate([drawn[~templated[drawn[:, 0]]], filed])
        records.append(both[np.lexsort(both.T[::-1])])
    return Visits(patient, day, *records)


def _draw_appointments(
    memberships: NDArray[np.float64],
    artefact: NDArray[np.bool_],
    is_man: NDArray[np.bool_],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Patient, subject and day of every visit.

    The subject is a phenotype's column, or behind them the background of women or of men.
    """
    n_patients, n_phenotypes = memberships.shape
    holder, phenotype = np.nonzero(memberships)
    repeats = np.maximum(1, rng.poisson(memberships[holder, phenotype]))
    healthy = ~memberships[:, ~artefact].any(axis=1)
    unrelated = rng.poisson(UNRELATED_VISITS, size=n_patients) + healthy
    patient = np.r_[np.repeat(holder, repeats), np.repeat(np.arange(n_patients), unrelated)]
    about = np.r_[np.repeat(phenotype, repeats), np.repeat(n_phenotypes + is_man, unrelated)]
    entry = rng.integers(LATEST_ENTRY, size=len(memberships))
    end = np.where(np.r_[artefact, False, False][about], DAYS_OF_TEMPLATE, DAYS_OBSERVED)
    day = rng.integers(entry[patient], end)
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
    table = (np.cumsum(weights, axis=0) / weights.sum(axis=0) + np.arange(n_subjects)).T.ravel()
    usual = rng.random((patient[-1] + 1, n_features)) < USUAL_SHARE
    feature = np.empty(len(visit), dtype=np.int64)
    again = np.arange(len(visit))
    for _ in range(1 + DRAWN_AGAIN):
        place = np.searchsorted(table, subject[again] + rng.random(len(again)), side="right")
        feature[again] = place - subject[again] * n_features
        again = again[~usual[patient[visit[again]], feature[again]]]
    pairs = np.sort(visit * n_features + feature)
    pairs = pairs[np.flatnonzero(np.diff(pairs, prepend=-1))]
    return np.column_stack(np.divmod(pairs, n_features))

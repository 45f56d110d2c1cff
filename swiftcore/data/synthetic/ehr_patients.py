"""The patients of the synthetic records: age, sex and clinic, what they carry, who falls ill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr_phenotypes import ARTEFACT, PlantedPhenotype

CLINICS = ("East", "North", "West")
TEMPLATE_CLINIC = "North"  # the one clinic that filed its codes in a template
CARRIED_AT_MOST = 4
SHARE_CARRIED = 0.42  # of the most, at 60; this much more with every ten years:
MORE_PER_DECADE = 0.06
VISITS_PER_PHENOTYPE = 3.0
VISITS_PER_TEMPLATE = 1.6
AGE_EFFECT = 0.2  # what ten years add to the log-odds of heart failure


@dataclass(frozen=True)
class Patients:
    """Who the patients are; what they carry is drawn from it.

    Attributes
    ----------
    age : ndarray of int64, (patients,)
        In years, when the observation starts.
    is_man : ndarray of bool, (patients,)
    clinic : ndarray of str, (patients,)
        Where each is registered, one of ``CLINICS``.
    """

    age: NDArray[np.int64]
    is_man: NDArray[np.bool_]
    clinic: NDArray[np.str_]

    @property
    def decades(self) -> NDArray[np.float64]:
        """Age in tens of years from 60 on, which is about the middle."""
        return np.asarray((self.age - 60) / 10)


def draw_patients(count: int, rng: np.random.Generator) -> Patients:
    """Grown-ups of all ages, as many women as men, spread over the clinics."""
    age = np.clip(np.rint(rng.normal(60, 13, size=count)), 25, 95).astype(np.int64)
    return Patients(age, rng.random(count) < 0.5, rng.choice(CLINICS, size=count))


def draw_memberships(
    phenotypes: Sequence[PlantedPhenotype], patients: Patients, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Patients x phenotypes: expected visits for each, 0 where a patient has it not.

    Older patients carry more. An artefact is carried by all patients of one clinic and by
    nobody else, whatever they suffer from.
    """
    size = (len(patients.age), len(phenotypes))
    artefact = np.array([p.role == ARTEFACT for p in phenotypes])
    possible = ~artefact & np.column_stack([_can_have(p, patients.is_man) for p in phenotypes])
    # Adding Gumbel noise to log-frequencies and taking the largest draws without replacement.
    liking = np.log([p.frequency for p in phenotypes]) + rng.gumbel(size=size)
    liking += np.outer(patients.decades, np.log([p.per_decade for p in phenotypes]))
    liking += np.outer(patients.is_man - 0.5, np.log([p.men for p in phenotypes]))
    liking[~possible] = -np.inf
    place = np.argsort(np.argsort(-liking, axis=1), axis=1)
    share = np.clip(SHARE_CARRIED + MORE_PER_DECADE * patients.decades, 0, 1)
    wanted = rng.binomial(CARRIED_AT_MOST, share)
    carried = possible & (place < wanted[:, None])
    carried |= artefact & (patients.clinic == TEMPLATE_CLINIC)[:, None]
    mean = np.where(artefact, VISITS_PER_TEMPLATE, VISITS_PER_PHENOTYPE)
    return np.where(carried, rng.gamma(4.0, mean / 4.0, size=size), 0.0)


def _can_have(phenotype: PlantedPhenotype, is_man: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return ~is_man if phenotype.patients == "women" else is_man | (phenotype.patients == "all")


def draw_risk(
    memberships: NDArray[np.float64],
    phenotypes: Sequence[PlantedPhenotype],
    patients: Patients,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The latent risk of heart failure of each patient: a logistic model."""
    effects = np.array([p.outcome_effect for p in phenotypes])
    risk = memberships @ effects / VISITS_PER_PHENOTYPE + AGE_EFFECT * patients.decades
    risk += rng.logistic(size=len(risk))
    return np.asarray(risk)


def highest(risk: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """The patients of highest risk, an exact share of them."""
    outcome = np.zeros(len(risk), dtype=np.bool_)
    outcome[np.argsort(-risk, kind="stable")[: round(share * len(risk))]] = True
    return outcome

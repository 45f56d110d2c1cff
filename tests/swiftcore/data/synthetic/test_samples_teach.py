"""What the samples are for: each lesson is in the data, measured and not only meant."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from swiftcore.data.dataset import Dataset
from swiftcore.data.samples import load_sample
from swiftcore.data.synthetic.ehr import SyntheticEhr, generate_ehr
from swiftcore.data.synthetic.ehr_draws import DAYS_OF_TEMPLATE
from swiftcore.data.synthetic.ehr_patients import TEMPLATE_CLINIC
from swiftcore.data.synthetic.ehr_phenotypes import ARTEFACT, DISEASE, UNSTABLE
from swiftcore.data.synthetic.news import generate_news
from swiftcore.data.synthetic.news_vocabulary import TOPICS
from swiftcore.evaluation.experiments.outcome_links import link_outcome
from swiftcore.evaluation.protocol.folds import read_labels
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.phenotypes.consensus import agreement
from swiftcore.phenotypes.matching import match, partners, similarity
from swiftcore.spec import ModelSpec

SEEDS = range(6)
ENOUGH = 5  # iterations after which no profile changes its partner any more


@pytest.fixture(scope="module")
def ehr() -> SyntheticEhr:
    return generate_ehr(seed=2021)


@pytest.fixture(scope="module")
def dataset() -> Dataset:
    return load_sample("heart_failure")


@pytest.fixture(scope="module")
def fits(dataset: Dataset, ehr: SyntheticEhr) -> list[FittedModel]:
    """With other seeds, at the rank at which the sample is shown."""
    specs = [ModelSpec(rank=12, seed=seed, max_iterations=ENOUGH) for seed in SEEDS]
    return [fit_dataset(dataset, spec, n_jobs=1) for spec in specs]


def column(ehr: SyntheticEhr, name: str) -> int:
    return [phenotype.name for phenotype in ehr.phenotypes].index(name)


def role(ehr: SyntheticEhr, wanted: str) -> np.ndarray:
    return np.array([phenotype.role == wanted for phenotype in ehr.phenotypes])


def carriers(ehr: SyntheticEhr, name: str) -> np.ndarray:
    found: np.ndarray = ehr.truth[0][:, column(ehr, name)] > 0
    return found


def test_the_unstable_one_comes_back_in_fewer_fits(
    ehr: SyntheticEhr, fits: list[FittedModel]
) -> None:
    whole = max(fits, key=lambda one: match(ehr.truth[1:], one.factors[1:]).min())  # has them all
    places = [place for _, place in partners(similarity(ehr.truth[1:], whole.factors[1:]))]
    found = agreement(whole.factors[1:], [fit.factors[1:] for fit in fits]).found_in
    share = np.array(found)[places] / len(fits)
    steady, unstable = share[~role(ehr, UNSTABLE)], share[role(ehr, UNSTABLE)].item()
    assert steady.mean() >= 0.95 and steady.min() >= 0.8
    assert 0 < unstable <= 0.7 < steady.min()
    assert share[role(ehr, ARTEFACT)].item() == 1  # what always comes back need not be a disease


def test_some_links_to_the_outcome_are_clear_and_some_are_not(
    dataset: Dataset, ehr: SyntheticEhr, fits: list[FittedModel]
) -> None:
    """The four strong effects are seen for what they are; most of the weak ones are not seen."""
    fit = max(fits, key=lambda one: match(ehr.truth[1:], one.factors[1:]).min())  # has them all
    places = [place for _, place in partners(similarity(ehr.truth[1:], fit.factors[1:]))]
    effects = np.array([phenotype.outcome_effect for phenotype in ehr.phenotypes])
    strong = abs(effects) >= 1.3
    assert strong.sum() == 4 and (effects[strong] < 0).sum() == 1
    links = link_outcome(fit.memberships, read_labels(dataset))
    assert links.about["chance"] == 0.2
    assert 0.4 <= links.about["score"] <= 0.7
    shown = links.tables["links"].iloc[places]
    for low, high, fewest in (
        (shown["low"].to_numpy(), shown["high"].to_numpy(), 2),  # over folds, as on the page
        (*wald(fit.memberships[:, places], ehr.outcome), 4),  # as a statistician would say it
    ):
        clear = np.sign(low) == np.sign(high)
        assert clear[strong].all() and (np.sign(low) == np.sign(effects))[strong].all()
        assert (~clear[~strong]).sum() >= fewest


def wald(memberships: np.ndarray, outcome: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper 95 % bound of each weight of a plain logistic regression."""
    amounts = np.log1p(memberships)
    amounts = (amounts - amounts.mean(axis=0)) / amounts.std(axis=0)
    plain = LogisticRegression(C=1e6).fit(amounts, outcome)
    chance = plain.predict_proba(amounts)[:, 1]
    design = np.column_stack([np.ones(len(outcome)), amounts])
    covariance = np.linalg.inv(design.T @ (design * (chance * (1 - chance))[:, None]))
    margin = 1.96 * np.sqrt(np.diag(covariance))[1:]
    return plain.coef_[0] - margin, plain.coef_[0] + margin


def test_one_artefact_of_one_clinic_until_one_day(ehr: SyntheticEhr) -> None:
    (artefact,) = np.flatnonzero(role(ehr, ARTEFACT))
    marks = np.flatnonzero(ehr.truth[1][:, artefact])
    seen = [set(ehr.visits.diagnoses[ehr.visits.diagnoses[:, 1] == mark, 0]) for mark in marks]
    filed = np.array(sorted(set.intersection(*seen)))
    assert len(filed) >= 300
    np.testing.assert_array_equal(
        np.unique(ehr.visits.patient[filed]), np.flatnonzero(ehr.truth[0][:, artefact])
    )
    assert set(ehr.patients.clinic[ehr.visits.patient[filed]]) == {TEMPLATE_CLINIC}
    assert ehr.visits.day[filed].max() < DAYS_OF_TEMPLATE < ehr.visits.day.max() - 365
    for records, factor in zip(
        (ehr.visits.diagnoses, ehr.visits.medications), ehr.truth[1:], strict=True
    ):
        whole = set(np.flatnonzero(factor[:, artefact]))
        here = records[np.isin(records[:, 0], filed)]
        assert len(here) == len(filed) * len(whole) and set(here[:, 1]) == whole
    ill = ehr.truth[0][:, ~role(ehr, ARTEFACT)] > 0
    theirs = ehr.patients.clinic == TEMPLATE_CLINIC
    assert abs(ill[theirs].mean(axis=0) - ill[~theirs].mean(axis=0)).max() < 0.1
    assert ehr.phenotypes[artefact].outcome_effect == 0


def test_phenotypes_share_patients_and_features(ehr: SyntheticEhr) -> None:
    assert (role(ehr, UNSTABLE).sum(), role(ehr, ARTEFACT).sum()) == (1, 1)
    carried = (ehr.truth[0][:, ~role(ehr, ARTEFACT)] > 0).sum(axis=1)
    assert (carried >= 2).mean() > 0.5 and (carried >= 3).mean() > 0.15
    for factor in ehr.truth[1:]:
        shared = (factor > 0).sum(axis=1)
        assert (shared >= 2).sum() >= 6 and shared.max() >= 4
    weak = role(ehr, UNSTABLE)
    for factor in ehr.truth[1:]:  # the unstable one is made of what others have too
        others = (factor[:, role(ehr, DISEASE)] > 0).any(axis=1)
        assert factor[others][:, weak].sum() > 0.5


def test_age_and_sex_and_years(ehr: SyntheticEhr) -> None:
    age, is_man = ehr.patients.age, ehr.patients.is_man
    old, young = carriers(ehr, "Aging and frailty"), carriers(ehr, "Mental disorder")
    assert age[old].mean() > age.mean() + 3 > age[young].mean() + 5
    coronary, thyroid = (
        carriers(ehr, "Coronary artery disease"),
        carriers(ehr, "Thyroid dysfunction"),
    )
    assert is_man[coronary].mean() > 0.55 > 0.4 > is_man[thyroid].mean()
    assert age[ehr.outcome].mean() > age[~ehr.outcome].mean()
    assert 25 <= age.min() < 40 and 80 < age.max() <= 95
    years = np.bincount(ehr.visits.day // 366)
    assert len(years) == 5 and years.min() > 0.05 * years.sum()


def test_every_document_can_be_read_with_its_words_marked() -> None:
    sample, topics = load_sample("news"), {topic.name: topic for topic in TOPICS}
    words = sample.tensor.modes[1].labels
    for number, article in enumerate(generate_news(seed=2021)):
        whole = f"{article.title}. {article.text}"
        used = sample.tensor.coordinates[sample.tensor.coordinates[:, 0] == number, 1]
        for word in {words[place] for place in used}:
            assert re.search(rf"\b{re.escape(word)}\b", whole, re.IGNORECASE), (number, word)
        assert article.text.startswith(article.title)
        topic = topics[article.topic]
        phrases = [*topic.deeds, *topic.things, *topic.settings]
        assert sum(phrase.lower() in whole.lower() for phrase in phrases) >= 2, whole

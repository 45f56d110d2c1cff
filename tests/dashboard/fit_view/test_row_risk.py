"""What each phenotype adds to a predicted chance: adds up, and is the model of the links."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit, softmax

from dashboard.fit_view.row_risk import risk_model
from swiftcore.evaluation.experiments.outcome_links import link_outcome
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.trial import STRENGTHS
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.lasso import lasso_path
from swiftcore.evaluation.protocol.scalings import SCALINGS, Scaler

RNG = np.random.default_rng(5)
MEMBERSHIPS = RNG.gamma(0.6, 2.0, size=(400, 4))
YES = RNG.random(400) < expit(MEMBERSHIPS @ [0.9, -0.8, 0.0, 0.3] - 1)
WORDS = np.array(["sport", "tech", "art"])[
    (MEMBERSHIPS[:, :3] + RNG.gamma(0.5, 1.0, size=(400, 3))).argmax(axis=1)
]


def links_of(outcome: np.ndarray) -> Experiment:
    if outcome.dtype == bool:
        return link_outcome(MEMBERSHIPS, Labels(("no fever", "fever"), outcome.astype(np.int64)))
    classes, codes = np.unique(outcome, return_inverse=True)
    return link_outcome(MEMBERSHIPS, Labels(tuple(map(str, classes)), codes))


@pytest.fixture(scope="module", params=["yes or no", "three classes"])
def outcome(request: pytest.FixtureRequest) -> np.ndarray:
    return YES if request.param == "yes or no" else WORDS


def test_the_parts_add_up_to_the_log_odds_of_the_predicted_chance(outcome: np.ndarray) -> None:
    links = links_of(outcome)
    model = risk_model(MEMBERSHIPS, outcome, links)
    assert model is not None
    rows = SCALINGS[links.about["scaling"]](MEMBERSHIPS)
    z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    weights = links.tables["links"]["weight"].to_numpy().reshape(-1, 4).T  # not our reading of it
    for row in range(0, 400, 37):
        total = model.intercepts + model.parts(MEMBERSHIPS[row]).sum(axis=0)
        chances = model.chances(MEMBERSHIPS[row])
        if len(model.classes) == 1:
            assert model.classes == ("fever",)
            assert total == pytest.approx(logit(chances))
            assert total == pytest.approx(model.intercepts + z[row] @ weights)
        else:
            assert chances == pytest.approx(softmax(total)) and chances.sum() == pytest.approx(1)
            assert total == pytest.approx(np.log(chances) - np.log(chances).mean())


def test_the_mean_chance_is_the_share_and_the_model_is_the_one_that_was_learnt(
    outcome: np.ndarray,
) -> None:
    links = links_of(outcome)
    model = risk_model(MEMBERSHIPS, outcome, links)
    assert model is not None
    found = np.array([model.chances(each) for each in MEMBERSHIPS])
    classes, codes = np.unique(outcome, return_inverse=True)
    shares = np.bincount(codes) / 400
    assert found.mean(axis=0) == pytest.approx(shares[-found.shape[1] :], abs=1e-9)
    rows = SCALINGS[links.about["scaling"]](MEMBERSHIPS)
    path = STRENGTHS[links.about["strength"] * (1 - 1e-9) <= STRENGTHS]
    learnt = lasso_path(Scaler.of(rows)(rows), codes, len(classes), path)[-1]
    given = learnt.probabilities(Scaler.of(rows)(rows))[:, -found.shape[1] :]
    assert np.abs(found - given).max() < 2e-3  # it stops when a step is that small


def test_what_if_is_the_same_row_with_nothing_of_one_phenotype(outcome: np.ndarray) -> None:
    model = risk_model(MEMBERSHIPS, outcome, links_of(outcome))
    assert model is not None
    changed = MEMBERSHIPS[7].copy()
    changed[2] = 0.0
    assert model.without(MEMBERSHIPS[7], 2) == pytest.approx(model.chances(changed))
    assert MEMBERSHIPS[7, 2] > 0  # the row itself stays as it is


@pytest.mark.parametrize("missing", ["scaling", "classes"])
def test_links_that_lack_something_explain_nothing(missing: str) -> None:
    links = links_of(YES)
    about = {name: value for name, value in links.about.items() if name != missing}
    assert risk_model(MEMBERSHIPS, YES, Experiment("links", about, links.tables)) is None


def test_too_few_rows_of_a_class_explain_nothing() -> None:
    rare = np.arange(400) < 3
    links = links_of(rare)
    assert not len(links.tables["links"])
    assert risk_model(MEMBERSHIPS, rare, links) is None


@given(st.lists(st.floats(0, 50), min_size=4, max_size=4), st.integers(0, 3))
def test_a_phenotype_without_weight_changes_nothing(row: list[float], part: int) -> None:
    weights = [0.5, -0.25, 1.5, 0.125]
    weights[part] = 0.0
    lines = {"phenotype": ["P01", "P02", "P03", "P04"], "class": "", "weight": weights}
    about = {"scaling": "amounts", "classes": ["no fever", "fever"]}
    links = Experiment("links", about, {"links": pd.DataFrame(lines)})
    model = risk_model(MEMBERSHIPS, YES, links)
    assert model is not None
    membership = np.array(row)
    assert model.without(membership, part) == pytest.approx(model.chances(membership))
    assert model.parts(membership)[part] == pytest.approx(0)

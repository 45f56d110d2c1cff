"""The outcome as a feature of the fit: it guides, and later rows do without it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.tiny_store import tiny_dataset

from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, InvalidSettings
from swiftcore.evaluation.methods.guided import needs_labels
from swiftcore.evaluation.methods.outcome_features import with_outcome
from swiftcore.evaluation.protocol.folds import read_labels
from swiftcore.fitting import FittedModel, fit_dataset
from swiftcore.spec import ModelSpec
from swiftcore.tensor import SparseTensor

SHORT: dict[str, Any] = {"rank": 3, "max_iterations": 8, "n_restarts": 1}
DATA = tiny_dataset(rows=50)
CODES = read_labels(DATA).codes


def test_every_entry_has_the_outcome_of_its_row_beside_it() -> None:
    codes = np.where(np.arange(50) < 5, -1, CODES)  # some rows are not known
    rows = DATA.tensor
    marked = with_outcome(rows, codes, 0.5)
    own = rows.shape[1]
    assert marked.shape == (rows.shape[0], own + codes.max() + 1, *rows.shape[2:])
    added = marked.coordinates[:, 1] >= own
    beside = rows.values[codes[rows.coordinates[:, 0]] >= 0]
    assert marked.values[added].sum() == pytest.approx(0.5 * beside.sum())
    assert marked.values[~added].sum() == pytest.approx(rows.values.sum())
    places = marked.coordinates[added]
    np.testing.assert_array_equal(places[:, 1] - own, codes[places[:, 0]])


@pytest.mark.parametrize("more", [{}, {"feature_weighting": "outcome", "row_mass": "equal"}])
@pytest.mark.parametrize("consensus", [1, 2])
def test_nothing_of_the_outcome_is_left_in_the_model(more: dict[str, Any], consensus: int) -> None:
    spec = ModelSpec(**SHORT, **more, outcome_share=1.0, consensus=consensus)
    fitted = fit_dataset(DATA, spec, n_jobs=1)
    assert needs_labels(spec) and fitted.modes == DATA.tensor.modes
    sizes = [len(factor) for factor in fitted.factors]
    assert sizes == list(DATA.tensor.shape)
    for factor in fitted.factors[1:]:
        np.testing.assert_allclose(factor.sum(axis=0), 1)
    # rows of the fit are described as if they were new: their own outcome does not help them
    np.testing.assert_array_equal(fitted.memberships, fitted.transform(DATA.tensor))
    if consensus > 1:
        assert fitted.agreement is not None
        assert [len(part) for part in fitted.agreement.spread] == sizes[1:]


def three_groups(outcome: int) -> Dataset:
    """Thirty rows of three groups with features of their own; one group has the outcome."""
    group = np.repeat(np.arange(3), 10)
    places = [(row, 2 * one + a, 2 * one + b) for row, one in enumerate(group) for a, b in PAIRS]
    tensor = SparseTensor.from_coordinates(np.array(places), np.ones(len(places)), shape=(30, 6, 6))
    return replace(DATA, tensor=tensor, outcome=np.where(group == outcome, "yes", "no"))


PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("outcome", range(3))
def test_two_components_for_three_groups_part_where_the_outcome_does(outcome: int) -> None:
    spec = ModelSpec(rank=2, max_iterations=30, outcome_share=5.0, row_relation="none")
    held = fit_dataset(three_groups(outcome), spec, n_jobs=1).memberships
    first = (held / held.sum(axis=1, keepdims=True))[:, 0].reshape(3, 10).mean(axis=1)
    apart = np.abs(first - first[outcome])
    others = [group for group in range(3) if group != outcome]
    assert apart[others].min() > 0.9  # the group with the outcome has a component of its own


def test_it_survives_its_file(tmp_path: Path) -> None:
    guided = fit_dataset(DATA, ModelSpec(**SHORT, outcome_share=3.0), n_jobs=1)
    guided.save(tmp_path / "model.npz")
    again = FittedModel.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(DATA.tensor), guided.memberships)


def test_what_cannot_be_guided_is_refused() -> None:
    with pytest.raises(InvalidSettings, match="Only SWIFT takes the outcome"):
        fit_dataset(DATA, ModelSpec(**SHORT, method="cp_apr", outcome_share=1.0), n_jobs=1)
    blind = replace(DATA, outcome=None)
    with pytest.raises(InvalidData, match="learns from an outcome"):
        fit_dataset(blind, ModelSpec(**SHORT, outcome_share=1.0), n_jobs=1)

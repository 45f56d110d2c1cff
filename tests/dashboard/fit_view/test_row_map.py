"""Rows on a plane: the same every time, near when alike, drawn evenly when there are many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.decomposition import PCA

from dashboard.fit_view.row_map import MAX_CLASSES, by_class, by_covariate, row_map, within
from swiftcore.data.side_tables import Covariate

SHARES = np.random.default_rng(1).dirichlet([0.4] * 5, size=300)


def test_the_plane_is_that_of_the_principal_components_of_roots() -> None:
    found = row_map(SHARES)
    model = PCA(2, svd_solver="full").fit(np.sqrt(SHARES))
    wanted = model.transform(np.sqrt(SHARES))
    assert np.abs(found.places) == pytest.approx(np.abs(wanted), abs=1e-5)
    assert found.kept == pytest.approx(model.explained_variance_ratio_.sum())
    assert found.rows.tolist() == list(range(300))


@given(arrays.arrays(np.float64, (20, 2), elements=st.floats(0.01, 1)))
def test_with_two_phenotypes_distances_are_those_of_hellinger(raw: np.ndarray) -> None:
    shares = raw / raw.sum(axis=1, keepdims=True)
    places, roots = row_map(shares).places, np.sqrt(shares)
    for one, other in ((0, 1), (3, 7), (5, 19)):
        wanted = np.linalg.norm(roots[one] - roots[other])
        assert np.linalg.norm(places[one] - places[other]) == pytest.approx(wanted, abs=1e-5)


def test_the_order_of_rows_does_not_turn_the_picture() -> None:
    order = np.random.default_rng(2).permutation(300)
    assert row_map(SHARES[order]).places == pytest.approx(row_map(SHARES).places[order], abs=2e-6)


def test_of_many_rows_a_part_is_drawn_always_the_same() -> None:
    one, again = row_map(SHARES, most=50), row_map(SHARES, most=50)
    assert len(set(one.rows.tolist())) == 50 and (np.diff(one.rows) > 0).all()
    assert np.array_equal(one.rows, again.rows) and np.array_equal(one.places, again.places)


@pytest.mark.parametrize("shares", [np.ones((4, 1)), np.zeros((3, 2)), np.ones((1, 3)) / 3])
def test_rows_that_do_not_differ_lie_in_one_place(shares: np.ndarray) -> None:
    found = row_map(shares)
    assert np.abs(found.places).max() == 0 and found.kept == 1


def test_colours_are_few_and_say_what_is_not_known() -> None:
    many = by_class("site", [f"site {n % 12}" for n in range(36)] + ["site 0", ""])
    assert len(many.classes) == MAX_CLASSES and many.classes[0] == "site 0"
    assert many.classes[-1] == "all others" and set(many.values) == set(many.classes)
    rows = np.array([0, 2])
    age = by_covariate(Covariate("age", "number", np.array([40.0, 50.0, np.nan])), rows)
    assert age.values[0] == 40 and np.isnan(age.values[1]) and not age.classes
    days = np.array(["1970-01-11", "2000-01-01", "NaT"], dtype="datetime64[D]")
    born = by_covariate(Covariate("born", "date", days), rows)
    assert born.values[0] == 10 and np.isnan(born.values[1]) and born.dates
    sex = by_covariate(Covariate("sex", "text", np.array(["f", "m", ""])), rows)
    assert sex.values.tolist() == ["f", "not known"]


def test_a_rectangle_holds_what_lies_in_it() -> None:
    found = row_map(SHARES)
    x, y = found.places.T
    inside = within(found, (0.0, 1.0), (-1.0, 0.1))
    assert inside.tolist() == [bool(a >= 0 and b <= 0.1) for a, b in zip(x, y, strict=True)]
    assert 0 < inside.sum() < 300

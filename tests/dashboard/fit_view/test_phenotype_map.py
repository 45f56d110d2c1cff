"""The map is true where a plane can be, the same each time, and puts nobody on top of another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.finished_run import finished

from dashboard.fit_view.phenotype_map import flat_map
from dashboard.fit_view.phenotype_tables import Link, repeats
from swiftcore.tensor import Mode


def distances(places: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(places[:, None] - places[None], axis=2))


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_distances_of_a_plane_are_kept(count: int, seed: int) -> None:
    places = np.random.default_rng(seed).random((count, 2))
    wanted = distances(places)
    found = flat_map(wanted)
    np.testing.assert_allclose(distances(found), wanted, atol=1e-3)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_array_equal(found, flat_map(wanted))


@pytest.mark.parametrize("count", [1, 2, 3, 12, 40])
def test_what_has_nothing_in_common_stays_apart(count: int) -> None:
    wanted = 1.0 - np.eye(count)
    found = distances(flat_map(wanted))
    assert np.isfinite(found).all()
    assert count < 2 or found[~np.eye(count, dtype=bool)].min() > 0.9 / count


def test_the_more_similar_the_nearer() -> None:
    wanted = 1.0 - np.eye(6)
    wanted[0, 1] = wanted[1, 0] = 0.1
    found = distances(flat_map(wanted))
    assert found[0, 1] == found[~np.eye(6, dtype=bool)].min() < 0.3


@pytest.mark.parametrize(
    ("link", "strength", "arrow", "words"),
    [
        (Link(0.75, 0.5, 1.0, 1.0), "strong", "\u25b2", "strong, towards death"),
        (Link(-0.3, -0.5, -0.1, 1.0), "moderate", "\u25bc", "moderate, away from death"),
        (Link(0.03, 0.01, 0.05, 1.0), "weak", "\u25b2", "weak, towards death"),
        (Link(0.03, -0.04, 0.1, 0.8), "unclear", "", "unclear"),
        (Link(0.0, 0.0, 0.0, 1.0), "none", "", "none"),
        (Link(0.9, 0.5, 1.3, 1.0, "sport", True), "strong", "\u25b2", "strong, towards sport"),
        (Link(-0.9, -1.3, -0.5, 1.0, "", True), "none", "", "none"),
    ],
)
def test_a_link_says_how_strong_or_that_it_is_unclear(
    link: Link, strength: str, arrow: str, words: str
) -> None:
    assert (link.strength, link.arrow, link.words("death")) == (strength, arrow, words)


def test_a_mode_repeats_another_only_with_the_same_labels_and_weights() -> None:
    fit, _, _ = finished()
    assert [repeats(fit, axis) for axis in (1, 2)] == [0, 0]
    rows, first = fit.modes[:2]
    twin = Mode("other diagnosis", first.labels)
    same = dataclasses.replace(
        fit, modes=(rows, first, twin), factors=[*fit.factors[:2], 3 * fit.factors[1]]
    )
    assert repeats(same, 2) == 1
    turned = dataclasses.replace(same, factors=[*fit.factors[:2], fit.factors[1][::-1].copy()])
    assert repeats(turned, 2) == 0

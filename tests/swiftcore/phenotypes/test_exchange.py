"""Exchanges between two fits: each keeps what they share and the number of components."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from swiftcore.phenotypes.exchange import MOST, exchanges
from swiftcore.phenotypes.matching import similarity

A, B, C, D = np.eye(4)
AB, CD = (A + B) / 2, (C + D) / 2


def test_a_group_parted_here_and_another_there_is_taken_over_as_one() -> None:
    mine, theirs = [np.column_stack([A, B, CD])], [np.column_stack([AB, C, D])]
    found = exchanges(mine, theirs)
    assert len(found) == 1  # one more here needs one less there: all that differs
    np.testing.assert_allclose(np.sort(found[0][0].sum(axis=1)), [0.5, 0.5, 1, 1])


def test_places_that_do_not_touch_are_taken_over_one_by_one() -> None:
    one, two = 0.7 * A + 0.3 * B, 0.3 * A + 0.7 * B
    three, four = 0.7 * C + 0.3 * D, 0.3 * C + 0.7 * D
    mine, theirs = [np.column_stack([one, three])], [np.column_stack([two, four])]
    first, second, both = (each[0].T.tolist() for each in exchanges(mine, theirs))
    assert first == [two.tolist(), three.tolist()]
    assert second == [one.tolist(), four.tolist()]
    assert both == [two.tolist(), four.tolist()]


@given(st.integers(0, 2**32 - 1))
@example(38230)  # pairs of the largest sum of similarities part the component that both have
def test_components_that_both_have_stay_and_none_is_made_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mine, theirs = ([rng.gamma(0.1, size=(8, 5)) + 1e-9 for _ in range(2)] for _ in range(2))
    for factor, other in zip(mine, theirs, strict=True):
        other[:, 0] = factor[:, 3]  # shared, under another number
    shared = 3
    for child in exchanges(mine, theirs):
        np.testing.assert_array_equal(child[0][:, shared], mine[0][:, shared])
        both = [np.concatenate(pair, axis=1) for pair in zip(mine, theirs, strict=True)]
        assert np.allclose(similarity(child, both).max(axis=1), 1)
    assert len(exchanges(mine, theirs)) <= MOST
    assert exchanges(mine, mine) == []

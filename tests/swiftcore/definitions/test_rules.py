"""Rules against direct counts, and the curve against every rule computed one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swiftcore.definitions.quality import RuleCurve
from swiftcore.definitions.rule import (
    Rule,
    RuleFeature,
    RulePart,
    features_had,
    matching_rows,
    mode_axes,
    strongest_features,
)
from swiftcore.phenotypes.describe import Phenotype
from swiftcore.phenotypes.item import Item
from swiftcore.tensor import Mode, SparseTensor


@st.composite
def tensors(draw: st.DrawFn) -> SparseTensor:
    shape = tuple(draw(st.integers(2, 7)) for _ in range(3))
    cells = draw(st.lists(st.tuples(*(st.integers(0, n - 1) for n in shape)), min_size=1))
    places = np.array(sorted(set(cells)), dtype=np.int64)
    modes = [
        Mode(name, tuple(f"{name} {k}" for k in range(n)))
        for name, n in zip("pdm", shape, strict=True)
    ]
    return SparseTensor(tuple(modes), places, np.ones(len(places)))


def rule_over(tensor: SparseTensor, at_least: tuple[int, ...], labels: list[list[str]]) -> Rule:
    names = list(mode_axes(tensor.modes))
    parts = [
        RulePart(name, number, tuple(RuleFeature(label, label) for label in chosen))
        for name, number, chosen in zip(names, at_least, labels, strict=True)
    ]
    return Rule("P01", "any", tuple(parts))


@given(tensors(), st.data())
def test_the_curve_is_every_rule_counted_by_itself(
    tensor: SparseTensor, data: st.DataObject
) -> None:
    labels = [
        data.draw(st.lists(st.sampled_from(mode.labels), unique=True, min_size=1, max_size=4))
        for mode in tensor.modes[1:]
    ]
    rows = tensor.shape[0]
    carries = np.array(data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows)))
    had = [features_had(tensor, axis, chosen) for axis, chosen in enumerate(labels, start=1)]
    sizes = [len(chosen) for chosen in labels]
    curve = RuleCurve(had, sizes, carries)
    dense = np.zeros(tensor.shape)
    dense[tuple(tensor.coordinates.T)] = tensor.values
    seen = {}
    for at_least in product(*(range(size + 1) for size in sizes)):
        expected = np.ones(rows, dtype=bool)
        for axis, (number, chosen) in enumerate(zip(at_least, labels, strict=True), start=1):
            places = [tensor.modes[axis].labels.index(label) for label in chosen]
            there = dense.any(axis=3 - axis)[:, places]
            expected &= there.sum(axis=1) >= number
        quality = curve.at(at_least)
        assert quality.found == expected.sum()
        assert quality.right == (expected & carries).sum()
        if any(at_least):
            rule = rule_over(tensor, at_least, labels)
            np.testing.assert_array_equal(matching_rows(rule, tensor), expected)
        if all(at_least) and quality.right:
            seen[at_least] = (quality.sensitivity, quality.predictive_value)
    best = curve.best()
    assert bool(best) == bool(seen)
    for one in best:  # nobody beats it in both
        mine = (one.sensitivity, one.predictive_value)
        assert seen[one.at_least] == mine
        assert not any(a >= mine[0] and b >= mine[1] and (a, b) != mine for a, b in seen.values())
    front = {(one.sensitivity, one.predictive_value) for one in best}
    for point in seen.values():  # and nobody who is not beaten is missing
        beaten = any(a >= point[0] and b >= point[1] and (a, b) != point for a, b in seen.values())
        assert beaten or point in front


def test_the_same_words_twice_are_asked_for_once_and_weak_or_opposed_ones_never() -> None:
    words, others = ("a", "b", "c"), ("x", "y")
    modes = (Mode("text", ("t",)), Mode("word", words), Mode("word", words), Mode("tag", others))

    def items(labels: tuple[str, ...], weights: tuple[float, ...]) -> tuple[Item, ...]:
        return tuple(
            Item(one, k, weight, 1.0, 0.0)
            for k, (one, weight) in enumerate(zip(labels, weights, strict=True))
        )

    phenotype = Phenotype(
        *("P01", 0, "n", 1.0),
        {
            "word 1": items(words, (0.7, 0.295, 0.005)),
            "word 2": items(words, (0.7, 0.295, 0.005)),
            "tag": items(others, (0.9, -0.4)),
        },
        (0,),
    )
    assert strongest_features(phenotype, modes) == [("a", "b"), (), ("x",)]
    assert strongest_features(phenotype, modes, 1) == [("a",), (), ("x",)]


def test_a_phenotype_without_carriers_has_no_rule() -> None:
    curve = RuleCurve([np.array([1, 0])], [1], np.zeros(2, dtype=bool))
    assert curve.best() == [] and curve.balanced() is None
    assert curve.at((1,)).predictive_value == pytest.approx(0.0)

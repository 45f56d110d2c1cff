"""Which component is which of another fit, and how surely: one measure for every page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from swiftcore.phenotypes.matching import FOUND_FROM, match, partners, similarity

ROOT = Path(__file__).parents[3]


def turned(cosine: float) -> np.ndarray:
    """Two profiles whose cosine with the first unit vectors is the one given."""
    rest = np.sqrt(1 - cosine**2)
    return np.array([[cosine, 0.0], [0.0, cosine], [rest, 0.0], [0.0, rest]])


def test_similarity_multiplies_the_cosines_of_the_modes() -> None:
    one, other = [np.eye(4)[:, :2]] * 2, [turned(0.85), turned(0.85)]
    found = similarity(one, other)
    np.testing.assert_allclose(found, 0.85**2 * np.eye(2), atol=1e-12)
    assert found[0, 0] < FOUND_FROM < 0.85  # near in each mode is not near in both
    np.testing.assert_allclose(similarity(other, other), np.eye(2), atol=1e-12)


def test_an_empty_profile_is_similar_to_nothing() -> None:
    one = [np.zeros((4, 2)), np.eye(4)[:, :2]]
    assert not similarity(one, one).any()


def test_partners_are_assigned_one_to_one_for_the_largest_sum() -> None:
    values = np.array([[0.9, 0.8], [0.85, 0.1], [0.2, 0.3]])
    assert partners(values) == [(0, 1), (1, 0)]


def test_match_gives_every_component_its_similarity_to_its_partner() -> None:
    rng = np.random.default_rng(0)
    clean = [rng.random((7, 3)), rng.random((5, 3))]
    mixed = [factor[:, [2, 0]] for factor in clean]
    np.testing.assert_allclose(match(clean, mixed), [1.0, 0.0, 1.0])


def test_a_component_turned_round_is_found_again() -> None:
    rng = np.random.default_rng(1)
    clean = [rng.normal(size=(7, 3)), rng.normal(size=(5, 3))]
    turned = [clean[0] * [-1, 1, -1], clean[1] * [1, 1, -1]]  # the third turned twice
    whole = similarity(clean, turned)
    np.testing.assert_allclose(np.diag(whole), [-1, 1, 1])
    assert partners(whole) == [(0, 0), (1, 1), (2, 2)]
    np.testing.assert_allclose(match(clean, turned), 1)


def test_the_module_is_cheap_to_import() -> None:
    code = "import sys, swiftcore.phenotypes.matching; print('scipy.optimize' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert answer.stdout.strip() == "False", answer.stderr

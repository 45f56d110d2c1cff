"""What the benchmark of outside costs counts."""

from __future__ import annotations

import numpy as np

from benchmarks.outside_costs import chapters, few_chapters, found_again
from swiftcore.data.dataset import Dataset
from swiftcore.tensor import Mode, SparseTensor


def test_few_chapters_counts_the_strongest_five() -> None:
    profile = np.array([[6, 1], [5, 2], [4, 3], [3, 4], [2, 5], [1, 6]], dtype=float)
    assert few_chapters([[profile]], ["7", "7", "7", "8", "8", "9"]) == 0.5
    assert few_chapters([[profile]], ["1", "2", "3", "4", "5", "6"]) == 0.0


def test_found_again_is_over_all_pairs_of_fits() -> None:
    one, other = np.eye(3), np.eye(3)[:, [1, 2, 0]]
    strange = np.ones((3, 3))
    assert found_again([[one], [other]]) == 1.0
    assert found_again([[one], [other], [strange]]) == 1 / 3


def test_a_diagnosis_without_a_chapter_has_its_own() -> None:
    modes = (Mode("patient", ("p",)), Mode("diagnosis", ("428.0", "Asthma", "odd")))
    tensor = SparseTensor.from_coordinates([[0, 0], [0, 1], [0, 2]], [1, 1, 1], modes=modes)
    assert chapters(Dataset("made up", tensor, None, "", "")) == ["7", "8", "odd"]

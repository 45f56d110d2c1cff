"""The summary finds leaks and look-alikes and survives JSON; options refuse nonsense at once."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.typing import NDArray

from swiftcore.data.building.similar_names import similar_names
from swiftcore.data.options import BuildOptions, Limits, options_from_text
from swiftcore.data.reading.findings import Findings
from swiftcore.data.summary import (
    SHOWN_LEAKY,
    DatasetSummary,
    leaky_features,
    summarize,
    told,
)
from swiftcore.errors import InvalidSettings
from swiftcore.tensor import Mode, SparseTensor


def random_tensor(rng: np.random.Generator, outcome: NDArray[np.bool_], leak: bool) -> SparseTensor:
    rows = len(outcome)
    drawn = rng.integers(0, [30, 20], (rows, 6, 2)).tolist()
    places = [(row, d, m) for row in range(rows) for d, m in drawn[row]]
    if leak:  # feature 30 stands for the outcome, with a few slips
        marked = outcome ^ (rng.random(rows) < 0.01)
        places += [(int(row), 30, int(rng.integers(0, 20))) for row in np.flatnonzero(marked)]
    modes = [
        Mode.numbered("patient", rows),
        Mode.numbered("diagnosis", 31),
        Mode.numbered("drug", 20),
    ]
    return SparseTensor.from_coordinates(places, np.ones(len(places)), modes=modes)


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_leak_is_found_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcome = rng.random(400) < 0.25
    found = leaky_features(random_tensor(rng, outcome, leak=True), outcome)
    assert [(one.mode, one.feature) for one in found] == [("diagnosis", "30")]
    assert found[0].auc > 0.95
    assert leaky_features(random_tensor(rng, outcome, leak=False), outcome) == []


def test_single_feature_auc_is_the_roc_area() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(1)
    outcome = rng.random(300) < 0.3
    tensor = random_tensor(rng, outcome, leak=True)
    has = np.zeros(300)
    has[tensor.coordinates[tensor.coordinates[:, 1] == 30, 0]] = 1
    found = leaky_features(tensor, outcome)
    assert found[0].auc == pytest.approx(roc_auc_score(outcome, has), abs=1e-12)


def test_several_classes() -> None:
    outcome = np.array(["red", "green", "blue"] * 20)
    places = [(row, ["red", "green", "blue"].index(outcome[row])) for row in range(60)]
    tensor = SparseTensor.from_coordinates(places, np.ones(60))
    assert {one.value for one in leaky_features(tensor, outcome)} == {"red", "green", "blue"}


def test_of_many_telling_features_the_first_are_named_and_the_others_counted() -> None:
    outcome = np.array(["a", "b"] * 30)
    places = [(row, 2 * feature + row % 2) for row in range(60) for feature in range(20)]
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)))
    found = leaky_features(tensor, outcome)
    assert len(found) == 40
    lines = told(found)
    assert lines[:-1] == [str(one) for one in found[:SHOWN_LEAKY]]
    assert lines[-1] == f"{40 - SHOWN_LEAKY} more features alone tell the outcome nearly as well."
    assert told(found[:SHOWN_LEAKY]) == lines[:-1] and told([]) == []
    assert summarize(tensor, outcome, "group", Findings()).sentences()[-len(lines) :] == lines


def test_summary_survives_json_and_reads_aloud() -> None:
    findings = Findings(kind="table", tables={"t.csv": 5}, mapping={"row": "p"})
    findings.note("A note.")
    findings.leave_out("rows without a value", 3, "t.csv")
    modes = [Mode("p", ("1", "2")), Mode("c", ("a", "A ", "b"))]
    tensor = SparseTensor.from_coordinates([[0, 0], [1, 1], [1, 2]], [1, 2, 3], modes=modes)
    summary = summarize(tensor, np.array([True, False]), "died", findings)
    assert DatasetSummary.from_json(json.loads(json.dumps(summary.to_json()))) == summary
    text = "\n".join(summary.sentences())
    assert "2 p x 3 c; 3 cells filled (50.00%), values up to 3." in text
    assert "3 left out of t.csv: rows without a value." in text
    assert "1 pairs of names look alike" in text.replace("1 pair ", "1 pairs ")
    assert "Outcome 'died': False: 1, True: 1." in text


def test_look_alikes() -> None:
    assert similar_names(["250.0", "250.00", "25.00"]) == [("250.0", "250.00")]
    assert similar_names(["9007199254740993", "9007199254740992"]) == []
    assert similar_names(["a", "b", "zero\u200bwidth", "zerowidth"]) == [
        ("zerowidth", "zero\u200bwidth")
    ]


def test_options_name_every_wrong_setting() -> None:
    with pytest.raises(InvalidSettings) as caught:
        BuildOptions(join="never", values="double", min_support=0)
    assert len(caught.value.problems) == 3


def test_options_from_text_and_back() -> None:
    options = options_from_text(
        [
            "join=window",
            "window-days=7",
            "top=50",
            "outcome_codes=428*, I50*",
            "columns.row=mrn",
            "before_outcome=yes",
            "delimiter=tab",
            "limits.seconds=9",
        ]
    )
    assert options.join == "window" and options.window_days == 7 and options.top == 50
    assert options.outcome_codes == ("428*", "I50*") and options.columns == {"row": "mrn"}
    assert options.before_outcome and options.delimiter == "\t"
    assert options.limits == Limits(seconds=9)
    assert BuildOptions.from_json(json.loads(json.dumps(options.to_json()))) == options
    with pytest.raises(InvalidSettings) as caught:
        options_from_text(["colour=red", "top=many", "join", "before_outcome=perhaps"])
    assert len(caught.value.problems) == 4


def test_classes_too_small_for_an_evaluation_are_said_with_the_cure() -> None:
    outcome = np.array(["a"] * 30 + ["b"] * 4 + ["c"] + [""] * 2)
    tensor = SparseTensor.from_coordinates([(row, row % 3) for row in range(37)], np.ones(37))
    said = " ".join(summarize(tensor, outcome, "kind", Findings()).sentences())
    assert "Too few rows for an evaluation in 5 folds: 'b' (4), 'c' (1)." in said
    assert "--least-class-size 5" in said
    outcome[30:] = "a"
    outcome[:10] = "b"
    assert "Too few" not in " ".join(summarize(tensor, outcome, "kind", Findings()).sentences())

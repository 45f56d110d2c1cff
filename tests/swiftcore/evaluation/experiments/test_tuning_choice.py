"""Candidates, the choice among them and the clock: laws that need no fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.experiments.checkpoints import Checkpoint, Stopped, Task
from swiftcore.evaluation.experiments.tuning.candidates import (
    Candidate,
    make_candidates,
    sharpest,
)
from swiftcore.evaluation.experiments.tuning.choice import (
    ALIKE,
    choose,
    finalists,
    reason,
    row_losses,
    standings,
    survivors,
    with_stability,
)
from swiftcore.evaluation.experiments.tuning.clock import TimedParts
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.spec import DEFAULTS, ModelSpec

RANKS = (5, 10, 20)


@pytest.mark.parametrize("outcome", [True, False])
@pytest.mark.parametrize("binary", [True, False])
def test_the_shipped_settings_come_first_and_no_spec_comes_twice(
    outcome: bool, binary: bool
) -> None:
    found = make_candidates(TuneSettings(seed=3), outcome=outcome, binary=binary)
    assert found[0].spec == ModelSpec(rank=DEFAULTS["rank"], seed=3)
    assert sorted(one.spec.rank for one in found[:3]) == list(RANKS)
    assert not any(one.changes for one in found[:3]) and len(found) > 6
    plain = [str(one.spec.plain()) for one in found]
    assert len(set(plain)) == len(plain)
    assert [one.number for one in found] == list(range(len(found)))
    assert max(one.spec.sharpness for one in found) <= sharpest()
    if binary:  # all ways to count an entry are one
        counted = {(str({**one.changes, "entry_values": ""}), one.spec.rank) for one in found}
        assert len(counted) == len(found)


def test_features_are_weighed_by_the_outcome_only_if_asked() -> None:
    def weightings(**asked: Any) -> set[str]:
        guided = asked.pop("guided", False)
        found = make_candidates(TuneSettings(guided=guided), binary=False, **asked)
        return {one.spec.feature_weighting for one in found}

    usual = str(DEFAULTS["feature_weighting"])
    assert weightings(outcome=True) == {"none", "rarity"}
    assert weightings(outcome=True, guided=True) > {"outcome", "rarity and outcome"}
    assert weightings(outcome=False) == {usual}


def test_settings_out_of_range_are_all_named() -> None:
    with pytest.raises(InvalidSettings) as caught:
        TuneSettings(ranks=(0,), minutes=-1.0, seed=-1, jobs=0, guided="yes")  # type: ignore[arg-type]
    assert len(caught.value.problems) == 5
    with pytest.raises(InvalidSettings, match="no number of components"):
        TuneSettings(ranks=())
    assert TuneSettings(ranks=(20, 5, 5)).plain() == TuneSettings(ranks=(5, 20), jobs=4).plain()


def test_a_row_judged_in_several_folds_counts_once() -> None:
    parts = [{"rows": [4, 1], "losses": [1.0, 2.0]}, {"rows": [1, 0], "losses": [4.0, 5.0]}]
    assert row_losses(parts).tolist() == [5.0, 3.0, 1.0]


def candidates(n: int) -> list[Candidate]:
    return make_candidates(TuneSettings(ranks=RANKS), outcome=True, binary=False)[:n]


@st.composite
def judged(draw: st.DrawFn) -> tuple[dict[Candidate, Any], dict[int, float]]:
    """Losses of some candidates on the same rows, and the stability of some."""
    tried = candidates(draw(st.integers(1, 9)))
    rows = draw(st.integers(1, 12))
    cell = st.floats(0, 5, allow_nan=False)
    losses = {one: np.array(draw(st.lists(cell, min_size=rows, max_size=rows))) for one in tried}
    known = {one.number: draw(st.floats(0, 1)) for one in tried if draw(st.booleans())}
    return losses, known


@given(judged())
def test_the_choice_is_as_good_as_the_best_and_nothing_beats_it(
    made: tuple[dict[Candidate, Any], dict[int, float]],
) -> None:
    losses, known = made
    found = with_stability(standings(losses), known)
    best, chosen = found[0], choose(found)
    assert best.behind == 0 and best.loss == min(float(one.mean()) for one in losses.values())
    assert chosen.as_good and reason(found, chosen).endswith(".")
    good = [one for one in found if one.as_good]
    if looked := [one for one in good if not np.isnan(one.stability)]:
        top = max(one.stability for one in looked)
        good = [one for one in looked if one.stability >= top - ALIKE - 1e-9]
        assert chosen.stability >= top - ALIKE - 1e-9
    assert chosen.candidate.simplicity == min(one.candidate.simplicity for one in good)


@given(judged(), st.integers(1, 4))
def test_the_best_and_the_shipped_settings_go_on(
    made: tuple[dict[Candidate, Any], dict[int, float]], least: int
) -> None:
    found = standings(made[0])
    kept = survivors(found, least)
    assert found[0].candidate in kept and kept[0].number == 0
    assert [one.number for one in kept] == sorted(one.number for one in kept)
    assert len(kept) >= min(len(found), max(least, len(found) // 2))
    last = finalists(found, least)
    assert found[0] in last and 1 <= len(last) <= least and all(one.as_good for one in last)


def test_equal_losses_leave_the_simplest() -> None:
    tried = candidates(6)
    found = standings({one: np.full(8, 0.5) for one in tried})
    assert choose(found).candidate.spec.rank == 5 and not choose(found).candidate.changes
    steady = with_stability(found, {tried[0].number: 0.95, tried[1].number: 0.5})
    assert choose(steady).candidate is tried[0]
    assert "most stable of the 2" in reason(steady, choose(steady))
    early = choose(found, every_row=False)
    assert early.candidate is tried[0]  # the shipped settings, though others are simpler
    assert "too short" in reason(found, early, every_row=False)


def test_the_shipped_settings_are_not_taken_where_they_are_worse() -> None:
    tried = candidates(4)
    losses = {one: np.linspace(0, 1, 9) + 0.1 * (one.number == 0) for one in tried}
    chosen = choose(standings(losses), every_row=False)
    assert chosen.candidate.number > 0 and not chosen.candidate.changes


def slow(number: int) -> Checkpoint:
    return {"number": number, "seconds": 10.0}  # as it says; nobody waits


def tasks(n: int) -> list[Task]:
    return [Task(f"{number}", f"part {number}", (number,)) for number in range(n)]


def test_the_budget_ends_between_parts_and_the_first_is_always_done(tmp_path: Path) -> None:
    assert len(TimedParts(0.0, None, 1, None).run(tasks(5), slow, 1.0)) == 1
    timed = TimedParts(100.0, tmp_path, 1, None)
    assert [one["number"] for one in timed.run(tasks(9), slow, 0.25)] == [0, 1, 2]
    assert len(timed.run(tasks(9)[3:], slow, 0.45)) == 2 and timed.spent >= 50
    again = TimedParts(100.0, tmp_path, 1, None)  # what was found counts as it did
    assert [one["number"] for one in again.run(tasks(9), slow, 0.25)] == [0, 1, 2]
    assert len(TimedParts(float("inf"), None, 1, None).run(tasks(9), slow, 1.0)) == 9


def test_a_person_can_stop_it() -> None:
    seen = []

    def stop(stands: Any) -> bool:
        seen.append((stands.done, stands.total))
        return True

    timed = TimedParts(float("inf"), None, 1, stop)
    timed.planned = 9
    with pytest.raises(Stopped):
        timed.run(tasks(9), slow, 1.0)
    assert seen == [(1, 9)]

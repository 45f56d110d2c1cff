"""Pages look again as often as something new is to be expected, and no oftener."""

from __future__ import annotations

import time

import pytest
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, words
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.cards import RunCard, RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from dashboard.widgets.refresh import PACES, QUEUED, pace


def run_card(state: RunState, seconds: float = 0.0, done: int = 0, created: float = 0.0) -> RunCard:
    request = Request("fit", "0" * 32, {"rank": 2})
    progress = {"done": done, "total": 100}
    return RunCard(
        "0" * 32, "fit", "", request, state, created, None, seconds, "", progress, "", False
    )


@pytest.mark.parametrize(
    ("seconds", "done", "expected"),
    [(1, 50, 2.0), (3, 0, 2.0), (100, 20, 5.0), (99, 10, 5.0), (600, 3, 10.0)],
)
def test_the_pace_is_that_of_the_steps(seconds: float, done: int, expected: float) -> None:
    assert pace([run_card(RunState.RUNNING, seconds, done)]) == expected


def test_the_quickest_run_sets_the_pace() -> None:
    waiting, slow = run_card(RunState.QUEUED), run_card(RunState.RUNNING, 600, 3)
    assert pace([waiting]) == pace([waiting, slow]) == QUEUED
    assert pace([waiting, slow, run_card(RunState.RUNNING, 1, 50)]) == PACES[0]


def test_a_run_asked_for_a_moment_ago_is_looked_for_soon() -> None:
    assert pace([run_card(RunState.QUEUED, created=time.time())]) == PACES[0]
    assert pace([run_card(RunState.QUEUED, created=time.time() - 2 * QUEUED)]) == QUEUED


def test_a_pace_that_is_nearly_right_stays() -> None:
    steps_of_three = [run_card(RunState.RUNNING, 30, 10)]
    assert pace(steps_of_three, 2.0) == 2.0 and pace(steps_of_three, 5.0) == 5.0
    assert pace(steps_of_three, 10.0) == 2.0
    assert pace([run_card(RunState.RUNNING, 90, 10)], 2.0) == 5.0


def _page() -> None:
    import streamlit as st

    from dashboard.widgets.refresh import follow

    st.markdown("The page.")
    follow(lambda runs: st.markdown(f"Active: {len(runs)}."))


def test_nothing_is_followed_when_nothing_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)  # we stand for the worker: it waits
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    page = drawn(AppTest.from_function(_page).run())
    assert words(page) == "The page."
    run = jobs.start(store, Request("fit", store.add_dataset(tiny_dataset()), {"rank": 3}))
    assert "Active: 1." in words(drawn(page.run()))
    store.job(run).note_end(RunState.CANCELLED, "Stopped.")
    assert words(drawn(page.run())) == "The page."

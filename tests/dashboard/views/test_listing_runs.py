"""A click lists the runs of the store once, however many parts of the screen ask for them."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest
from support import made_up
from support.opened_page import add_experiment, drawn, open_app, open_page, words
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.session import cache
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from dashboard.text.wording import PAGES


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often the folder of runs was listed since the last time this was asked."""
    listed: list[str] = []
    scan = os.scandir

    def counted(path: int | str = ".") -> object:  # what deletes a folder lists it by its handle
        if not isinstance(path, int) and os.path.basename(path) == "runs":
            listed.append(str(path))
        return scan(path)

    def since() -> int:
        count = len(listed)
        listed.clear()
        return count

    monkeypatch.setattr(os, "scandir", counted)
    return since


def test_the_app_lists_runs_once_per_rerun(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, walks: Callable[[], int]
) -> None:
    app = open_app(fitted_store, monkeypatch)
    walks()
    drawn(app.run())
    assert walks() == 1


@pytest.mark.parametrize("view", PAGES)
def test_every_page_lists_runs_once(
    fitted_store: Store,
    fit_id: str,
    monkeypatch: pytest.MonkeyPatch,
    walks: Callable[[], int],
    view: str,
) -> None:
    add_experiment(fitted_store, made_up.stability(), fit_id)
    page = open_page(view, fitted_store, monkeypatch)
    walks()
    drawn(page.run())
    assert walks() == 1


def test_the_next_rerun_sees_what_changed(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("prediction", fitted_store, monkeypatch)
    assert "not been tested yet" in words(page)
    add_experiment(fitted_store, made_up.evaluation())
    assert "ahead of CP-ALS" in words(drawn(page.run()))


def test_outside_of_a_drawing_every_list_is_new(
    store: Store, monkeypatch: pytest.MonkeyPatch, walks: Callable[[], int]
) -> None:
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    assert cache.runs() == [] and cache.runs() == [] and walks() == 2
    with cache.one_listing():
        assert cache.runs() == [] and cache.latest("x", "fit") is None
        with cache.one_listing():  # a part that can also be drawn by itself
            assert cache.runs() == []
    assert walks() == 1
    assert cache.runs() == [] and walks() == 1


def _strip() -> None:
    from dashboard.session import cache
    from dashboard.widgets.sidebar import show_jobs

    with cache.one_listing():
        show_jobs()


def test_a_fragment_by_itself_sees_the_store_as_it_is(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)  # we stand for the worker: it waits
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    dataset = store.add_dataset(tiny_dataset())
    run = jobs.start(store, Request("fit", dataset, {"rank": 3}))
    page = drawn(AppTest.from_function(_strip).run())
    assert "Waiting" in words(page)
    store.job(run).note_end(RunState.CANCELLED, "Stopped.")
    assert not cache.runs()[0].state.active  # as a fragment reads it, with no drawing around it

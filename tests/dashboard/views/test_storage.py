"""What a person sees of the room that the store takes, and of what was removed to make some."""

from __future__ import annotations

import pytest
from support.opened_page import drawn, open_app, open_page, tab, widget, words

from dashboard.store import budget
from dashboard.store.budget import make_room
from dashboard.store.keeping import USED, is_kept
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store


def test_the_page_data_shows_what_takes_room_and_what_goes_first(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("data", fitted_store, monkeypatch), "data.tab", "Storage")
    assert "of 20.0 GB used" in str(page.get("progress")[0].proto)
    sizes, first = (table.value for table in page.dataframe)
    assert {"Data sets", "Results"} <= set(sizes["What"]) and list(first["Id"]) == [fit_id[:8]]
    assert "swift backup FILE" in words(page) and "no copy of the judgements" in words(page)
    Reviews(fitted_store.root).save(Review(fit_id, "P01", "d", "anna"))
    drawn(page.run())
    assert "Nothing would be removed now" in words(page)
    assert "1 copy, the newest of" in words(page) and "with 1 judgement" in words(page)


def test_a_run_is_marked_to_be_kept(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("runs", fitted_store, monkeypatch), "runs.tab", "History")
    assert not widget(page, "toggle", f"keep.{fit_id}").value
    drawn(widget(page, "toggle", f"keep.{fit_id}").set_value(True).run())
    assert is_kept(fitted_store.root, fit_id) and widget(page, "toggle", f"keep.{fit_id}").value
    drawn(widget(page, "toggle", f"keep.{fit_id}").set_value(False).run())
    assert not is_kept(fitted_store.root, fit_id)


def test_a_removed_result_is_said_and_can_be_computed_again(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(budget.LIMIT_SETTING, "1KB")
        assert make_room(fitted_store, 1)
    page = tab(open_page("runs", fitted_store, monkeypatch), "runs.tab", "History")
    assert "to make room" in page.dataframe[0].value["State"][0]
    assert "gives it back" in words(page)
    started = []
    monkeypatch.setattr(
        "dashboard.jobs.jobs.start",
        lambda store, request, cluster: started.append(request) or fit_id,
    )
    drawn(widget(page, "button", "again").click().run())
    assert [request.key() for request in started] == [fit_id]


def test_a_link_to_a_removed_result_says_so(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv(budget.LIMIT_SETTING, "1KB")
        make_room(fitted_store, 1)
    dataset = fitted_store.datasets()[0].id
    page = open_app(fitted_store, monkeypatch, data=dataset, run=fit_id)
    assert "removed to make room" in words(page)


def test_a_look_at_a_result_is_noted(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not (fitted_store.root / USED / fit_id).exists()
    open_page("phenotypes", fitted_store, monkeypatch)
    assert (fitted_store.root / USED / fit_id).exists()

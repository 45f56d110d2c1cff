"""The first steps: there on first open, left with a press, opened again, and kept in the store."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_app, open_page, widget, words

from dashboard.store.store import Store
from dashboard.text.first_steps import STEPS
from dashboard.text.wording import PAGES
from dashboard.widgets.empty import LINKS
from dashboard.widgets.tour import SEEN


def step(app: AppTest) -> str:
    return next(
        (str(one.value) for one in app.sidebar.markdown if "First steps" in str(one.value)), ""
    )


def press(app: AppTest, key: str) -> AppTest:
    widget(app, "button", key).click()
    return drawn(app.run())


def test_there_are_five_and_each_is_on_a_page() -> None:
    assert len(STEPS) == 5 and {one.page for one in STEPS} <= set(PAGES) & set(LINKS)


def test_they_lead_from_page_to_page_and_back(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(fitted_store, monkeypatch)
    assert "1 of 5: See what was found" in step(app)
    press(app, "tour.next")
    assert "2 of 5: See who has it" in step(app) and app.title[0].value == "Patients"
    press(app, "tour.back")
    assert "1 of 5" in step(app) and app.title[0].value == "Phenotypes"
    assert not (fitted_store.root / SEEN).exists()


def test_they_are_left_for_good_and_opened_again(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(fitted_store, monkeypatch)
    press(app, "tour.leave")
    assert not step(app) and (fitted_store.root / SEEN).exists()
    again = open_app(fitted_store, monkeypatch)  # another session
    assert not step(again)
    press(again, "tour.open")
    assert "1 of 5" in step(again)


def test_a_store_that_cannot_be_written_is_no_reason_to_stay(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(fitted_store, monkeypatch)
    (fitted_store.root / SEEN).mkdir()  # no file can take its place
    press(app, "tour.leave")
    assert not step(app) and not app.error


def test_the_page_help_has_all_of_them_and_opens_them(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("help", fitted_store, monkeypatch)
    page.session_state["help.tab"] = "First steps"
    said = words(drawn(page.run()))
    assert all(one.title in said and one.text in said for one in STEPS)
    press(page, "help.tour")
    assert page.session_state["swift.tour"] == 1


def test_the_glossary_finds_a_word(fitted_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_page("help", fitted_store, monkeypatch)
    assert "**Alarm**" in words(page) and "**PR-AUC**" in words(page)
    page.text_input(key="help.word").set_value("pr-auc")
    assert "**Alarm**" not in words(drawn(page.run())) and "**PR-AUC**" in words(page)
    page.text_input(key="help.word").set_value("xyz")
    assert "does not have this word" in words(drawn(page.run()))

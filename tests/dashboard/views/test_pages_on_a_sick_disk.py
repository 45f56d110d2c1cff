"""Every page opens on a full or read-only disk, and says what to do when something is written."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from support.opened_page import card_words, drawn, open_app, open_page, tab, widget, words
from support.small_disk import filled, read_only, small_disk

from dashboard.session import cache
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from dashboard.text.wording import PAGES
from dashboard.views import runs as runs_view

SHOWN = {  # what each page shows when the store can be read
    "phenotypes": "3 phenotypes in tiny 0",
    "review": "Give your name to judge",
    "patients": "Which patient has which phenotype",
    "prediction": "",
    "robustness": "",
    "data": "30 patients",
    "runs": "",
    "help": "Alarm",
}


@pytest.fixture
def judged(fitted_root: Path, tmp_path: Path) -> Iterator[Store]:
    """A store on a small disk whose fit is judged."""
    with small_disk(tmp_path / "disk") as disk:
        store = Store(shutil.copytree(fitted_root, disk / "store"))
        fit = store.runs()[0].id
        digest = store.fit(fit).phenotype_digest(0)
        Reviews(store.root).save(Review(fit, "P01", digest, "Dr A", name="Fever", verdict="yes"))
        yield store


def judge_second(page: AppTest, fit: str) -> AppTest:
    """Judge P02 as Dr B and press save."""
    page.session_state["swift.reviewer"] = "Dr B"
    drawn(page.run())
    comment = widget(page, "text_area", f"w.draft.{fit}.P02.comment")
    drawn(comment.set_value("x" * 1900).run())
    widget(page, "button_group", f"w.draft.{fit}.P02.verdict").set_value("no")
    drawn(page.run())
    return drawn(widget(page, "button", "save").click().run())


def check_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages show what they show on a sound disk, without an error."""
    assert set(SHOWN) == set(PAGES)
    for view, shown in SHOWN.items():
        page = open_page(view, store, monkeypatch, p="P01")
        assert shown in words(page) and not page.error, (view, words(page))
    page = open_page("data", store, monkeypatch)
    shown = tab(page, "data.tab", "Storage")
    assert shown.dataframe, words(shown)
    assert "Data sets" in set(shown.dataframe[0].value["What"])


@pytest.mark.parametrize(
    "pages", [0, *(pytest.param(few, marks=pytest.mark.nightly) for few in range(1, 20))]
)
def test_every_page_opens_on_a_full_disk(
    pages: int, judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with filled(judged.root.parent, pages):
        cache.st.cache_resource.clear()  # a server that is started now
        check_pages(judged, monkeypatch)
        app = open_app(judged, monkeypatch)
        assert not app.error and "Fever" in card_words(app)


def test_on_a_full_disk_a_judgement_stays_in_the_form(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = judged.runs()[0].id
    page = open_page("review", judged, monkeypatch, p="P02")
    with filled(judged.root.parent, 0):
        judge_second(page, fit)
        assert "could not be saved" in words(page) and "disk is full" in words(page)
        assert "Delete runs" in words(page) and "damaged" not in words(page)
        assert widget(page, "text_area", f"w.draft.{fit}.P02.comment").value == "x" * 1900
    drawn(widget(page, "button", "save").click().run())
    assert {one.reviewer for one in Reviews(judged.root).all()} == {"Dr A", "Dr B"}


def test_a_file_that_cannot_be_written_says_what_can_be_deleted(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(runs_view, "show", full)
    said = words(open_page("runs", judged, monkeypatch))
    assert "disk is full" in said and "Delete runs" in said and "stays readable" in said


def test_every_page_opens_on_a_read_only_folder(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = judged.runs()[0].id
    with read_only(judged.root):
        cache.st.cache_resource.clear()
        check_pages(judged, monkeypatch)
        page = judge_second(open_page("review", judged, monkeypatch, p="P02"), fit)
        assert "could not be saved" in words(page) and "may not be written" in words(page)
        assert "is full" not in words(page) and "damaged" not in words(page)
        history = tab(open_page("runs", judged, monkeypatch), "runs.tab", "History")
        widget(history, "toggle", f"keep.{fit}").set_value(True)
        assert "may not be written" in words(drawn(history.run()))
    drawn(widget(page, "button", "save").click().run())
    assert len(Reviews(judged.root).all()) == 2

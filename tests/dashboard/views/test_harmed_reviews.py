"""Whatever happens to the file of the reviews, the phenotypes are shown and the words are right."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from support.harmed_reviews import HARM
from support.opened_page import card_words, drawn, open_page, tab, widget, words

from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from dashboard.text.wording import PAGES

VIEWS = ("phenotypes", "review", "patients")


@pytest.fixture
def judged(fitted_store: Store, fit_id: str) -> Store:
    """A store with one judgement of P01, which gave it a name."""
    digest = fitted_store.fit(fit_id).phenotype_digest(0)
    Reviews(fitted_store.root).save(
        Review(fit_id, "P01", digest, "Dr A", name="Fever cases", verdict="yes")
    )
    return fitted_store


def shows_phenotypes(view: str, page: AppTest) -> bool:
    if view == "review":
        offered = widget(page, "selectbox", "w.phenotype.review").options
        return any("P01" in option for option in offered)
    if view == "phenotypes":
        return "P01" in card_words(page)
    return bool(len(page.dataframe)) and "P01" in page.dataframe[0].value.to_string()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("harm", ["second page", "emptied", "no database"])
def test_phenotypes_stay_and_the_newest_copy_is_offered(
    view: str, harm: str, judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    HARM[harm](judged.root / "reviews.sqlite")
    page = open_page(view, judged, monkeypatch, p="P01")
    if view == "review":  # it begins with a name
        page.session_state["swift.reviewer"] = "Dr B"
        drawn(page.run())
    assert shows_phenotypes(view, page)
    said = words(page)
    assert "file is damaged" in said and "holds 1 judgement" in said and "is full" not in said
    assert "Nobody has judged" not in said and "phenotypes are complete" in said
    button = widget(page, "button", "reviews.restore")
    assert button.label.startswith("Restore the copy of ")
    drawn(button.click().run())
    assert "1 judgement restored" in words(page) and "damaged" not in words(page)
    assert len(Reviews(judged.root).all()) == 1
    assert list(judged.root.glob("reviews-damaged-*.sqlite"))


def test_without_any_copy_there_is_still_a_way_on(
    judged: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in Reviews(judged.root).copies.paths():
        path.unlink()
    HARM["no database"](judged.root / "reviews.sqlite")
    page = open_page("review", judged, monkeypatch, p="P01")
    page.session_state["swift.only_looking"] = True
    assert "no sound copy" in words(drawn(page.run()))
    drawn(widget(page, "button", "reviews.restore").click().run())
    assert "0 judgements restored" in words(page) and "Nobody has judged" in words(page)


def test_what_was_typed_stays_when_the_file_is_damaged_meanwhile(
    judged: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("review", judged, monkeypatch, p="P02")
    page.session_state["swift.reviewer"] = "Dr B"
    drawn(page.run())
    widget(page, "button_group", f"w.draft.{fit_id}.P02.verdict").set_value("no")
    drawn(page.run())
    HARM["second page"](judged.root / "reviews.sqlite")
    drawn(widget(page, "button", "save").click().run())
    assert "could not be saved" in words(page) and "file is damaged" in words(page)
    drawn(widget(page, "button", "reviews.restore").click().run())
    drawn(widget(page, "button", "save").click().run())
    found = {one.reviewer: one.verdict for one in Reviews(judged.root).latest(fit_id)}
    assert found == {"Dr A": "yes", "Dr B": "no"}


def test_a_report_says_that_judgements_are_absent(judged: Store, fit_id: str) -> None:
    HARM["cut in half"](judged.root / "reviews.sqlite")
    page = render_report(report_of_run(judged, Reviews(judged.root), fit_id, 0))
    assert "their file is damaged" in page and "P01" in page and "Fever cases" not in page


@pytest.mark.parametrize("harm", ["last page", "gone"])
def test_no_page_is_lost(harm: str, judged: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    HARM[harm](judged.root / "reviews.sqlite")
    for view in PAGES:
        page = open_page(view, judged, monkeypatch, p="P01")
        assert len(page.error) == (1 if view in VIEWS else 0), view
    storage = tab(open_page("data", judged, monkeypatch), "data.tab", "Storage")
    assert "Nothing would be removed now" in words(storage) and not storage.error

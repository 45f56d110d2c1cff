"""The page of judgements: drafts, saving, several reviewers, the link that stays hidden."""

from __future__ import annotations

import io

import pytest
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, widget, words

from dashboard.session.fit_summary import fit_summary
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from dashboard.widgets import downloads


def page_as(reviewer: str, store: Store, monkeypatch: pytest.MonkeyPatch, **link: str) -> AppTest:
    page = open_page("review", store, monkeypatch, **link)
    page.session_state["swift.reviewer"] = reviewer
    return drawn(page.run())


def field(page: AppTest, kind: str, run: str, name: str, identifier: str = "P01") -> object:
    return widget(page, kind, f"w.draft.{run}.{identifier}.{name}")


def judge(page: AppTest, run: str, verdict: str) -> AppTest:
    """Say whether P01 is meaningful; the buttons hold several kinds of value."""
    field(page, "button_group", run, "verdict").set_value(verdict)
    return drawn(page.run())


def test_nothing_is_saved_without_a_name_and_a_verdict(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = open_page("review", fitted_store, monkeypatch, p="P01")
    assert widget(page, "button", "save").disabled and "give your name" in words(page)
    page.session_state["swift.reviewer"] = "Dr A"
    drawn(page.run())
    assert widget(page, "button", "save").disabled
    assert "say whether it is meaningful" in words(page)


def test_a_judgement_is_saved_and_the_next_one_comes_up(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    assert "0 of 3 judged by you" in str(page.get("progress")[0].proto)
    assert "shown once you have judged" in words(page)
    drawn(field(page, "text_input", fit_id, "name").set_value("=Fever <b>").run())
    judge(page, fit_id, "yes")
    assert "Not saved yet: P01" in words(page)
    drawn(widget(page, "button", "save").click().run())
    saved = Reviews(fitted_store.root).latest(fit_id)
    assert [(one.phenotype, one.name, one.verdict) for one in saved] == [
        ("P01", "=Fever <b>", "yes")
    ]
    digest = fitted_store.fit(fit_id).phenotype_digest(0)
    assert saved[0].phenotype_digest == digest and saved[0].reviewer == "Dr A"
    assert [one.value[:9] for one in page.success] == ["All saved"]
    assert widget(page, "selectbox", "w.phenotype.review").value != "P01"
    page.session_state["swift.phenotype"] = "P01"
    drawn(page.run())
    assert "Link to the outcome" in words(page)
    assert field(page, "text_input", fit_id, "name").value == "=Fever <b>"


def test_a_draft_outlives_its_widgets(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    drawn(field(page, "text_area", fit_id, "comment").set_value("half a thought").run())
    page.session_state["swift.phenotype"] = "P02"  # the form of P01 is not drawn any more
    drawn(page.run())
    assert field(page, "text_area", fit_id, "comment", "P02").value == ""
    assert "Not saved yet: P01" in words(page)
    page.session_state["swift.phenotype"] = "P01"
    drawn(page.run())
    assert field(page, "text_area", fit_id, "comment").value == "half a thought"
    assert Reviews(fitted_store.root).latest(fit_id) == []


def test_several_reviewers_see_each_other_and_how_far_they_agree(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    fit, reviews = fitted_store.fit(fit_id), Reviews(fitted_store.root)
    for who, verdict in (("Dr A", "yes"), ("Dr B", "no")):
        for component, name in enumerate(fit.identifiers[:2]):
            said = verdict if component else "yes"
            reviews.save(Review(fit_id, name, fit.phenotype_digest(component), who, verdict=said))
    page = page_as("Dr C", fitted_store, monkeypatch, p="P01")
    assert "4 judgements by 2 reviewers" in words(page)
    assert "agree in 50%" in words(page)
    table = page.dataframe[-1].value
    assert set(table["reviewer"]) == {"Dr A", "Dr B"}


def test_a_full_disk_loses_no_draft(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    judge(page, fit_id, "no")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Reviews, "save", refuse)
    drawn(widget(page, "button", "save").click().run())
    assert "could not be saved" in words(page) and "All saved" not in words(page)
    assert widget(page, "selectbox", "w.phenotype.review").value == "P01"
    monkeypatch.undo()
    monkeypatch.setenv("SWIFT_HOME", str(fitted_store.root))
    drawn(widget(page, "button", "save").click().run())
    assert [one.verdict for one in Reviews(fitted_store.root).latest(fit_id)] == ["no"]


def test_a_workbook_goes_out_and_comes_back(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    monkeypatch.setenv("SWIFT_HOME", str(fitted_store.root))
    chosen = {"swift.run": fit_id, "swift.dataset": fitted_store.datasets()[0].id}
    monkeypatch.setattr(
        "dashboard.session.state.get",
        lambda name, default=None: chosen.get(f"swift.{name}", default),
    )
    summary = fit_summary()
    assert summary is not None
    book = load_workbook(io.BytesIO(downloads._workbook(summary)))
    sheet = book.active
    heads = {
        cell.value: cell.column for row in sheet.iter_rows(max_row=6) for cell in row if cell.value
    }
    first = next(row for row in range(1, 9) if sheet.cell(row, heads["Id"]).value == "Id") + 1
    sheet.cell(2, 2).value = "Dr Paper"
    sheet.cell(first, heads["Clinical name"]).value = "On paper"
    sheet.cell(first, heads["Makes sense"]).value = "yes"
    sheet.cell(first, heads["Confidence"]).value = 4
    out = io.BytesIO()
    book.save(out)
    monkeypatch.undo()
    page = open_page("review", fitted_store, monkeypatch)
    page.session_state["workbook.back"] = True
    page.run().get("file_uploader")[0].upload("judged.xlsx", out.getvalue()).run()
    widget(page, "button", "workbook.save").click().run()
    assert [one.value for one in drawn(page).success] == ["1 judgement saved from the workbook."]
    assert not drawn(page.run()).success
    saved = Reviews(fitted_store.root).latest(fit_id)
    assert [(one.reviewer, one.name) for one in saved] == [("Dr Paper", "On paper")]

"""The page of judgements: drafts, saving, the end of a round, what follows it."""

from __future__ import annotations

import io

import pytest
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, sent, widget, words

from dashboard.session.fit_summary import fit_summary
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds
from dashboard.store.store import Store
from dashboard.widgets import downloads
from swiftcore.errors import InvalidSettings


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


def progress(page: AppTest) -> str:
    return str(page.get("progress")[0].proto)


def save_as(store: Store, run: str, reviewer: str, verdicts: list[str]) -> None:
    """Judge the first phenotypes in somebody's name."""
    fit = store.fit(run)
    Reviews(store.root).save_all(
        [
            Review(run, fit.identifiers[part], fit.phenotype_digest(part), reviewer, verdict=said)
            for part, said in enumerate(verdicts)
        ]
    )


def test_it_begins_with_a_name_and_shows_nobody_elses_judgement_before(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    save_as(fitted_store, fit_id, "Dr A", ["yes"])
    page = open_page("review", fitted_store, monkeypatch, p="P01")
    assert "Give your name" in words(page) and not page.dataframe and not page.get("button_group")
    drawn(widget(page, "button", "look").click().run())
    assert "Dr A" in page.dataframe[0].value.to_string()


def test_nothing_is_saved_without_a_verdict(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    drawn(widget(page, "button", "save").click().run())
    assert "say whether it is meaningful" in words(page)
    assert Reviews(fitted_store.root).all() == []
    judge(page, fit_id, "no")
    drawn(widget(page, "button", "save").click().run())
    (saved,) = Reviews(fitted_store.root).latest(fit_id)
    assert (saved.verdict, saved.confidence) == ("no", None)  # nobody said how sure
    assert "say whether it is meaningful" not in words(page)


def test_a_judgement_is_saved_and_the_next_one_comes_up(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    assert "0 of 3 judged by you" in progress(page)
    drawn(field(page, "text_input", fit_id, "name").set_value("=Fever <b>").run())
    judge(page, fit_id, "yes")
    assert "Not saved yet: P01" in progress(page)
    drawn(widget(page, "button", "save").click().run())
    saved = Reviews(fitted_store.root).latest(fit_id)
    assert [(one.phenotype, one.name, one.verdict) for one in saved] == [
        ("P01", "=Fever <b>", "yes")
    ]
    digest = fitted_store.fit(fit_id).phenotype_digest(0)
    assert saved[0].phenotype_digest == digest and saved[0].reviewer == "Dr A"
    assert "All saved" in progress(page)
    assert widget(page, "selectbox", "w.phenotype.review").value != "P01"
    page.session_state["swift.phenotype"] = "P01"
    drawn(page.run())
    assert field(page, "text_input", fit_id, "name").value == "=Fever <b>"
    page.session_state["swift.reviewer"] = "Dr B"  # another one did not save anything
    assert "All saved" not in progress(drawn(page.run()))


def test_a_round_goes_on_where_it_stood(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = open_page("review", fitted_store, monkeypatch)
    page.session_state["swift.reviewer"] = "Dr A"
    order = widget(drawn(page.run()), "selectbox", "w.phenotype.review").options
    first = order[0][:3]
    part = fitted_store.fit(fit_id).identifiers.index(first)
    digest = fitted_store.fit(fit_id).phenotype_digest(part)
    Reviews(fitted_store.root).save(Review(fit_id, first, digest, "Dr A"))
    again = open_page("review", fitted_store, monkeypatch)
    again.session_state["swift.reviewer"] = "Dr A"
    assert widget(drawn(again.run()), "selectbox", "w.phenotype.review").value == order[1][:3]


def test_the_end_of_the_round_is_said_and_opens_what_follows(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    save_as(fitted_store, fit_id, "Dr B", ["yes", "no", "yes"])
    save_as(fitted_store, fit_id, "Dr A", ["yes", "yes"])
    page = page_as("Dr A", fitted_store, monkeypatch, p="P03")
    assert "You judged 2 of 3" in words(page)  # it may be closed before
    field(page, "button_group", fit_id, "verdict", "P03").set_value("yes")
    drawn(page.run())
    drawn(widget(page, "button", "save").click().run())
    assert "All 3 are judged" in words(page) and "Dr B" not in words(page)
    assert widget(page, "selectbox", "w.phenotype.review").value == "P03"  # no silent wrap
    drawn(widget(page, "button", "close").click().run())
    assert not page.get("button_group") or "1 of 1 still to settle" in words(page)
    assert "agree in 67%" in words(page) and "Cohen's kappa" in words(page)
    assert "Round still open, so judgements may change: Dr B" in words(page)
    with pytest.raises(InvalidSettings):
        save_as(fitted_store, fit_id, "Dr A", ["no"])


def test_disagreements_are_settled_by_vote_or_by_a_named_arbiter(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    save_as(fitted_store, fit_id, "Dr A", ["yes", "yes"])
    save_as(fitted_store, fit_id, "Dr B", ["no", "yes"])
    save_as(fitted_store, fit_id, "Dr C", ["yes", "no"])
    save_as(fitted_store, fit_id, "Dr D", ["no"])
    rounds = Rounds(Reviews(fitted_store.root))
    rounds.close(fit_id, "Dr A")
    page = page_as("Dr A", fitted_store, monkeypatch)
    assert "2 of 2 still to settle" in words(page)
    drawn(widget(page, "button", "settle.vote").click().run())  # P01 is a tie
    assert {name: one.verdict for name, one in rounds.settled(fit_id).items()} == {"P02": "yes"}
    assert widget(page, "button", "settle.arbiter").disabled
    widget(page, "button_group", f"w.decision.{fit_id}.P01.verdict").set_value("possibly")
    widget(page, "text_input", f"w.decision.{fit_id}.P01.name").set_value("Agreed <b>")
    widget(page, "text_input", "w.arbiter").set_value("Dr Chair")
    drawn(page.run())
    drawn(widget(page, "button", "settle.arbiter").click().run())
    assert "All settled: 2 disagreements" in words(page)
    found = rounds.settled(fit_id)["P01"]
    assert (found.verdict, found.name, found.arbiter) == ("possibly", "Agreed <b>", "Dr Chair")
    assert "possibly: Agreed <b> (by Dr Chair)" in page.dataframe[0].value.to_string()
    page.session_state["history"] = True
    history = drawn(page.run()).dataframe[-1].value
    assert history["Who"].tolist().count("agreed") == 2
    ranked = open_page("phenotypes", fitted_store, monkeypatch)
    ranked.session_state["swift.reviewer"] = "Dr A"
    assert b"Agreed &lt;b&gt;" in sent(drawn(ranked.run()))


def test_a_draft_outlives_its_widgets(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    drawn(field(page, "text_area", fit_id, "comment").set_value("half a thought").run())
    page.session_state["swift.phenotype"] = "P02"  # the form of P01 is not drawn any more
    drawn(page.run())
    assert field(page, "text_area", fit_id, "comment", "P02").value == ""
    assert "Not saved yet: P01" in progress(page)
    page.session_state["swift.phenotype"] = "P01"
    drawn(page.run())
    assert field(page, "text_area", fit_id, "comment").value == "half a thought"
    assert Reviews(fitted_store.root).latest(fit_id) == []


def test_a_draft_is_there_in_another_session_of_the_same_reviewer(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    drawn(field(page, "text_area", fit_id, "comment").set_value("half a thought").run())
    again = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    assert field(again, "text_area", fit_id, "comment").value == "half a thought"
    other = page_as("Dr B", fitted_store, monkeypatch, p="P01")
    assert field(other, "text_area", fit_id, "comment").value == ""


def test_a_full_disk_loses_no_draft(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = page_as("Dr A", fitted_store, monkeypatch, p="P01")
    judge(page, fit_id, "no")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Reviews, "save", refuse)
    drawn(widget(page, "button", "save").click().run())
    assert "could not be saved" in words(page) and "All saved" not in progress(page)
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

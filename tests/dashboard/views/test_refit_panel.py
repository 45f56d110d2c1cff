"""Change and refit on the page: steps collected, undone, refused, started; the way back."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from support.made_runs import computed, fitted
from support.opened_page import LIST, choose_listed, drawn, open_page, widget, words
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.session.fit_summary import fit_summary
from dashboard.store.cards import RunState
from dashboard.store.lineage import carry_reviews
from dashboard.store.refit_request import refit_request
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from dashboard.widgets.refit import features_of
from swiftcore import Drop, Merge, Pin, Seed, Split
from swiftcore.phenotypes.guidance import Step


def opened(store: Store, monkeypatch: pytest.MonkeyPatch, **link: str) -> AppTest:
    return drawn(open_page("phenotypes", store, monkeypatch, **link).run())


def press(page: AppTest, key: str) -> AppTest:
    return drawn(widget(page, "button", key).click().run())


def pick(page: AppTest, what: str, run: str, place: str, value: object) -> AppTest:
    kind = "multiselect" if what == "seed" else "selectbox"
    return drawn(widget(page, kind, f"refit.{what}.{run}.{place}").set_value(value).run())


def child_of(store: Store, run: str, *steps: Step) -> str:
    fit = store.fit(run)
    return computed(store, refit_request(store.run(run), fit.modes, fit.factors, steps))


def test_steps_are_collected_undone_and_asked_for(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(
        jobs, "start", lambda _, request, cluster: asked.append(request) or request.key()
    )
    page = opened(fitted_store, monkeypatch, p="P01")
    assert widget(page, "button", "refit.add.merge").disabled
    press(page, "refit.add.pin")
    assert "P01 stays as it is" in words(page) and widget(page, "button", "refit.add.pin").disabled
    page = opened_at(page, "P02")
    pick(page, "merge", fit_id, "P02", "P03")
    press(page, "refit.add.merge")
    press(page, "refit.add.split")
    assert "These steps do not go together" in words(page)
    assert not [one for one in page.button if one.key == "refit.start"]
    press(page, "refit.undo.2")
    assert "do not go together" not in words(page)
    drop = ("medication", "medication 0")
    pick(page, "drop", fit_id, "P02", drop)
    press(page, "refit.add.drop")
    pick(page, "seed", fit_id, "3", [("diagnosis", "diagnosis 0"), drop])
    press(page, "refit.add.seed")
    press(page, "refit.start")
    assert [type(step) for step in asked[0].guidance] == [Merge, Drop, Pin, Seed]
    assert asked[0].run == fit_id and asked[0].settings["rank"] == 3
    assert "P01 stays as it is" not in words(page)  # they are on their way now


def opened_at(page: AppTest, phenotype: str) -> AppTest:
    return choose_listed(page, phenotype)


def test_a_refit_says_what_it_came_from_and_leads_back(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    child = child_of(fitted_store, fit_id, Merge("P01", "P02"), Pin("P03"))
    page = opened(fitted_store, monkeypatch, run=child)
    said = words(page)
    assert "Changed and refitted" in said and "P01 and P02 are one" in said
    table = next(one.value for one in page.dataframe if "Was" in one.value)
    assert table["Was"].str.count(" and P02").sum() == 1
    assert (table["Is it the same?"] == "yes").sum() == 1 and table["Similarity"].max() == "1.000"
    press(page, "parent")
    assert page.query_params["run"] in (fit_id, [fit_id])
    assert "Changed and refitted" not in words(page)
    fitted_store.delete_run(fit_id)
    assert "not here any more" in words(opened(fitted_store, monkeypatch, run=child))


def test_the_refit_opens_when_it_is_done(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    child = child_of(fitted_store, fit_id, Pin("P01"))
    page = opened(fitted_store, monkeypatch, run=fit_id)
    page.session_state["swift.refit"] = child
    drawn(page.run())
    assert fitted_store.run(child).state is RunState.DONE
    assert "P01 stays as it is" in words(page)


def test_rare_features_are_neither_offered_nor_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fitted(store, tiny_dataset(rows=24))  # real: 8 rows have each medication
    page = opened(store, monkeypatch, run=run)
    offered = widget(page, "selectbox", f"refit.drop.{run}.{shown(page)}").options
    assert not [one for one in offered if "medication" in one]
    child = child_of(store, run, Drop("P01", "medication 0"), Seed((("diagnosis", "diagnosis 1"),)))
    said = words(opened(store, monkeypatch, run=child))
    assert "a rare feature (medication) does not belong to P01" in said
    assert "medication 0" not in said and "diagnosis 1" not in said


def shown(page: AppTest) -> str:
    return str(widget(page, "radio", LIST).value)


def test_what_was_said_before_is_offered_and_saved_only_by_hand(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    fit, reviews = fitted_store.fit(fit_id), Reviews(fitted_store.root)
    for name, part in (("Mixture", 0), ("Right", 1)):
        digest = fit.phenotype_digest(part)
        reviews.save(Review(fit_id, f"P0{part + 1}", digest, "Dr A", name=name, verdict="yes"))
    strongest = fit.factors[1][:, 0].argsort()[-2:]
    dropped = [Drop("P01", fit.modes[1].labels[feature]) for feature in strongest]
    steps = (*dropped, Pin("P02"))
    child = child_of(fitted_store, fit_id, *steps)
    files = {"model.npz": (fitted_store.root / "runs" / child / "model.npz").read_bytes()}
    carry_reviews(fitted_store, fitted_store.run(child).request, files)
    assert [one.name for one in reviews.latest(child)] == ["Right"]

    page = open_page("review", fitted_store, monkeypatch, run=child, p="P01")
    page.session_state["swift.reviewer"] = "Dr A"
    drawn(page.run())
    assert "This was P01: Mixture" in words(page) and "Does that still hold" in words(page)
    press(page, "take_over")
    assert (
        "Not saved yet: P01" in str(page.get("progress")[0].proto)
        and len(reviews.latest(child)) == 1
    )
    press(page, "save")
    assert {one.name for one in reviews.latest(child)} == {"Right", "Mixture"}


def test_features_come_strongest_first(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    found: list[list[tuple[str, str]]] = []

    def screen() -> None:
        summary = fit_summary()
        assert summary is not None
        found.append(features_of(summary, 0))

    from dashboard.views import phenotypes

    monkeypatch.setattr(phenotypes, "show", screen)
    open_page("phenotypes", fitted_store, monkeypatch, run=fit_id)
    fit = fitted_store.fit(fit_id)
    first = fit.modes[1].labels[int(fit.factors[1][:, 0].argmax())]
    assert found[-1][0] == ("diagnosis", first)
    assert {mode for mode, _ in found[-1]} == {"diagnosis", "medication"}


def test_a_split_cannot_be_asked_of_what_is_kept(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = opened(fitted_store, monkeypatch, run=fit_id, p="P01")
    page.session_state["swift.steps"] = {fit_id: (Pin("P01"), Split("P01"))}
    drawn(page.run())
    assert "Pin it, or change it, not both." in words(page)

"""*Choose for me* on the page Runs: the form, the result, and the way to its phenotypes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import made_up
from support.made_runs import computed
from support.opened_page import add_experiment, drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.jobs import compute, jobs
from dashboard.session.state import Key
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec

TAB, NAME = "runs.tab", "Choose for me"


def test_the_form_says_its_time_and_asks_for_a_choice(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Request] = []
    monkeypatch.setattr(jobs, "start", lambda _, request, cluster: asked.append(request) or "")
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, NAME)
    assert "At most about 10 min" in words(page)
    page.session_state["tune.minutes"] = 2.0
    page.run()
    assert "At most about 2 min" in words(page)
    widget(page, "checkbox", "tune.guided").check().run()
    widget(page, "number_input", "tune.least").set_value(3).run()
    widget(page, "button", "start.tune").click().run()
    [request] = asked
    wanted = {"ranks": [5, 10, 20], "minutes": 2.0, "guided": True}
    wanted |= {"least_class_size": 3, "seed": 0}
    assert (request.kind, request.settings) == ("tune", wanted)


def test_the_result_says_why_and_opens_as_a_fit(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.tune())
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, NAME)
    text = words(page)
    assert "Chosen: 3 phenotypes; all other settings as usual" in text
    assert "within one standard error" in text and "it opens at once" in text
    assert len(page.get("plotly_chart")) == 1
    table = page.dataframe[0].value
    assert (table["Result"].iloc[0], table["Result"].iloc[-1]) == ("chosen", "not tried")
    assert "Weight of each row: equal" in set(table["Changed settings"])
    widget(page, "button", "fit.tuned").click().run()  # the fit of the spec is here already
    assert drawn(page).session_state[f"swift.{Key.RUN}"] == fit_id


def test_phenotypes_made_to_predict_are_marked(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up.tune()
    spec = ModelSpec(rank=3, feature_weighting="outcome").to_json()
    add_experiment(fitted_store, replace(made, about={**made.about, "spec": spec}))
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, NAME)
    assert "Made to predict fever" in words(page)


def test_history_leads_to_the_result(fitted_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add_experiment(fitted_store, made_up.tune())
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "History")
    assert "Choice of settings" in set(page.dataframe[0].value["What"])
    widget(page, "selectbox", "history.run").select_index(1).run()
    widget(page, "button", "look.history").click().run()
    assert widget(drawn(page), "button", "fit.tuned")


def test_a_worker_computes_it_and_it_can_be_shared(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "fits_at_once", lambda *_: 1)
    dataset = store.add_dataset(tiny_dataset())
    request = Request("tune", dataset, {"ranks": [2], "minutes": 1e-4})
    run = computed(store, request)
    found = store.experiment(run)
    other = Store(tmp_path / "other")
    moved = other.import_run(store.export_run(run, with_data=True), "from.zip")
    assert other.experiment(moved).about == found.about
    assert found.about["settings"] == request.settings
    spec = ModelSpec.from_json(found.about["spec"])
    assert Request("fit", dataset, spec.plain()).settings["rank"] == 2
    assert Experiment.from_json(found.to_json()).kind == "tune"


def test_requests_have_one_form(store: Store) -> None:
    dataset = store.add_dataset(tiny_dataset())
    one, two = (Request("tune", dataset, {"ranks": ranks}) for ranks in ([20, 5], [5, 20, 5]))
    assert one.key() == two.key() and one.title == "Choose for me, R = 5, 20, 10 min"
    assert Request("tune", dataset, {"minutes": 0, "guided": True}).title.endswith(
        "no limit, guided"
    )
    with pytest.raises(InvalidSettings):
        Request("tune", dataset, {"minutes": -1})
    with pytest.raises(InvalidSettings):
        Request("tune", dataset, {"folds": 3})

"""The Runs page starts, shows, compares, deletes and takes in runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import made_up
from support.hostile_bundles import with_arrays
from support.opened_page import add_experiment, damage, drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset, wait_for

from dashboard.jobs import jobs
from dashboard.store.job_state import FIT_STATE
from dashboard.store.request import KINDS, Request
from dashboard.store.store import Store
from dashboard.text.link import PAGE_OF
from dashboard.widgets import active_runs
from swiftcore.cluster.address import FILE
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.runtime.sealed_arrays import write_sealed

TAB = "runs.tab"


def test_a_start_says_its_price_and_becomes_a_job_that_can_be_stopped(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    page = open_page("runs", store, monkeypatch)
    assert "of memory" in words(page)
    widget(page, "number_input", "fit.rank").set_value(2).run()
    widget(page, "button", "start.fit").click().run()
    drawn(page)
    wanted = Request("fit", dataset, {"rank": 2, "consensus": 8}).key()  # a number, no effort
    assert [run.id for run in store.runs()] == [wanted]
    jobs.cancel(store, wanted)
    wait_for(lambda: not store.run(wanted).state.active)


def test_only_clusters_of_the_settings_are_offered(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "clusters.toml"
    monkeypatch.setenv(FILE.variable, str(settings))
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    page = open_page("runs", store, monkeypatch)
    assert "Computed on" not in [box.label for box in page.selectbox]
    settings.write_text('[lab]\naddress = "tcp://127.0.0.1:9"\n')
    settings.chmod(0o600)
    page.run()
    box = widget(page, "selectbox", "start.fit.cluster")
    assert box.options == ["this machine", "lab"] and box.value == ""
    box.set_value("lab").run()
    widget(page, "button", "start.fit").click().run()
    [run] = drawn(page) and store.runs()
    assert run.id == Request("fit", dataset, {"rank": 10, "consensus": 8}).key()
    assert store.job(run.id).about()["cluster"] == "lab"
    jobs.cancel(store, run.id)
    settings.chmod(0o644)
    assert "chmod 600" in words(open_page("runs", store, monkeypatch))


def test_the_same_settings_are_answered_from_the_store(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("runs", fitted_store, monkeypatch)
    page.session_state["fit.effort"] = "Quick"
    widget(page, "number_input", "fit.rank").set_value(3).run()
    assert "it opens at once" in words(page)
    widget(page, "button", "start.fit").click().run()
    assert "is done" in words(drawn(page)) and [one.id for one in fitted_store.runs()] == [fit_id]


def test_effort_moves_the_advanced_settings(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("runs", fitted_store, monkeypatch)
    assert widget(page, "number_input", "fit.consensus.Standard").value == 8
    page.session_state["fit.effort"] = "Thorough"
    page.run()
    assert widget(page, "number_input", "fit.consensus.Thorough").value == 20


def test_experiments_that_need_an_outcome_are_not_offered_without_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_dataset(tiny_dataset(outcome=False))
    page = tab(open_page("runs", store, monkeypatch), TAB, "Experiments")
    offered = widget(page, "selectbox", "experiment.kind").options
    assert offered == [
        "Add false entries",
        "Repeat the computation",
        "Try several numbers of phenotypes",
    ]


def test_ranks_are_read_from_text(fitted_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "Experiments")
    widget(page, "text_input", "experiment.ranks").set_value("no number").run()
    assert "Not a whole number" in words(drawn(page))
    widget(page, "text_input", "experiment.ranks").set_value("2, 3;3 x 5000").run()
    said = page.warning[0].value.replace("\\", "")  # escaped for Markdown
    assert said == "Not a whole number from 1 to 999: x, 5000."
    assert not [one for one in page.button if one.key == "start.experiment"]
    widget(page, "text_input", "experiment.ranks").set_value("2, 3;3").run()
    assert widget(page, "button", "start.experiment") and not page.error


def test_subsets_are_asked_for_together(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "Experiments")
    assert not [one for one in page.number_input if one.key == "experiment.subset_size"]
    widget(page, "number_input", "experiment.subsets").set_value(2).run()
    size = widget(drawn(page), "number_input", "experiment.subset_size")
    assert size.max == 30 and 0 < size.value <= 30  # as many as there are
    size.set_value(20).run()
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)  # it is enough that it was asked for
    widget(drawn(page), "button", "start.experiment").click().run()
    asked = fitted_store.runs(kind="evaluation")[0].request.settings
    assert (asked["subsets"], asked["subset_size"]) == (2, 20)


def test_a_method_without_consensus_says_why_before_the_press(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("runs", fitted_store, monkeypatch)
    reasons = {"swift": "", "cp_als": "cannot be averaged", "cp_nmu": ""}
    for key, reason in reasons.items():
        widget(page, "selectbox", "fit.method").set_value(key).run()
        assert widget(drawn(page), "button_group", "fit.effort").disabled == bool(reason)
        assert (f"{title_of(key)} makes one fit" in words(page)) == bool(reason)
        assert reason in words(page)


def test_history_lists_all_and_a_run_can_be_deleted_only_when_sure(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = add_experiment(fitted_store, made_up.noise())
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "History")
    assert sorted(page.dataframe[0].value["What"]) == ["False entries", "Phenotypes"]
    widget(page, "selectbox", "history.run").select(noise).run()
    assert widget(page, "button", "delete_run").disabled
    widget(page, "checkbox", f"sure.{noise}").check().run()
    widget(page, "button", "delete_run").click().run()
    assert [run.id for run in fitted_store.runs()] == [fit_id]


def test_every_kind_of_run_has_a_name_and_a_page_that_shows_it() -> None:
    assert set(PAGE_OF) == set(active_runs.KINDS) == set(KINDS)


def test_a_damaged_run_is_told_and_can_be_deleted(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(fitted_store, fit_id)
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "History")
    assert "Damaged" in page.dataframe[0].value["State"].iloc[0]
    assert widget(page, "button", "delete_run")


@pytest.mark.slow
def test_an_interrupted_run_goes_on_at_one_press(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset(outcome=False)), {"rank": 2})
    job = store.job(request.key())
    job.create(request, 1.0, 1)
    (job.folder / "process.json").write_text('{"pid": 4194304, "started": 1.0}')  # gone
    write_sealed(store.checkpoints(request.key()) / FIT_STATE, {"iteration": 15}, {})
    page = tab(open_page("runs", store, monkeypatch), TAB, "History")
    assert words(page).count("It can go on after iteration 15.") == 2  # at the top, and chosen
    assert widget(page, "button", f"history.go_on.{request.key()}")
    widget(page, "button", f"runs.go_on.{request.key()}").click().run()
    drawn(page)
    wait_for(lambda: not store.run(request.key()).state.active)
    assert store.run(request.key()).state.name == "DONE"  # no state of its fit: it began anew
    assert "left aside, the fit begins anew" in job.log.read_text()
    assert "is done" in words(drawn(page.run())) and "Go on" not in [b.label for b in page.button]


def of_seed_one(arrays: dict[str, Any]) -> dict[str, Any]:
    arrays["about"]["spec"]["seed"] = 1
    return arrays


def test_two_runs_side_by_side(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("runs", fitted_store, monkeypatch), TAB, "Compare two")
    assert "Two finished results" in words(page)
    card = fitted_store.run(fit_id)
    folder = fitted_store.root / "runs" / fit_id
    files = {name: (folder / name).read_bytes() for name in ("model.npz", "links.json")}
    files = with_arrays(files, "model.npz", of_seed_one)
    again = Request("fit", card.dataset, {**card.request.settings, "seed": 1})
    fitted_store.publish_run(again, files, 2e9, 3.0)
    page = tab(page, TAB, "Compare two")
    settings, matched = page.dataframe[0].value, page.get("plotly_chart")[-1]
    assert settings.set_index("Setting").loc["seed", "Differs"] == "yes"
    assert set(settings.loc[settings["Differs"] == "yes", "Setting"]) <= {"seed", "took"}
    bars = json.loads(matched.proto.spec)["data"][0]
    assert bars["text"] == ["1.00"] * 3
    assert "3 of 3 pairs are nearly the same" in words(page)


def test_a_run_that_was_exported_can_be_taken_in_elsewhere(
    fitted_store: Store, fit_id: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("runs", store, monkeypatch), TAB, "Import")
    page.get("file_uploader")[0].upload("run.zip", b"no zip at all").run()
    widget(page, "button", "import").click().run()
    assert drawn(page).error and not store.runs()
    bundle = fitted_store.export_run(fit_id, with_data=True)
    page.get("file_uploader")[0].upload("run.zip", bundle).run()
    widget(page, "button", "import").click().run()
    (card,) = store.runs()
    assert card.imported is not None and card.imported.file == "run.zip" and card.id != fit_id
    assert "was imported" in words(drawn(page))


def test_too_little_memory_is_said_before_the_press_and_the_press_is_refused(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_dataset(tiny_dataset(outcome=False))
    monkeypatch.setenv("SWIFT_MEMORY_MB", "300")
    page = open_page("runs", store, monkeypatch)
    (warning,) = page.warning
    said = warning.value.replace("\\", "")
    assert "400 MB needed, 270 MB to be had. Close other programs" in said
    widget(page, "button", "start.fit").click().run()
    assert "There is not enough memory" in page.error[0].value
    assert store.runs() == []
    monkeypatch.delenv("SWIFT_MEMORY_MB")  # other programs were closed
    assert not page.run().warning

"""The Prediction page says what the numbers say, in every state of the store."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import made_up
from support.opened_page import (
    add_experiment,
    damage,
    for_scientists,
    open_page,
    widget,
    words,
)
from support.tiny_store import tiny_dataset

from dashboard.store.store import Store


def test_data_without_an_outcome_predict_nothing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_dataset(tiny_dataset(outcome=False))
    page = open_page("prediction", store, monkeypatch)
    assert "nothing to predict" in words(page) and not page.button


def test_links_and_scores_of_a_finished_result(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation())
    page = for_scientists(open_page("prediction", fitted_store, monkeypatch))
    text = words(page)
    assert "ahead of CP-ALS by 0.100" in text
    assert "behind Random forest on indicators by 0.040" in text
    scores = next(table.value for table in page.dataframe if "± SD" in table.value)
    assert scores["Method"].iloc[0] == "Random forest on indicators"
    assert scores.set_index("Method").loc["SWIFT", "PR-AUC"] == pytest.approx(0.70)
    assert "Two patients without an outcome" in text
    assert "With 10 phenotypes found like this, 8 of 10 alarms are right" in text  # 0.85 at half
    assert len(page.get("plotly_chart")) >= 2


def test_the_result_that_is_shown_has_one_number(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = fitted_store.run(fit_id).request.spec
    add_experiment(fitted_store, made_up.judged(spec, made_up.evaluation()), fit_id)
    page = open_page("prediction", fitted_store, monkeypatch, run=fit_id)
    text = words(page)
    assert "With these 3 phenotypes, 8 of 10 alarms are right" in text
    assert "PR-AUC" not in text and "fold" not in text
    text = words(for_scientists(page))
    assert text.count("PR-AUC 0.700 (95% interval 0.650 to 0.750)") == 1
    scores = next(table.value for table in page.dataframe if "± SD" in table.value)
    assert scores.set_index("Method").loc["SWIFT (this result)", "PR-AUC"] == pytest.approx(0.70)


def test_scores_of_something_else_are_said_to_be_and_this_result_can_be_scored(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation())
    page = open_page("prediction", fitted_store, monkeypatch, run=fit_id)
    assert "with other settings than the result that is shown" in words(page)
    assert "these" not in words(page).partition("alarms are right")[0]
    assert "not for the result that is shown" in words(for_scientists(page))
    assert widget(page, "button", "score.this").label == "Score this result"
    other = replace(fitted_store.run(fit_id).request.spec, sharpness=3.0)
    add_experiment(fitted_store, made_up.judged(other, made_up.evaluation()), fit_id, folds=4)
    text = words(for_scientists(open_page("prediction", fitted_store, monkeypatch, run=fit_id)))
    assert "stands here for another model (R = 3, sharpness 3" in text


def test_another_rank_changes_the_sentence(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation())
    page = open_page("prediction", fitted_store, monkeypatch)
    widget(page, "selectbox", "evaluation.rank").select(5).run()
    assert "ahead of CP-ALS by 0.110" in words(page) and "CP-APR" not in words(page)


def test_several_classes_show_a_confusion_matrix(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation(("art", "sport", "war")))
    page = open_page("prediction", fitted_store, monkeypatch)
    assert "Which class is taken for which" in words(page)
    assert "70 of 100 patients are put into the right" in words(page)
    assert "In Accuracy, SWIFT" in words(for_scientists(page))


def test_a_missing_comparison_is_offered_with_its_price(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("prediction", fitted_store, monkeypatch)
    assert "not been tested yet" in words(page) and "of memory" in words(page)
    assert widget(page, "button", "offer.evaluation").label == "Compute it now"


def test_a_damaged_fit_does_not_take_the_comparison_with_it(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation())
    damage(fitted_store, fit_id)
    text = words(open_page("prediction", fitted_store, monkeypatch, run=fit_id))
    assert "changed after it was written" in text and "ahead of CP-ALS" in text


def test_a_damaged_comparison_is_offered_again(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(fitted_store, add_experiment(fitted_store, made_up.evaluation()))
    assert "damaged" in words(open_page("prediction", fitted_store, monkeypatch))


def test_hostile_text_in_an_imported_experiment_stays_text(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "![x](http://x.test/y.png)"
    made = made_up.evaluation()
    add_experiment(fitted_store, replace(made, about={**made.about, "notes": [evil]}))
    page = open_page("prediction", fitted_store, monkeypatch)
    shown = [str(one.value) for kind in ("markdown", "caption") for one in page.get(kind)]
    assert any("x.test" in text.replace("\u2060", "").replace("\\", "") for text in shown)
    assert not any("](http" in text or "![" in text for text in shown)
    tables = {
        name: table.replace({"method": {"cp_als": evil}}) for name, table in made.tables.items()
    }
    add_experiment(fitted_store, replace(made, tables=tables), seed=1)
    assert "in method" in words(open_page("prediction", fitted_store, monkeypatch))


def test_an_experiment_with_other_tables_is_refused_in_words(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up.evaluation()
    broken = {
        **made.tables,
        "summary": made.tables["summary"].drop(columns="mean"),
        "scores": made.tables["scores"].assign(score="high"),
    }
    add_experiment(fitted_store, replace(made, tables=broken))
    text = words(open_page("prediction", fitted_store, monkeypatch))
    assert "no column mean" in text and "text in score" in text

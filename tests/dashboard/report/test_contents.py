"""What a report may hold: names, reviews, links; small counts and rare features stay hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.finished_run import HOSTILE, RANK, finished, hostile_report, reviews_of, run_card

from dashboard.jobs.samples import seed_samples
from dashboard.report.contents import gather_report
from dashboard.report.from_store import report_of_run
from dashboard.store.reviews import Reviews
from dashboard.store.rounds import Judged
from dashboard.store.store import Store
from swiftcore.errors import InvalidSettings


def test_sheets_say_what_was_found() -> None:
    report = hostile_report()
    assert len(report.phenotypes) == RANK
    first = next(each for each in report.phenotypes if each.identifier == "P01")
    assert first.name == HOSTILE[1] and first.working_name != first.name
    assert [review.reviewer for review in first.reviews] == ["Dr. <i>A</i>", "Dr. B"]
    assert first.link == "strong, towards outcome <b>" and first.weight == pytest.approx(0.8)
    assert first.found_again == pytest.approx(1.0) and first.carriers == "25"
    assert [mode.mode for mode in first.modes] == ["diagnosis", "medication"]
    weights = [feature.weight for feature in first.modes[0].features]
    assert weights == sorted(weights, reverse=True) and sum(weights) <= 1 + 1e-9


def test_a_review_of_another_content_is_left_out() -> None:
    second = next(each for each in hostile_report().phenotypes if each.identifier == "P02")
    assert second.reviews == () and second.name == second.working_name


def test_rare_features_and_small_counts_are_hidden() -> None:
    report = hostile_report()
    shown = [
        feature for each in report.phenotypes for mode in each.modes for feature in mode.features
    ]
    assert "RARE-CODE" not in {feature.name for feature in shown}
    assert "are hidden (fewer than 11" in report.phenotypes[0].modes[0].note
    for feature in shown:
        if feature.rows.isdigit():
            assert int(feature.rows) == 0 or 11 <= int(feature.rows) <= 14 or feature.rows == "25"
        else:
            bound = feature.rows[1:] if feature.rows[0] == ">" else ""
            assert feature.rows in ("hidden", "<11") or int(bound) <= 14


def test_small_counts_of_real_data_cannot_be_asked_for() -> None:
    fit, dataset, card = finished()
    with pytest.raises(InvalidSettings, match="hidden"):
        gather_report(run_card(), card, fit, dataset, limit=0)
    open_card = replace(card, synthetic=True)
    report = gather_report(run_card(), open_card, fit, dataset, limit=0)
    assert any("synthetic" in warning for warning in report.warnings)


def test_warnings_lead_and_an_unsettled_fit_is_named() -> None:
    fit, dataset, card = finished()
    loose = replace(fit, converged=False, outcome="Not converged: the iteration limit.")
    report = gather_report(run_card(), card, loose, dataset)
    assert report.warnings[:2] == (
        "Found by an algorithm; not a diagnosis.",
        "A link is not a cause.",
    )
    assert any("Not converged" in warning for warning in report.warnings)


def test_a_bare_fit_is_enough() -> None:
    fit, dataset, card = finished()
    bare = replace(fit, links=None)
    report = gather_report(run_card(), replace(card, outcome_name=""), bare, dataset)
    assert report.sections == ()
    assert all(each.link == "" and each.found_again is None for each in report.phenotypes)


def test_sections_follow_the_experiments() -> None:
    report = hostile_report(classes=("a", "b", "c"))
    assert [section.title for section in report.sections] == [
        "Link to the outcome",
        "Found again",
        "Prediction beside other methods",
        "With false entries",
        "What similarity adds",
    ]
    tables = {table.key: table for section in report.sections for table in section.tables}
    assert tables["scores"].rows[0][0] == "Random forest on indicators"
    assert tables["noise"].columns == ("Method", "clean", "10%", "30%")
    assert tables["comparison"].rows[0][1] == pytest.approx(-0.04)
    assert {row[-1] for row in tables["confusion"].rows} <= {"hidden", "<11", "30"}
    for table in tables.values():
        assert all(len(row) == len(table.columns) == len(table.kinds) for row in table.rows)


def test_reviews_are_bound_to_content_not_to_numbers() -> None:
    fit, dataset, card = finished()
    moved = replace(fit, factors=[factor[:, ::-1].copy() for factor in fit.factors])
    report = gather_report(run_card(), card, moved, dataset, judged=Judged(tuple(reviews_of(fit))))
    assert not any(each.reviews for each in report.phenotypes)
    assert np.isclose(sum(each.share for each in report.phenotypes), 1)


def test_a_report_on_documents_speaks_of_topics(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    seed_samples(store)
    card = next(one for one in store.datasets() if one.name == "news")
    run = store.runs(card.id, "fit")[0]
    report = report_of_run(store, Reviews(store.root), run.id, 11)
    texts = [report.title, *report.warnings, *(name for name, _ in report.facts)]
    for section in report.sections:
        texts += [section.title, section.sentence]
        texts += [text for table in section.tables for text in (table.title, *table.columns)]
    assert "Topic report" in texts and len(report.sections) > 3
    assert not [one for one in texts if "henotyp" in one or "diagnosis" in one]

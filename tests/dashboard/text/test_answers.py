"""The sentence at the top of a page says what the stored numbers say, and how surely."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from support import made_up

from dashboard.charts import prediction as charts
from dashboard.text import answers, result_sentences
from dashboard.text.numbers import APART, BASES, base_for, interval, out_of, percent
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.protocol.intervals import paired_interval

SHARES = st.floats(0, 1)


def evaluated(precisions: list[float], chance: float = 0.2) -> Experiment:
    """SWIFT with ten phenotypes and these shares of right alarms at half the cases, by fold."""
    made = made_up.evaluation()
    lines = [
        ("swift", 10, fold, recall, share)
        for fold, share in enumerate(precisions)
        for recall in (0.0, 0.48, 0.5, 1.0)
    ]
    curves = pd.DataFrame(lines, columns=["method", "rank", "fold", "recall", "precision"])
    about = {**made.about, "chance": chance, "settings": {"folds": len(precisions)}}
    return replace(made, about=about, tables={**made.tables, "curves": curves})


def said(found: Experiment, own: bool = True) -> str:
    return answers.prediction(found, 10, "patients", "class", own)


def test_a_clear_answer_has_its_interval_and_what_guessing_reaches() -> None:
    shares = [0.5, 0.52, 0.48, 0.51, 0.54]
    low, high = paired_interval(np.array(shares), 1 / 5)
    assert said(evaluated(shares)) == (
        "With these 10 phenotypes, 5 of 10 alarms are right when half of the cases are found "
        f"(95% interval: {round(10 * low)} to {round(10 * high)} of 10); guessing: 2 of 10. "
        "That is clearly better than guessing."
    )


def test_a_wide_interval_is_unclear_and_a_low_one_worse() -> None:
    assert said(evaluated([0.1, 0.6, 0.2, 0.7])).endswith("better than guessing is unclear.")
    assert said(evaluated([0.1, 0.11, 0.1, 0.11], 0.4)).endswith("clearly worse than guessing.")


def test_one_fold_gives_no_interval_and_says_that_it_is_unclear() -> None:
    text = said(evaluated([0.5]))
    assert "interval" not in text and "remains unclear" in text


def test_rare_outcomes_are_counted_in_hundreds() -> None:
    text = said(evaluated([0.08, 0.081, 0.079, 0.08], 0.031))
    assert "8 of 100 alarms are right" in text and "guessing: 3 of 100" in text


def test_numbers_of_something_else_are_not_called_these() -> None:
    assert said(evaluated([0.5, 0.6, 0.55]), own=False).startswith("With 10 phenotypes found like")


def test_classes_are_told_the_same_way_from_their_folds() -> None:
    found = made_up.evaluation(("art", "sport", "war"))
    text = answers.prediction(found, 10, "documents", "category", own=True)
    assert "70 of 100 documents are put into the right category" in text  # 0.69, 0.70, 0.71
    assert text.endswith("guessing: 30 of 100. That is clearly better than guessing.")
    assert answers.prediction(found, 99, "documents", "category", own=True) == ""


@given(SHARES, SHARES)
def test_shares_that_differ_are_said_apart_and_none_becomes_zero(one: float, other: float) -> None:
    base = base_for((one, other))
    whole = [round(base * share) for share in (one, other)]
    if base != BASES[-1]:
        assert all(number for number, share in zip(whole, (one, other), strict=True) if share > 0)
        assert abs(one - other) < APART or whole[0] != whole[1]
    if base > BASES[0]:  # no smaller one would have done
        smaller = [round(base / 10 * share) for share in (one, other)]
        assert smaller[0] == smaller[1] or 0 in smaller
    assert out_of(one, base).endswith(f" of {base:,}")


def test_ends_of_an_interval_stay_shares() -> None:
    assert interval(-0.1, 1.2, 10) == "0 to 10 of 10"
    assert [percent(share) for share in (0.0, 0.004, 0.416, 1.0)] == ["0%", "0.4%", "42%", "100%"]


@given(st.lists(st.tuples(SHARES, st.integers(1, 50), SHARES), min_size=1, max_size=10))
def test_the_gap_of_chances_is_the_mean_over_rows(groups: list[tuple[float, int, float]]) -> None:
    table = pd.DataFrame(
        [(given, round(true * count), count) for given, count, true in groups],
        columns=["expected", "cases", "count"],
    )
    rows = [
        abs(cases / count - given)
        for given, cases, count in table.itertuples(index=False)
        for _ in range(count)
    ]
    assert f"{100 * np.mean(rows):.0f} percentage points" in answers.calibration(table)


def test_chances_that_are_off_by_chance_fit_and_others_need_care() -> None:
    table = pd.DataFrame({"expected": [0.2, 0.5, 0.8], "cases": [3, 9, 17], "count": [20] * 3})
    assert answers.calibration(table).startswith("The chances can be taken as they are: they fit")
    far = table.assign(cases=[10, 18, 5])
    assert "need care: they fit what came true in 0 of 3 groups" in answers.calibration(far)


def test_groups_of_few_rows_are_not_drawn() -> None:
    table = pd.DataFrame(
        {"expected": [0.1, 0.4, 0.6, 0.9], "cases": [3, 40, 60, 90], "count": [100] * 4}
    )
    assert len(charts.shown_groups(table, 0)) == 4
    shown = charts.shown_groups(table, 11)
    assert 0.1 not in set(shown["expected"])
    assert len(shown) < 3  # one more is hidden: else the total would give the small one away
    assert charts.shown_groups(table * [1, 4, 4], 11, times=4).equals(
        (table * [1, 4, 4]).loc[shown.index]
    )


def test_a_loss_under_noise_is_clear_only_if_the_folds_agree() -> None:
    scores = made_up.noise().tables["scores"]
    text = result_sentences.noise(scores, "PR-AUC", "swift", made_up.ABOUT)
    assert "keeps 90% of its PR-AUC (0.700 to 0.630; a clear loss)" in text
    odd = scores.assign(
        score=scores["score"].where(
            (scores["level"] < 0.3) | (scores["fold"] > 0), scores["score"] + 0.3
        )
    )
    assert "these data cannot tell whether that is a loss" in result_sentences.noise(
        odd, "PR-AUC", "swift", made_up.ABOUT
    )
    plain = result_sentences.noise(odd, "PR-AUC", "swift", made_up.ABOUT, "clinician")
    assert plain.startswith("With 30% false entries SWIFT keeps") and "PR-AUC" not in plain


def test_what_similarity_adds_is_clear_only_if_the_folds_agree() -> None:
    scores = made_up.ablation().tables["scores"]
    at_ten = scores[scores["rank"] == 10]
    text = result_sentences.ablation(at_ten, "", made_up.ABOUT, "clinician")
    assert text.endswith("is clearly better than with no similarity or a random similarity.")
    spread = at_ten["score"] + 0.5 * (at_ten["fold"] - 1)
    odd = at_ten.assign(score=at_ten["score"].where(at_ten["recipe"] != "random", spread))
    said = result_sentences.ablation(odd, "", made_up.ABOUT, "clinician")
    assert "clearly better than with no similarity and not clearly different" in said


def test_every_class_is_named_with_what_speaks_for_it() -> None:
    table = made_up.links(("art", "war")).tables["links"]
    text = result_sentences.class_links(table, {"P01": "oil"})
    assert text == "The strongest clear links: P01 oil for art and P01 oil for war."
    mute = table.assign(low=table["low"].where(table["class"] == "art", -1.0))
    assert result_sentences.class_links(mute, {}).endswith("No phenotype speaks clearly for war.")
    assert "any class" in result_sentences.class_links(table.assign(low=-1.0), {})

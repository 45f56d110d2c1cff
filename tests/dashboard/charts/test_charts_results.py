"""What the charts of predictions, robustness and runs draw, and what the sentences say."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from support import made_up

from dashboard.charts import phenotypes, prediction, robustness, runs, style
from dashboard.text import result_sentences
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.spec import ModelSpec


def test_link_bars_point_to_the_side_of_their_sign_and_keep_their_error_bars() -> None:
    figure = prediction.link_bars(
        made_up.links().tables["links"], {"P01": "Heart <b>failure</b>"}, "weight"
    )
    bar = figure.data[0]
    assert list(bar.x) == [0.8, 0.0, -0.4]
    assert np.allclose(bar.error_x.array, 0.1) and np.allclose(bar.error_x.arrayminus, 0.1)
    assert bar.marker.color[0] != bar.marker.color[2]
    assert "▶" in bar.hovertext[0] and "◀" in bar.hovertext[2]
    assert "(-0.500 to -0.300)" in bar.hovertext[2] and "unclear" not in bar.hovertext[2]
    assert "unclear" in bar.hovertext[1]
    low, high = figure.layout.xaxis.range
    assert low == -high  # zero stays in the middle
    assert "&lt;b&gt;" in figure.layout.yaxis.ticktext[0]  # user text is no markup


def test_links_in_words_count_only_the_clear_ones_by_direction() -> None:
    table = made_up.links().tables["links"]
    told = "Clearly towards the outcome: 1 phenotype; clearly away from it: 1; no link: 1."
    assert result_sentences.links(table) == told
    open_ = table.assign(low=table["low"].where(table["phenotype"] != "P02", -0.9))
    open_ = open_.assign(high=table["high"].where(table["phenotype"] != "P02", 0.1))
    assert "1 phenotype; clearly away from it: 0; unclear: 1; no link: 1." in (
        result_sentences.links(open_)
    )
    alone = result_sentences.links(open_[open_["phenotype"] != "P01"])
    assert alone == "No phenotype has a clear link to the outcome; unclear: 1; no link: 1."
    assert "No phenotype has a link" in result_sentences.links(table.assign(weight=0.0))


def test_on_a_dark_page_every_line_and_name_is_seen() -> None:
    def light(colour: str) -> float:
        parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05

    found = made_up.noise()
    figure = robustness.noise_lines(found.tables["scores"], "score", "noise", found.ours)
    style.darken(figure)
    used = {trace.line.color for trace in figure.data} | {
        style.ON_DARK.get(colour, colour) for colour in (*style.SERIES, *style.METHOD_COLOURS)
    }
    assert len(used) > 5
    assert min(light(colour) / light(style.DARK) for colour in used) > 3  # graphics, WCAG 1.4.11
    names = [one.font.color for one in figure.layout.annotations]
    assert names and set(names) == {style.PALE_INK}


def test_names_on_the_map_never_overlap_and_the_largest_has_one() -> None:
    random = np.random.default_rng(3)
    table = pd.DataFrame(random.random((12, 2)), columns=["x", "y"])
    table = table.assign(id=[f"P{n:02}" for n in range(12)], share=random.random(12))
    table = table.assign(name="A name & more that is much too long to show")
    figure = phenotypes.phenotype_map(table, "P01")
    texts, scale = list(figure.data[0].text), phenotypes.map_scale(table)
    assert "<br>A name &amp; more" in texts[int(table["share"].idxmax())]
    boxes = [
        (x * scale, y * scale, *phenotypes.text_box("<br>" in text))
        for text, x, y in zip(texts, table["x"], table["y"], strict=True)
        if text
    ]
    named = [box for box, text in zip(boxes, filter(None, texts), strict=True) if "<br>" in text]
    assert 1 < len(named) < 12 and len(boxes) > 8
    for one, other in itertools.product(named, boxes):
        apart = [abs(one[at] - other[at]) >= (one[at + 2] + other[at + 2]) / 2 for at in (0, 1)]
        assert one is other or any(apart)


def test_of_two_phenotypes_at_one_place_the_larger_is_named() -> None:
    table = pd.DataFrame({"x": [0.0, 0.01, 1.0], "y": [0.0, 0.0, 1.0], "share": [0.2, 0.5, 0.3]})
    table = table.assign(id=["P01", "P02", "P03"], name="short")
    texts = phenotypes.phenotype_map(table, "P01").data[0].text
    assert list(texts) == ["", "P02<br>short", "P03<br>short"]


def test_the_comparison_is_told_as_the_numbers_have_it() -> None:
    table = made_up.evaluation().tables["comparison"]
    table = table[table["rank"].isin([0, 10])]
    text = result_sentences.comparison(table, "PR-AUC")
    assert "ahead of CP-ALS by 0.100" in text
    assert "behind Random forest on indicators by 0.040" in text
    assert "not clearly different from CP-APR" in text
    turned = result_sentences.comparison(table.assign(difference=-table["difference"]), "PR-AUC")
    assert "behind CP-ALS by 0.100" in turned and "ahead of Random forest" in turned


def test_difference_dots_are_filled_only_when_clear() -> None:
    figure = prediction.difference_dots(made_up.evaluation().tables["comparison"], "PR-AUC")
    dots = figure.data[0]
    assert list(dots.x) == [0.11, 0.10, 0.005, -0.04]
    assert list(dots.marker.symbol) == ["circle", "circle", "circle-open", "circle"]
    assert np.allclose(dots.error_x.array, [0.03, 0.03, 0.025, 0.02])


def test_the_curve_has_a_thin_line_per_fold_a_thick_mean_and_the_guessing_line() -> None:
    curves = made_up.evaluation().tables["curves"]
    one = curves[(curves["method"] == "swift") & (curves["rank"] == 10)]
    figure = prediction.precision_recall(one, 0.3)
    widths = [line.line.width for line in figure.data]
    assert widths == [1, 1, 1, 4, 2]
    assert list(figure.data[-1].y) == [0.3, 0.3]
    assert sum(bool(line.showlegend) for line in figure.data[:3]) == 1


def test_confusion_rows_add_up_to_one() -> None:
    classes = ("art", "sport", "war")
    table = made_up.evaluation(classes).tables["confusion"]
    table = table[(table["method"] == "swift") & (table["rank"] == 10)]
    z = np.array(prediction.confusion(table, classes).data[0].z)
    assert np.allclose(z.sum(axis=1), 1) and np.allclose(np.diag(z), 0.8)


def test_a_confusion_share_that_gives_a_small_count_away_is_blank() -> None:
    classes = ("art", "sport", "war")
    counts = np.array([[40, 3, 30], [30, 40, 30], [40, 30, 30]])
    table = pd.DataFrame(
        [
            {"truth": truth, "predicted": guess, "count": counts[i, j]}
            for i, truth in enumerate(classes)
            for j, guess in enumerate(classes)
        ]
    )
    heat = prediction.confusion(table, classes, limit=11).data[0]
    blank = np.isnan(np.array(heat.z, dtype=float))
    assert blank[0, 1], "the small one itself"
    assert blank[0].sum() >= 2, "and another, or it would follow from the rest"
    assert [[text == "" for text in row] for row in heat.text] == blank.tolist()
    assert not blank.all() and "hidden" in heat.hovertext[0][1]
    assert not np.isnan(np.array(prediction.confusion(table, classes).data[0].z)).any()


def test_noise_lines_tell_methods_apart_by_dash_and_marker_and_name_them_at_the_end() -> None:
    scores = made_up.noise().tables["scores"]
    figure = robustness.noise_lines(scores, "PR-AUC", "noise")
    swift, other = figure.data
    assert swift.name == "SWIFT" and list(swift.x) == [0.0, 0.1, 0.3]
    assert np.allclose(swift.y, [0.70, 0.68, 0.63])
    assert swift.line.dash != other.line.dash and swift.marker.symbol != other.marker.symbol
    assert min(swift.error_y.array) > 0
    assert {note.text for note in figure.layout.annotations} == {"SWIFT", "CP-ALS"}


def test_a_method_looks_the_same_in_every_figure_and_like_no_other() -> None:
    same = made_up.noise().tables["scores"].query("method == 'swift'")
    looks = []
    for names in (tuple(CATALOGUE), ("swift", "cp_apr", "lasso_indicators")):
        many = pd.concat([same.assign(method=name) for name in names])
        figure = robustness.noise_lines(many, "PR-AUC", "noise")
        looks.append(
            {
                line.name: (line.line.color, line.line.dash, line.marker.symbol)
                for line in figure.data
            }
        )
    everywhere, few = looks
    assert len(set(everywhere.values())) == len(CATALOGUE)
    assert few == {name: everywhere[name] for name in few} and len(few) == 3
    factorizations = [k for k, one in CATALOGUE.items() if one.is_factorization]
    assert len({everywhere[CATALOGUE[k].title][0] for k in factorizations}) == len(factorizations)


def test_names_at_line_ends_never_lie_on_each_other() -> None:
    scores = made_up.noise().tables["scores"]
    same = scores[scores["method"] == "swift"]
    many = pd.concat([same.assign(method=name) for name in ("swift", "cp_als", "cp_apr")])
    figure = robustness.noise_lines(many, "PR-AUC", "noise")
    heights = sorted(note.ay for note in figure.layout.annotations)  # where the names are
    assert min(np.diff(heights)) > 0.001
    assert {note.y for note in figure.layout.annotations} == {0.63}  # where their lines end


def test_rank_lines_draw_every_factorization_and_leave_classifiers_out() -> None:
    summary = pd.DataFrame(
        {
            "method": ["swift", "swift", "cp_als", "cp_als", "lasso_indicators"],
            "rank": [5, 10, 5, 10, 0],
            "mean": [0.7, 0.8, 0.5, 0.6, 0.9],
            "sd": [0.02] * 5,
        }
    )
    figure = robustness.rank_lines(summary, "accuracy", "R")
    assert {trace.name: list(trace.y) for trace in figure.data} == {
        "SWIFT": [0.7, 0.8],
        "CP-ALS": [0.5, 0.6],
    }
    assert list(figure.layout.xaxis.tickvals) == [5, 10]


def test_chosen_settings_are_written_out() -> None:
    setting = (
        '{"equal_rows": true, "rarity_weighting": false, "sharpness": 2.0, "scaling": "amounts"}'
    )
    scores = pd.DataFrame(
        {
            "method": ["swift"] * 2,
            "rank": 5,
            "validation": [0.5, 0.7],
            "score": [0.4, 0.6],
            "setting": setting,
        }
    )
    (line,) = result_sentences.settings_chosen(scores).to_dict("records")
    assert line["setting"] == "equal rows, no rarity weighting, sharpness 2, scaling amounts"
    assert line["folds"] == 2 and line["validation"] == pytest.approx(0.6)


def test_noise_and_survival_in_words() -> None:
    tables = made_up.noise().tables
    text = result_sentences.noise(tables["scores"], "PR-AUC")
    assert "30% false entries SWIFT keeps 90%" in text
    assert "above the best of the others, CP-ALS (0.420)" in text
    assert result_sentences.survival(tables["survival"]).startswith(
        "1 of 2 phenotypes are still found"
    )
    assert "treat P02 with care" in result_sentences.survival(tables["survival"])
    lost = pd.DataFrame(
        {"phenotype": [f"P{i:02d}" for i in range(8)], "level": 0.3, "draw": 0, "cosine": 0.1}
    )
    assert "P04 and 3 more with care" in result_sentences.survival(lost)


def test_survival_heatmap_has_phenotypes_in_rows_and_levels_in_columns() -> None:
    heat = robustness.survival_heatmap(made_up.noise().tables["survival"], {}, "noise").data[0]
    assert np.allclose(heat.z, [[1.0, 0.97, 0.93], [1.0, 0.9, 0.41]])
    assert list(heat.x) == ["0%", "10%", "30%"]


def test_stability_lists_the_steadiest_first_and_names_the_least_steady() -> None:
    summary = made_up.stability().tables["summary"]
    figure = robustness.stability_dots(summary, {})
    assert list(figure.layout.yaxis.ticktext) == ["P01", "P02"]
    assert list(figure.data[0].x) == [1.0, 0.5] and list(figure.data[1].x) == [1.0, 0.75]
    assert "least steady is P02, found again in 50% of the seeds" in result_sentences.stability(
        summary
    )


def test_ranks_prefer_the_smaller_when_it_is_as_good() -> None:
    table = pd.DataFrame({"rank": [10, 20, 40], "mean": [0.70, 0.71, 0.6], "sd": [0.02] * 3})
    assert "best with 20" in result_sentences.ranks(table, "PR-AUC")
    assert "10 are within one standard deviation" in result_sentences.ranks(table, "PR-AUC")
    assert list(robustness.rank_line(table, "PR-AUC", "R").data[0].y) == [0.70, 0.71, 0.6]
    worse = table.assign(mean=[0.5, 0.71, 0.6])
    assert "fewer are more than one standard deviation worse" in result_sentences.ranks(
        worse, "PR-AUC"
    )


def test_ablation_counts_the_folds_that_agree() -> None:
    scores = made_up.ablation().tables["scores"]
    text = result_sentences.ablation(scores[scores["rank"] == 10], "PR-AUC")
    assert "0.020 better than with no similarity (1 - I) (3 of 3 folds agree)" in text
    figure = robustness.recipe_dots(scores[scores["rank"] == 10], "PR-AUC")
    assert [len(line.x) for line in figure.data] == [3, 1, 3, 1, 3, 1]
    assert figure.data[1].x[0] == pytest.approx(0.70)


def test_scores_are_told_beside_guessing() -> None:
    found = made_up.judged(ModelSpec(rank=10), made_up.evaluation())
    said = result_sentences.own_score(found, 10)
    assert said.startswith("PR-AUC 0.700 (95% interval 0.650 to 0.750) on rows that took no part")
    assert "better than guessing" in said and "not clearly" not in said
    lucky = replace(found, about={**found.about, "chance": 0.66})
    assert "not clearly better than guessing (0.660)" in result_sentences.own_score(lucky, 10)
    assert result_sentences.own_score(found, 99) == ""
    assert result_sentences.whose_score(found, ModelSpec(rank=10)) == ""
    assert "another model (R = 10)" in result_sentences.whose_score(found, ModelSpec(rank=12))
    bare = made_up.evaluation()
    assert "chosen on validation rows" in result_sentences.whose_score(bare, ModelSpec())


def test_objectives_of_two_runs_have_their_own_line() -> None:
    figure = runs.objective_lines({"R 5": made_up.history(), "R 10": made_up.history(9)}, "error")
    assert [len(line.x) for line in figure.data] == [21, 10]
    assert figure.data[0].line.dash != figure.data[1].line.dash


def test_verdicts_claim_no_more_than_was_tried() -> None:
    ranks = pd.DataFrame({"rank": [5, 10], "mean": [0.7, 0.5], "sd": [0.01, 0.01]})
    assert result_sentences.ranks(ranks, "PR-AUC").endswith("(0.700), the smallest number tried.")
    scores = made_up.ablation().tables["scores"].query("rank == 10")
    level = scores.assign(score=0.5)
    assert "the same as with" in result_sentences.ablation(level, "PR-AUC")
    assert "0.000" not in result_sentences.ablation(level, "PR-AUC")
    noise = made_up.noise().tables["scores"]
    tied = noise.assign(score=np.where(noise["level"] > 0, 0.4, noise["score"]))
    assert "as good as the best of the others" in result_sentences.noise(tied, "PR-AUC")

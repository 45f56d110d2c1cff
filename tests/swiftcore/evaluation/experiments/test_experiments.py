"""Every experiment on small data whose answer is known, from settings to tables."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from support.evaluation_data import planted_patients

from swiftcore.cost import build_costs
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, SwiftError
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import link_outcome, run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE, GRIDS, MAX_CELLS_QUICK, usual_methods
from swiftcore.evaluation.protocol.folds import make_folds, read_labels
from swiftcore.evaluation.protocol.noise import Noise
from swiftcore.evaluation.protocol.preparation import prepare
from swiftcore.spec import ModelSpec
from swiftcore.tensor import Mode, SparseTensor

FEW = ("swift", "cp_apr", "lasso_indicators")
SMALL = ExperimentSettings(methods=FEW, ranks=(3,), folds=3)
QUICK = replace(SMALL, quick=True)  # where the length of the grids makes no difference


@pytest.fixture(scope="module")
def evaluation(patients: Dataset) -> Experiment:
    return run_experiment("evaluation", patients, SMALL)


def test_every_method_has_a_title_a_kind_and_a_grid() -> None:
    for key, method in CATALOGUE.items():
        assert method.key == key and method.title and method.kind in ("factorization", "classifier")
        assert method.is_factorization == bool(method.model)
        assert len(method.settings(quick=True)) <= len(method.settings(quick=False))
    paper = {(s.get("marginal_weight"), s.get("sharpness")) for s in CATALOGUE["swift"].grid}
    assert {(w, r) for w in (0.1, 1, 10) for r in (10, 20, 50, 100, 1000)} <= paper


def test_a_new_grid_gets_a_new_number() -> None:
    """Else a stored experiment would pass for one with the new grid."""
    grids = {key: [method.grid, method.quick_grid] for key, method in CATALOGUE.items()}
    digest = hashlib.sha256(json.dumps(grids, sort_keys=True).encode()).hexdigest()[:16]
    # To change a grid, raise GRIDS, then write its digest here.
    assert {GRIDS: digest} == {5: "4813d076fe8d0ead"}  # pragma: allowlist secret (a checksum)


def test_an_evaluation_has_its_tables(evaluation: Experiment) -> None:
    scores = evaluation.tables["scores"]
    assert len(scores) == len(FEW) * 3
    assert evaluation.about["metric"] == "pr_auc"
    assert set(scores.loc[scores["kind"] == "classifier", "rank"]) == {0}
    means = scores.groupby("method")["score"].mean()
    summary = evaluation.tables["summary"].set_index("method")
    assert summary["mean"].to_dict() == pytest.approx(means.to_dict())
    assert means["swift"] > evaluation.about["chance"] + 0.3
    comparison = evaluation.tables["comparison"].set_index("method")
    assert comparison.loc["cp_apr", "difference"] == pytest.approx(means["swift"] - means["cp_apr"])
    assert set(comparison["rank"]) == {3}
    curves = evaluation.tables["curves"]
    assert set(curves["fold"]) == {-1, 0, 1, 2}
    assert curves["precision"].between(0, 1).all()


def test_several_classes_are_scored_by_accuracy(corpus: Dataset) -> None:
    found = run_experiment("evaluation", corpus, replace(QUICK, features=12, methods=FEW[:1]))
    assert found.about["metric"] == "accuracy"
    counts = found.tables["confusion"]
    right = counts[counts["truth"] == counts["predicted"]]["count"].sum()
    accuracy = found.tables["summary"]["mean"][0]
    assert counts["count"].sum() == 60 and right / 60 == pytest.approx(accuracy)
    assert accuracy > 0.8


@pytest.mark.slow
def test_the_same_settings_give_the_same_scores_in_any_number_of_processes(
    patients: Dataset, evaluation: Experiment
) -> None:
    again = run_experiment("evaluation", patients, replace(SMALL, jobs=2))
    columns = ["method", "rank", "fold", "score", "validation", "setting"]
    order = columns[:3]
    first, second = (
        found.tables["scores"][columns].sort_values(order, ignore_index=True)
        for found in (evaluation, again)
    )
    pd.testing.assert_frame_equal(first, second)


def test_an_experiment_survives_the_file(evaluation: Experiment, tmp_path: Path) -> None:
    evaluation.write(tmp_path)
    read = Experiment.from_json((tmp_path / "evaluation.json").read_bytes())
    assert read.about == dict(evaluation.about) and read.kind == "evaluation"
    for name, table in evaluation.tables.items():
        pd.testing.assert_frame_equal(read.tables[name], table, check_dtype=False)
        assert len(pd.read_csv(tmp_path / f"evaluation_{name}.csv")) == len(table)
    named = pd.DataFrame({"truth": ["=cmd()", "-3 days"], "count": [1, -2]})
    Experiment("evaluation", {}, {"confusion": named}).write(tmp_path)
    lines = (tmp_path / "evaluation_confusion.csv").read_text().splitlines()
    assert lines[1:] == ["'=cmd(),1", "'-3 days,-2"]
    for damaged in (b"", b"{}", b'{"schema": 2}', b"[1]"):
        with pytest.raises(SwiftError):
            Experiment.from_json(damaged)


@pytest.mark.slow
def test_noise_lowers_the_score_and_the_congruence() -> None:
    data = planted_patients(150)
    settings = replace(QUICK, methods=("swift",), levels=(0.1, 0.9), draws=2)
    found = run_experiment("noise", data, settings)
    means = found.tables["scores"].groupby("level")["score"].mean()
    assert list(means.index) == [0.0, 0.1, 0.9]
    assert means[0.9] < means[0.0]
    survival = found.tables["survival"].groupby("level")["cosine"].mean()
    assert set(found.tables["survival"]["phenotype"]) == {"P01", "P02", "P03"}
    assert survival[0.1] > 0.9 and survival[0.9] < survival[0.1]


@pytest.mark.slow
def test_without_false_entries_documents_are_compared_by_their_entries(corpus: Dataset) -> None:
    settings = replace(
        QUICK, methods=("swift", "lasso_indicators"), features=12, levels=(0.0, 0.2), draws=1
    )
    found = run_experiment("noise", corpus, settings)
    assert list(found.tables["survival"]["level"].unique()) == [0.0, 0.2]
    assert any("compared by their entries" in note for note in found.about["notes"])
    labels = read_labels(corpus)
    fold = make_folds(corpus, labels)[0]
    asis, swept = (
        prepare(corpus, labels, fold, features=12, noise=noise) for noise in (None, Noise(0.0))
    )
    assert asis.tensors["known"].digest() == swept.tensors["known"].digest()
    train = swept.tensors["train"]
    np.testing.assert_array_equal(swept.costs[0], build_costs(train, reference=train)[0])
    assert not np.array_equal(asis.costs[0], swept.costs[0])
    fewer = replace(corpus, tensor=corpus.tensor.select(1, range(9)).select(2, range(9)))
    noted = run_experiment("evaluation", fewer, replace(settings, methods=("lasso_indicators",)))
    assert any("9 words were chosen from all documents" in note for note in noted.about["notes"])


def test_without_an_outcome_noise_still_says_which_phenotypes_survive(patients: Dataset) -> None:
    bare = replace(patients, outcome=None, outcome_name="")
    found = run_experiment("noise", bare, replace(QUICK, levels=(0.1,), draws=1))
    assert set(found.tables) == {"survival"}
    with pytest.raises(SwiftError, match="nothing to predict"):
        run_experiment("evaluation", bare, SMALL)


@pytest.mark.slow
def test_an_ablation_compares_recipes(patients: Dataset) -> None:
    settings = replace(QUICK, methods=("swift", "similarity_cp"))
    scores = run_experiment("ablation", patients, settings).tables["scores"]
    assert set(scores["recipe"]) == {"cosine", "one-minus-identity", "random"}
    assert set(scores["method"]) == {"swift", "similarity_cp"} and len(scores) == 18
    usual = run_experiment("ablation", patients, replace(QUICK, methods=(), recipes=("cosine",)))
    assert usual.about["settings"]["methods"] == ["swift"]
    with pytest.raises(InvalidSettings, match="uses no cost"):
        run_experiment("ablation", patients, SMALL)


def test_planted_phenotypes_come_back_and_made_up_ones_do_not() -> None:
    data, usual = planted_patients(150), replace(SMALL, methods=())
    found = run_experiment("stability", data, usual)
    summary = found.tables["summary"]
    assert list(summary["phenotype"]) == ["P01", "P02", "P03"]
    assert (summary["seeds"] == 1).all() and (summary["folds"] == 1).all()
    assert (summary["cosine"] > 0.95).all()
    more = replace(usual, methods=("swift", "cp_apr"), ranks=(3, 8), seeds=1)
    several = run_experiment("stability", data, more).tables
    folds = several["summary"].groupby(["method", "rank"])["folds"].min()
    assert folds["swift", 3] == folds["cp_apr", 3] == 1
    assert folds["swift", 8] < 1
    assert set(several["matches"].query("against == 'seed'")["run"]) == {0}
    with pytest.raises(InvalidSettings, match="needs labels"):
        run_experiment("stability", data, replace(usual, methods=("supervised_cp",)))


def test_stability_looks_at_the_chosen_features_only(corpus: Dataset) -> None:
    settings = replace(SMALL, methods=(), ranks=(2,), folds=3, features=5)
    seen: list[tuple[int, ...]] = []

    def note(data: Dataset, spec: ModelSpec, **more: object) -> SimpleNamespace:
        seen.append(data.tensor.shape)
        return SimpleNamespace(factors=[np.ones((size, 2)) for size in data.tensor.shape])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("swiftcore.evaluation.experiments.stability.fit_dataset", note)
        run_experiment("stability", corpus, settings)
    assert {shape[1:] for shape in seen} == {(5, 5)}


def test_links_point_where_the_outcome_is() -> None:
    data = planted_patients(150)
    rng = np.random.default_rng(0)
    group = np.arange(150) % 3
    memberships = 10 * np.eye(3)[group] + rng.random((150, 3))
    found = link_outcome(memberships, data)
    assert found is not None
    links = found.tables["links"].set_index("phenotype")
    assert links.loc["P03", "weight"] > 0 and links.loc["P03", "same_sign"] == 1
    assert links["weight"].idxmax() == "P03"
    assert (links["low"] <= links["high"]).all()
    assert found.about["score"] > found.about["chance"] + 0.3
    assert link_outcome(memberships, replace(data, outcome=None)) is None
    rare = replace(data, outcome=np.arange(150) < 4)
    few = link_outcome(memberships, rare)
    assert (
        few is not None and len(few.tables["links"]) == 0 and "Only 4 rows" in few.about["notes"][0]
    )


def test_links_of_several_classes_name_them(corpus: Dataset) -> None:
    group = np.arange(60) % 3
    found = link_outcome(np.eye(3)[group] + 0.1, corpus)
    assert found is not None
    links = found.tables["links"]
    strongest = links.loc[links.groupby("class")["weight"].idxmax()]
    assert dict(zip(strongest["class"], strongest["phenotype"], strict=True)) == {
        "sport": "P01",
        "money": "P02",
        "film": "P03",
    }


def test_settings_out_of_range_are_all_named() -> None:
    with pytest.raises(InvalidSettings) as caught:
        ExperimentSettings(
            methods=("magic",),
            ranks=(0,),
            draws=0,
            folds=1,
            seed=-1,
            jobs=0,
            features=-3,
            levels=(0.1, -0.2, float("nan")),
            recipes=("guess",),
        )
    assert {one.code for one in caught.value.problems} == {
        "method-unknown",
        "recipe-unknown",
        "ranks",
        "draws",
        "folds",
        "seed",
        "jobs",
        "features",
        "noise-level",
    }
    with pytest.raises(InvalidSettings, match="no such experiment"):
        run_experiment("horoscope", planted_patients())


def test_usual_methods_leave_out_what_would_take_hours(patients: Dataset) -> None:
    assert "cp_binary" in usual_methods(patients)
    assert "direct_wasserstein" not in CATALOGUE  # it is there for its slowness: a benchmark
    modes = [Mode.numbered("row", 600), *(Mode.numbered(name, 1000) for name in ("a", "b"))]
    tensor = SparseTensor.from_coordinates([[0, 0, 0]], [1.0], modes=modes)
    wide = Dataset("wide", tensor, None, "", "")
    assert "cp_binary" not in usual_methods(wide)
    assert "cp_binary" in usual_methods(wide, features=50)
    between = 1 + round(MAX_CELLS_QUICK / wide.tensor.shape[0]) ** 0.5
    assert "cp_binary" in usual_methods(wide, features=int(between))
    slow = {"cp_binary", "cp_continuous", "supervised_swift"}
    assert not slow & set(usual_methods(wide, features=int(between), quick=True))
    assert slow <= set(usual_methods(patients, quick=True))
    assert "supervised_swift" in usual_methods(wide)


def test_a_method_that_fails_is_recorded_and_all_others_go_on(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(*_: object) -> float:
        return float("nan")

    monkeypatch.setattr("swiftcore.baselines.cp_apr.kl_divergence", broken)
    settings = replace(SMALL, methods=("cp_apr", "swift", "lasso_indicators"))
    found = run_experiment("evaluation", patients, settings, checkpoints=tmp_path)
    scores = found.tables["scores"].set_index("method")["score"]
    assert scores["cp_apr"].isna().all() and scores[["swift", "lasso_indicators"]].notna().all()
    failed = found.tables["failures"]
    assert set(failed["method"]) == {"cp_apr"} and len(failed) == 3
    assert "not a finite number" in failed["reason"][0]
    assert any("CP-APR with 3 components failed 3 times" in note for note in found.about["notes"])
    summary = found.tables["summary"].set_index("method")
    assert np.isnan(summary.loc["cp_apr", "mean"]) and summary.loc["cp_apr", "n"] == 0
    read = Experiment.from_json(found.to_json())
    assert read.tables["scores"]["score"].isna().sum() == 3
    monkeypatch.undo()  # what failed is tried again, what was done is not
    again = run_experiment("evaluation", patients, settings, checkpoints=tmp_path)
    assert again.tables["scores"]["score"].notna().all() and "failures" not in again.tables


def test_when_every_method_fails_the_reason_is_given(
    patients: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swiftcore.baselines.cp_apr.kl_divergence", lambda *_: float("nan"))
    with pytest.raises(SwiftError, match="not a finite number"):
        run_experiment("evaluation", patients, replace(SMALL, methods=("cp_apr",)))

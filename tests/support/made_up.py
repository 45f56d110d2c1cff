"""Made-up experiments with exactly the columns that the real ones have."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec

ABOUT = {
    "metric": "pr_auc",
    "metric_title": "PR-AUC",
    "chance": 0.3,
    "classes": ["no", "yes"],
    "settings": {"ranks": [5, 10], "folds": 3},
    "versions": {"swift": "0.1.0"},
    "seconds": 12.0,
    "data": {"name": "made up", "digest": "0" * 64, "shape": [9, 4, 4]},
    "notes": ["Two patients without an outcome were left out."],
}
LEVELS = (0.0, 0.1, 0.3)


def evaluation(classes: tuple[str, ...] = ("no", "yes")) -> Experiment:
    """SWIFT at 0.70, CP-ALS clearly worse, a forest clearly better, CP-APR about the same."""
    means = {
        ("swift", 5): 0.66,
        ("swift", 10): 0.70,
        ("cp_als", 5): 0.55,
        ("cp_als", 10): 0.60,
        ("cp_apr", 10): 0.695,
        ("forest_indicators", 0): 0.74,
    }
    scores, curves, confusion = [], [], []
    for (method, rank), mean in means.items():
        kind = "classifier" if rank == 0 else "factorization"
        for fold in range(3):
            scores.append(
                (
                    method,
                    kind,
                    rank,
                    0,
                    fold,
                    mean + 0.01 * (fold - 1),
                    mean + 0.02,
                    mean + 0.1,
                    1.5,
                    json.dumps({"sharpness": 10.0}),
                )
            )
        for fold in (-1, 0, 1, 2):
            curves += [
                (method, rank, fold, recall, 1 - (1 - mean) * recall) for recall in (0.0, 0.5, 1.0)
            ]
        for truth in classes:
            confusion += [
                (method, rank, truth, guess, 8 if truth == guess else 1) for guess in classes
            ]
    columns = [
        "method",
        "kind",
        "rank",
        "repeat",
        "fold",
        "score",
        "validation",
        "second",
        "seconds",
        "setting",
    ]
    table = pd.DataFrame(scores, columns=columns)
    groups = table.groupby(["method", "kind", "rank"], as_index=False)
    summary = groups.agg(
        mean=("score", "mean"),
        sd=("score", "std"),
        second_mean=("second", "mean"),
        n=("score", "size"),
    )
    comparison = pd.DataFrame(
        [
            ("cp_als", 5, 0.11, 0.08, 0.14, True),
            ("cp_als", 10, 0.10, 0.07, 0.13, True),
            ("cp_apr", 10, 0.005, -0.02, 0.03, False),
            ("forest_indicators", 0, -0.04, -0.06, -0.02, True),
        ],
        columns=["method", "rank", "difference", "low", "high", "clear"],
    )
    tables = {"scores": table, "summary": summary, "comparison": comparison}
    about = ABOUT | {"classes": list(classes)}
    if len(classes) == 2:
        tables["curves"] = pd.DataFrame(
            curves, columns=["method", "rank", "fold", "recall", "precision"]
        )
    else:
        about |= {"metric": "accuracy", "metric_title": "Accuracy"}
        tables["confusion"] = pd.DataFrame(
            confusion, columns=["method", "rank", "truth", "predicted", "count"]
        )
    return Experiment("evaluation", about, tables)


def judged(spec: ModelSpec, found: Experiment) -> Experiment:
    """The same evaluation at one rank, as if SWIFT had been this spec; the interval is 0.1 wide."""
    tables = dict(found.tables)
    summary = tables["summary"]
    tables["summary"] = summary.assign(low=summary["mean"] - 0.05, high=summary["mean"] + 0.05)
    if spec.rank != 10:
        tables = {
            name: table[table["rank"].isin([0, 10])].replace({"rank": {10: spec.rank}})
            for name, table in tables.items()
        }
    return Experiment(found.kind, {**found.about, "settings": {"fit": spec.plain()}}, tables)


def noise() -> Experiment:
    """SWIFT falls from 0.70 to 0.63, CP-ALS from 0.60 to 0.42; P02 is lost at 30 %."""
    drop = {"swift": (0.70, 0.68, 0.63), "cp_als": (0.60, 0.52, 0.42)}
    scores = [
        (method, "factorization", 10, level, draw, fold, mean + 0.01 * (fold - 1))
        for method, means in drop.items()
        for level, mean in zip(LEVELS, means, strict=True)
        for draw in range(2)
        for fold in range(3)
    ]
    survival = [
        (phenotype, level, draw, cosine)
        for phenotype, cosines in (("P01", (1.0, 0.97, 0.93)), ("P02", (1.0, 0.9, 0.41)))
        for level, cosine in zip(LEVELS, cosines, strict=True)
        for draw in range(2)
    ]
    return Experiment(
        "noise",
        ABOUT,
        {
            "scores": pd.DataFrame(
                scores, columns=["method", "kind", "rank", "level", "draw", "fold", "score"]
            ),
            "survival": pd.DataFrame(
                survival, columns=["phenotype", "level", "draw", "cosine"]
            ).assign(rank=10),
        },
    )


def ablation() -> Experiment:
    """Cosine 0.02 above the others; rank 20 best, rank 10 within one deviation of it."""
    means = {
        ("cosine", 10): 0.70,
        ("cosine", 20): 0.71,
        ("cosine", 40): 0.60,
        ("one-minus-identity", 10): 0.68,
        ("random", 10): 0.65,
    }
    scores = [
        (recipe, rank, fold, mean + 0.02 * (fold - 1), mean + 0.01)
        for (recipe, rank), mean in means.items()
        for fold in range(3)
    ]
    return Experiment(
        "ablation",
        ABOUT,
        {
            "scores": pd.DataFrame(
                scores, columns=["recipe", "rank", "fold", "score", "validation"]
            ).assign(method="swift"),
        },
    )


def stability() -> Experiment:
    """P01 comes back always, P02 in half of the seeds."""
    matches = [
        (phenotype, against, run, cosine)
        for phenotype, cosine in (("P01", 0.97), ("P02", 0.7))
        for against in ("seed", "fold")
        for run in range(4)
    ]
    summary = [("P01", 1.0, 1.0, 0.97), ("P02", 0.5, 0.75, 0.7)]
    return Experiment(
        "stability",
        ABOUT | {"found_from": 0.8},
        {
            name: pd.DataFrame(lines, columns=["phenotype", *columns]).assign(
                method="swift", rank=10
            )
            for name, lines, columns in (
                ("matches", matches, ["against", "run", "cosine"]),
                ("summary", summary, ["seeds", "folds", "cosine"]),
            )
        },
    )


def tune() -> Experiment:
    """The usual settings with 3 phenotypes are chosen; rank 5 is best, rank 2 given up."""
    lines = [
        (0, 5, "{}", "as good", 3, 0.412, 0.05, 0.0, 0.0, 0.6, 3.0),
        (1, 3, "{}", "chosen", 3, 0.415, 0.05, 0.003, 0.004, 1.0, 2.0),
        (2, 2, '{"row_mass": "equal"}', "given up", 1, 0.6, 0.1, 0.2, 0.05, None, 1.0),
        (3, 5, '{"sharpness": 2.0}', "worse", 3, 0.5, 0.05, 0.088, 0.03, None, 3.0),
        (4, 5, '{"costs": "one-minus-identity"}', "not tried", 0, *[None] * 5, 0.0),
    ]
    columns = ["candidate", "rank", "setting", "state", "folds", "loss", "error"]
    candidates = pd.DataFrame(
        lines, columns=[*columns, "behind", "behind_error", "stability", "seconds"]
    )
    numbers = ["loss", "error", "behind", "behind_error", "stability"]
    candidates[numbers] = candidates[numbers].astype(float)
    tried = [
        (line[0], line[1], line[2], fold, line[5], 0.7, 1.0, "")
        for line in lines
        for fold in range(int(line[4]))
    ]
    columns = ["candidate", "rank", "setting", "fold", "loss", "score", "seconds", "reason"]
    spec = ModelSpec(rank=3)
    about = ABOUT | {
        "settings": {"ranks": [2, 3, 5], "minutes": 2.0, "guided": False, "seed": 0},
        "spec": spec.to_json(),
        "reason": "Its error on held-back rows, 0.415, is within one standard error.",
    }
    tables = {"tried": pd.DataFrame(tried, columns=columns), "candidates": candidates}
    return Experiment("tune", about, tables)


def links(classes: tuple[str, ...] = ("",)) -> Experiment:
    """P01 towards, P02 away, P03 neither."""
    rows = [
        (phenotype, name, weight, weight - 0.1, weight + 0.1, same, float(weight != 0))
        for name in classes
        for phenotype, weight, same in (("P01", 0.8, 1.0), ("P02", -0.4, 0.8), ("P03", 0.0, 1.0))
    ]
    return Experiment(
        "links",
        ABOUT | {"score": 0.71},
        {
            "links": pd.DataFrame(
                rows, columns=["phenotype", "class", "weight", "low", "high", "same_sign", "chosen"]
            ),
        },
    )


def history(iterations: int = 20) -> pd.DataFrame:
    """An objective that falls."""
    steps = np.arange(iterations + 1)
    return pd.DataFrame(
        {"iteration": steps, "objective": 100 + 50 * np.exp(-steps / 4), "seconds": 0.1 * steps}
    )

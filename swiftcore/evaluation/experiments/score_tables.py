"""Tables of what methods scored: per fold, in the mean, side by side, and where they failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix

from swiftcore.evaluation.experiments.checkpoints import FAILED
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.methods.catalogue import title_of
from swiftcore.evaluation.protocol.folds import Labels
from swiftcore.evaluation.protocol.intervals import independent_sets
from swiftcore.evaluation.protocol.scores import (
    FOLD,
    RECALLS,
    calibration,
    compare_with,
    pr_curve,
    summarise,
)

Tables = dict[str, pd.DataFrame]


@dataclass(frozen=True, eq=False)
class Scored:
    """What the validation rows chose for every method, rank, fold and variant.

    Attributes
    ----------
    labels : Labels
    chosen : DataFrame
        One line each; the column ``part`` holds all that the trial found.
    settings : ExperimentSettings
    """

    labels: Labels
    chosen: pd.DataFrame
    settings: ExperimentSettings

    @property
    def all_failed(self) -> bool:
        return bool(self.chosen["score"].isna().all())

    def table(self, *columns: str) -> pd.DataFrame:
        """The scores with the named columns."""
        return self.chosen[list(columns)].reset_index(drop=True)

    def beside(
        self, scores: pd.DataFrame, ours: str, column: str = "method", within: Sequence[str] = ()
    ) -> Tables:
        """The scores, their means, and ours minus every other, with intervals over all folds."""
        settings, rows = self.settings, int((self.labels.codes >= 0).sum())
        sets = independent_sets(settings.subsets, settings.subset_size, rows)
        share = 1 / settings.folds
        return {
            "scores": scores,
            "summary": summarise(scores, share, sets, within),
            "comparison": compare_with(scores, ours, share, sets, column=column, within=within),
        }


def evaluation_tables(scored: Scored) -> Tables:
    """Scores, summary, paired comparisons, curves or confusion: the tables of an evaluation."""
    facts = ("score", "validation", "second", "seconds", "setting")
    scores = scored.table("method", "kind", "rank", *FOLD, *facts)
    tables = scored.beside(scores, scored.settings.ours)
    done = scored.chosen.dropna(subset="score")
    if scored.labels.binary:
        tables["curves"] = _curves(done)
    else:
        tables["confusion"] = _confusions(done, scored.labels.classes)
    tables["calibration"] = _calibrations(done, scored.labels.binary)
    return tables


def noise_tables(scored: Scored) -> Tables:
    """Scores at every level with the settings chosen there, and the comparison per level."""
    facts = ("score", "validation", "setting")
    scores = scored.table("method", "kind", "rank", "level", "draw", *FOLD, *facts)
    return scored.beside(scores, scored.settings.ours, within=("level",))


def ablation_tables(scored: Scored, reference: str) -> Tables:
    """Scores with every kind of costs, and the reference minus every other."""
    facts = ("score", "validation", "setting")
    scores = scored.table("method", "recipe", "rank", *FOLD, *facts)
    return scored.beside(scores, reference, "recipe", within=("method",))


def failures(scored: Scored) -> pd.DataFrame:
    """The places in the table without a score, each with the reason."""
    chosen = scored.chosen
    failed = chosen[[FAILED in part for part in chosen["part"]]]
    places = failed[["method", "rank", "level", "what"]]
    reasons = [part[FAILED] for part in failed["part"]]
    return places.assign(reason=reasons).reset_index(drop=True)


def failure_notes(failed: pd.DataFrame) -> list[str]:
    """A sentence for each method and rank that failed somewhere."""
    return [
        f"{title_of(str(method))}{f' with {rank} components' if rank else ''} failed "
        f"{len(group)} {'time' if len(group) == 1 else 'times'} and has nothing to show there: "
        f"{group['reason'].iloc[0]}"
        for (method, rank), group in failed.groupby(["method", "rank"], sort=False)
    ]


def _curves(chosen: pd.DataFrame) -> pd.DataFrame:
    pieces = []
    for (method, rank), group in chosen.groupby(["method", "rank"], sort=False):
        lines = [
            pr_curve(np.array(part["truth"]), np.array(part["probabilities"])[:, 1])
            for part in group["part"]
        ]
        # repeats go on counting, so that every line keeps a number of its own
        numbers = [*range(len(lines)), -1]
        for number, line in zip(numbers, [*lines, np.mean(lines, axis=0)], strict=True):
            pieces.append(
                pd.DataFrame(
                    {
                        "method": method,
                        "rank": rank,
                        "fold": number,
                        "recall": RECALLS,
                        "precision": np.round(line, 5),
                    }
                )
            )
    return pd.concat(pieces, ignore_index=True)


def _calibrations(chosen: pd.DataFrame, binary: bool) -> pd.DataFrame:
    """Chances beside what came true: of yes, or of the class that was taken for the likeliest."""
    pieces = []
    for (method, rank), group in chosen.groupby(["method", "rank"], sort=False):
        chances = np.vstack([part["probabilities"] for part in group["part"]])
        truth = np.concatenate([part["truth"] for part in group["part"]])
        guess = np.ones_like(truth) if binary else chances.argmax(axis=1)
        found = calibration(chances[np.arange(len(truth)), guess], guess == truth)
        found["expected"] = found["expected"].round(5)
        found["method"], found["rank"] = str(method), [rank] * len(found)
        pieces.append(found)
    columns = ["method", "rank", "expected", "cases", "count"]
    return pd.concat(pieces, ignore_index=True)[columns]


def _confusions(chosen: pd.DataFrame, classes: Sequence[str]) -> pd.DataFrame:
    lines = []
    for (method, rank), group in chosen.groupby(["method", "rank"], sort=False):
        table = np.zeros((len(classes), len(classes)), dtype=np.int64)
        for part in group["part"]:
            predicted = np.array(part["probabilities"]).argmax(axis=1)
            table += confusion_matrix(part["truth"], predicted, labels=range(len(classes)))
        lines += [
            {
                "method": method,
                "rank": rank,
                "truth": truth,
                "predicted": predicted,
                "count": int(table[i, j]),
            }
            for i, truth in enumerate(classes)
            for j, predicted in enumerate(classes)
        ]
    return pd.DataFrame(lines)

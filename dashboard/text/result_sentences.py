"""What the numbers of an experiment say, in a sentence; never more than they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pandas as pd

from dashboard.text.wording import capital
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of as title
from swiftcore.phenotypes.matching import FOUND_FROM
from swiftcore.spec import ModelSpec

RECIPE_TITLES = {
    "cosine": "similar features are close (cosine)",
    "one-minus-identity": "no similarity (1 - I)",
    "random": "random similarity",
}
SAME = 5e-4  # a difference that would be written as 0.000


def listed(names: Iterable[str]) -> str:
    """Names as a list in a sentence: a, b and c."""
    all_names = list(names)
    if len(all_names) < 2:
        return "".join(all_names)
    return f"{', '.join(all_names[:-1])} and {all_names[-1]}"


def _first(names: Sequence[str], most: int = 5) -> str:
    """The first few names; how many more there are."""
    more = len(names) - most
    few = list(names[:most]) + ([f"{more} more"] if more > 0 else [])
    return listed(few)


def links(table: pd.DataFrame, steady: float = 1.0) -> str:
    """How many phenotypes are tied to the outcome, and how many of these ties every fold shows."""
    tied = table[table["weight"] != 0]
    if tied.empty:
        return "No phenotype carries weight: these phenotypes do not predict the outcome."
    towards, away = int((tied["weight"] > 0).sum()), int((tied["weight"] < 0).sum())
    firm = int((tied["same_sign"] >= steady).sum())
    return (
        f"Towards the outcome: {towards}; away from it: {away}; neither: "
        f"{len(table) - len(tied)}. Of these {len(tied)} links {firm} keep their direction in "
        "every fold."
    )


def link_ends(found: Experiment) -> tuple[str, str]:
    """What the two ends beside a link are called; results of before have the range of the folds."""
    if not found.about.get("interval"):
        return "Lowest fold", "Highest fold"
    return "From (95 %)", "To (95 %)"


def own_score(found: Experiment, rank: int) -> str:
    """The score of the spec that was judged, with its interval, beside what guessing reaches."""
    table = found.tables["summary"]
    row = table[(table["method"] == found.judged) & (table["rank"] == rank)]
    if row.empty or pd.isna(row["mean"].iloc[0]):
        return ""
    value, name = row.iloc[0], capital(str(found.about.get("metric_title") or "score"))
    text = f"{name} {value['mean']:.3f}"
    low = value.get("low", float("nan"))
    if pd.notna(low):
        low = max(0.0, float(low))
        text += f" (95 % interval {low:.3f} to {min(1.0, value['high']):.3f})"
    text += " on rows that took no part in the fit"
    chance = found.about.get("chance")
    if isinstance(chance, float):
        better = "better than" if low > chance else "not clearly better than"
        text += f", {better} guessing ({chance:.3f})"
    return f"{text}."


def whose_score(found: Experiment, shown: ModelSpec | None) -> str:
    """How the model that was compared differs from the one that is shown; empty if it is it."""
    ours = title(found.ours)
    if shown is not None and found.spec == shown:
        return ""
    if found.spec is None:
        return (
            f"{ours} stands here for settings that were chosen on validation rows in each fold, "
            "not for the result that is shown."
        )
    return f"{ours} stands here for another model ({found.spec.title()}) than the one shown."


def comparison(table: pd.DataFrame, metric: str, ours: str = "SWIFT") -> str:
    """Whom ours beats, to whom it loses and by how much, and where the folds cannot tell."""
    if table.empty:
        return f"There is nothing to compare {ours} with yet."
    clear = table["clear"].astype(bool)
    ahead = table[clear & (table["difference"] > 0)].sort_values("difference", ascending=False)
    behind = table[clear & (table["difference"] < 0)].sort_values("difference")
    open_ = table[~clear]
    parts = []
    if len(ahead):
        parts.append(f"ahead of {_by(ahead)}")
    if len(behind):
        parts.append(f"behind {_by(behind)}")
    if len(open_):
        names = listed(title(method) for method in open_["method"])
        parts.append(f"not clearly different from {names}")
    return f"In {metric}, {ours} is {'; '.join(parts)}."


def _by(table: pd.DataFrame) -> str:
    return listed(f"{title(row.method)} by {abs(row.difference):.3f}" for row in table.itertuples())


def noise(scores: pd.DataFrame, metric: str, ours: str = "swift") -> str:
    """How much of its clean score our method keeps at the highest noise level."""
    means = scores.groupby(["method", "level"])["score"].mean().unstack("level")
    if 0.0 not in means or means.shape[1] < 2:
        return "There is no clean score to compare with."
    top = max(means.columns)
    kept = (means[top] / means[0.0]).dropna()
    if ours not in kept:
        return f"There is no clean score of {title(ours)} to compare with."
    first, last = float(means.loc[ours, 0.0]), float(means.loc[ours, top])
    text = (
        f"With {top:.0%} false entries {title(ours)} keeps {kept[ours]:.0%} of its {metric} "
        f"({first:.3f} to {last:.3f})"
    )
    others = means[top].drop(ours).dropna()
    if others.empty:
        return f"{text}."
    best = str(others.idxmax())
    gap = last - others[best]
    where = "as good as" if abs(gap) < SAME else "above" if gap > 0 else "below"
    return f"{text}; that is {where} the best of the others, {title(best)} ({others[best]:.3f})."


def survival(table: pd.DataFrame, found_from: float = FOUND_FROM) -> str:
    """How many phenotypes of the clean data are still found at the highest noise level."""
    means = table.groupby(["phenotype", "level"])["cosine"].mean().unstack("level")
    if means.empty:
        return "There is no phenotype to look for."
    top = max(means.columns)
    lost = means.index[means[top] < found_from]
    text = (
        f"{len(means) - len(lost)} of {len(means)} phenotypes are still found with {top:.0%} "
        f"false entries (similarity {found_from:g} or more)"
    )
    return f"{text}; treat {_first(lost)} with care." if len(lost) else f"{text}."


def stability(table: pd.DataFrame) -> str:
    """How many phenotypes come back in every other fit, and which do not."""
    if table.empty:
        return "There is no phenotype to look for."
    weak = table[(table["seeds"] < 1) | (table["folds"] < 1)]
    text = f"{len(table) - len(weak)} of {len(table)} phenotypes come back in every other fit"
    if weak.empty:
        return f"{text}."
    least = weak.assign(share=weak[["seeds", "folds"]].min(axis=1)).sort_values("share")
    worst = least.iloc[0]
    return (
        f"{text}; the least steady is {worst['phenotype']}, found again in "
        f"{worst['seeds']:.0%} of the seeds "
        f"and {worst['folds']:.0%} of the folds."
    )


def ranks(table: pd.DataFrame, metric: str) -> str:
    """The number of phenotypes with the best score, and the smallest that is as good.

    Parameters
    ----------
    table : DataFrame
        rank, mean, sd; one row per rank.
    """
    if len(table) < 2:
        return "Only one number of phenotypes was tried; try several to compare."
    best = table.loc[table["mean"].idxmax()]
    text = f"{capital(metric)} is best with {int(best['rank'])} phenotypes ({best['mean']:.3f})"
    enough = table[table["mean"] >= best["mean"] - best["sd"]]["rank"].min()
    if best["rank"] == table["rank"].min():
        return f"{text}, the smallest number tried."
    if enough == best["rank"]:
        return f"{text}; fewer are more than one standard deviation worse."
    return f"{text}; {int(enough)} are within one standard deviation of it and easier to read."


def ablation(scores: pd.DataFrame, metric: str) -> str:
    """Whether cosine costs beat the others, counted fold by fold."""
    folds = scores.pivot_table(index=["rank", "fold"], columns="recipe", values="score")
    if "cosine" not in folds or folds.shape[1] < 2:
        return "Only one way of measuring similarity was tried."
    parts = []
    for recipe in folds.columns.drop("cosine"):
        gain = (folds["cosine"] - folds[recipe]).dropna()
        than = f"with {RECIPE_TITLES.get(recipe, recipe)}"
        if abs(gain.mean()) < SAME:
            parts.append(f"the same as {than}")
            continue
        word = "better" if gain.mean() > 0 else "worse"
        agree = int((gain * gain.mean() > 0).sum())
        parts.append(
            f"{abs(gain.mean()):.3f} {word} than {than} ({agree} of {len(gain)} folds agree)"
        )
    return f"With cosine costs {metric} is {listed(parts)}."


def settings_chosen(scores: pd.DataFrame) -> pd.DataFrame:
    """Which settings the validation rows chose for each method, and in how many folds.

    Parameters
    ----------
    scores : DataFrame
        method, rank, validation, score, setting (JSON text), and level if there was noise; one
        row per fold.
    """
    by = [name for name in ("method", "rank", "level", "setting") if name in scores]
    groups = scores.assign(setting=scores["setting"].map(_in_words)).groupby(by, as_index=False)
    table = groups.agg(
        folds=("score", "size"), validation=("validation", "mean"), score=("score", "mean")
    )
    table.insert(0, "title", table["method"].map(title))
    return table.drop(columns="method").sort_values(
        ["title", *by[1:-1], "folds"],
        ascending=[*[True] * (len(by) - 1), False],
        ignore_index=True,
    )


def _in_words(setting: str) -> str:
    try:
        chosen = json.loads(setting)
    except ValueError:
        return setting
    if not isinstance(chosen, dict) or not chosen:
        return "nothing to choose"
    return ", ".join(_option(name.replace("_", " "), value) for name, value in chosen.items())


def _option(name: str, value: object) -> str:
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"

"""What the numbers of an experiment say, in a sentence; never more than they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.text.answers import UNCLEAR, loss_under_noise, over_folds
from dashboard.text.method_words import method_words, recipe_words
from dashboard.text.numbers import percent, score, similarity
from dashboard.text.wording import capital, count_of
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import title_of as title
from swiftcore.phenotypes.matching import FOUND_FROM
from swiftcore.spec import ModelSpec

SAME = 5e-4  # a difference that would be written as 0.000
SCIENTIST = "scientist"


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


def links(table: pd.DataFrame) -> str:
    """How many phenotypes have a clear link to the outcome, an unclear one, or none."""
    tied = table[table["weight"] != 0]
    if tied.empty:
        return "No phenotype has a link to the outcome: together they do not predict it."
    towards, away = int((tied["low"] > 0).sum()), int((tied["high"] < 0).sum())
    rest = {UNCLEAR: len(tied) - towards - away, "no link": len(table) - len(tied)}
    others = "".join(f"; {what}: {number}" for what, number in rest.items() if number)
    if not towards + away:
        return f"No phenotype has a clear link to the outcome{others}."
    clearly = f"Clearly towards the outcome: {count_of(towards, 'phenotype')}"
    return f"{clearly}; clearly away from it: {away}{others}."


def class_links(table: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Which phenotype speaks most clearly for each class; classes that have none are named.

    Parameters
    ----------
    table : DataFrame
        phenotype, class, weight, low of several classes; names of classes are user text.
    names : mapping
        Phenotype id to its name; user text.
    """
    sure = table[table["low"] > 0]
    best = sure.loc[sure.groupby("class")["weight"].idxmax()] if len(sure) else sure
    titles = [f"{one} {names.get(one, '')}".strip() for one in best["phenotype"]]
    speak = dict(zip(best["class"], titles, strict=True))
    classes = list(dict.fromkeys(table["class"]))
    if not speak:
        return "No phenotype speaks clearly for any class."
    said = listed(f"{speak[name]} for {name}" for name in classes if name in speak)
    text = f"The strongest clear links: {said}."
    silent = [str(name) for name in classes if name not in speak]
    return f"{text} No phenotype speaks clearly for {_first(silent)}." if silent else text


def link_ends(found: Experiment) -> tuple[str, str]:
    """What the two ends beside a link are called; results of before have the range of the folds."""
    if not found.about.get("interval"):
        return "Lowest", "Highest"
    return "From (95%)", "To (95%)"


def own_score(found: Experiment, rank: int) -> str:
    """The score of the spec that was judged, with its interval, beside what guessing reaches."""
    table = found.tables["summary"]
    row = table[(table["method"] == found.judged) & (table["rank"] == rank)]
    if row.empty or pd.isna(row["mean"].iloc[0]):
        return ""
    value, name = row.iloc[0], capital(str(found.about.get("metric_title") or "score"))
    text = f"{name} {score(value['mean'])}"
    low = value.get("low", float("nan"))
    if pd.notna(low):
        low = max(0.0, float(low))
        text += f" (95% interval {score(low)} to {score(min(1.0, value['high']))})"
    text += " on rows that took no part in the fit"
    chance = found.about.get("chance")
    if isinstance(chance, float):
        better = "better than" if low > chance else "not clearly better than"
        text += f", {better} guessing ({score(chance)})"
    return f"{text}."


def whose_score(found: Experiment, shown: ModelSpec | None, wording: str = SCIENTIST) -> str:
    """How the model that was compared differs from the one that is shown; empty if it is it."""
    ours = title(found.ours)
    if shown is not None and found.spec == shown:
        return ""
    if wording != SCIENTIST:
        return f"These numbers are of {ours} with other settings than the result that is shown."
    if found.spec is None:
        return (
            f"{ours} stands here for settings that were chosen on validation rows in each fold, "
            "not for the result that is shown."
        )
    return f"{ours} stands here for another model ({found.spec.title()}) than the one shown."


def comparison(
    table: pd.DataFrame, metric: str, ours: str = "SWIFT", wording: str = SCIENTIST
) -> str:
    """Whom ours beats, to whom it loses and by how much, and where the folds cannot tell."""
    if table.empty:
        return f"There is nothing to compare {ours} with yet."
    clear = table["clear"].astype(bool)
    ahead = table[clear & (table["difference"] > 0)].sort_values("difference", ascending=False)
    behind = table[clear & (table["difference"] < 0)].sort_values("difference")
    open_ = table[~clear]
    parts = []
    if len(ahead):
        parts.append(f"ahead of {_by(ahead, wording)}")
    if len(behind):
        parts.append(f"behind {_by(behind, wording)}")
    if len(open_):
        names = listed(method_words(method, wording) for method in open_["method"])
        parts.append(f"not clearly different from {names}")
    return f"In {metric}, {ours} is {'; '.join(parts)}."


def _by(table: pd.DataFrame, wording: str) -> str:
    return listed(
        f"{method_words(row.method, wording)} by {score(abs(row.difference))}"
        for row in table.itertuples()
    )


def noise(
    scores: pd.DataFrame,
    metric: str,
    ours: str = "swift",
    about: Mapping[str, Any] | None = None,
    wording: str = SCIENTIST,
) -> str:
    """How much of its clean score our method keeps at the highest noise level, and how surely."""
    means = scores.groupby(["method", "level"])["score"].mean().unstack("level")
    if 0.0 not in means or means.shape[1] < 2:
        return "There is no clean score to compare with."
    top = max(means.columns)
    kept = (means[top] / means[0.0]).dropna()
    if ours not in kept:
        return f"There is no clean score of {title(ours)} to compare with."
    first, last = float(means.loc[ours, 0.0]), float(means.loc[ours, top])
    text = f"With {percent(top)} false entries {title(ours)} keeps {percent(kept[ours])} of its "
    loss = _loss(scores, about or {}, ours)
    if wording != SCIENTIST:
        return f"{text}quality as a prediction{loss}."
    text = f"{text}{metric} ({score(first)} to {score(last)}{loss})"
    others = means[top].drop(ours).dropna()
    if others.empty:
        return f"{text}."
    best = str(others.idxmax())
    gap = last - others[best]
    where = "as good as" if abs(gap) < SAME else "above" if gap > 0 else "below"
    return (
        f"{text}; that is {where} the best of the others, {method_words(best, wording)} "
        f"({score(others[best])})."
    )


def _loss(scores: pd.DataFrame, about: Mapping[str, Any], ours: str) -> str:
    """Whether the score falls at all, as far as the folds can tell."""
    fall = loss_under_noise(scores, about, ours)
    if fall.low != fall.low:
        return ""
    verdict = {"better": "a clear loss", "worse": "a clear gain"}
    return f"; {verdict.get(fall.beside(0.0), 'these data cannot tell whether that is a loss')}"


def survival(table: pd.DataFrame, found_from: float = FOUND_FROM) -> str:
    """How many phenotypes of the clean data are still found at the highest noise level."""
    means = table.groupby(["phenotype", "level"])["cosine"].mean().unstack("level")
    if means.empty:
        return "There is no phenotype to look for."
    top = max(means.columns)
    lost = means.index[means[top] < found_from]
    text = (
        f"{len(means) - len(lost)} of {len(means)} phenotypes are still found with {percent(top)} "
        f"false entries (similarity {similarity(found_from)} or more)"
    )
    return f"{text}; treat {_first(lost)} with care." if len(lost) else f"{text}."


def stability(table: pd.DataFrame, wording: str = SCIENTIST) -> str:
    """How many phenotypes come back in every other fit, and which do not."""
    if table.empty:
        return "There is no phenotype to look for."
    weak = table[(table["seeds"] < 1) | (table["folds"] < 1)]
    technical = wording == SCIENTIST
    where = "every other fit" if technical else "every repeated computation"
    text = f"{len(table) - len(weak)} of {len(table)} phenotypes come back in {where}"
    if weak.empty:
        return f"{text}."
    least = weak.assign(share=weak[["seeds", "folds"]].min(axis=1)).sort_values("share")
    worst = least.iloc[0]
    starts = "of the seeds" if technical else "of those with another start"
    parts = "of the folds" if technical else "of those with a part of the data"
    return (
        f"{text}; the least steady is {worst['phenotype']}, found again in "
        f"{percent(worst['seeds'])} {starts} and in {percent(worst['folds'])} {parts}."
    )


def ranks(table: pd.DataFrame, metric: str, wording: str = SCIENTIST) -> str:
    """The number of phenotypes with the best score, and the smallest that is as good.

    Parameters
    ----------
    table : DataFrame
        rank, mean, sd; one row per rank.
    """
    if len(table) < 2:
        return "Only one number of phenotypes was tried; try several to compare."
    best = table.loc[table["mean"].idxmax()]
    technical = wording == SCIENTIST
    text = (
        f"{capital(metric)} is best with {int(best['rank'])} phenotypes ({score(best['mean'])})"
        if technical
        else f"The prediction is best with {int(best['rank'])} phenotypes"
    )
    enough = table[table["mean"] >= best["mean"] - best["sd"]]["rank"].min()
    if best["rank"] == table["rank"].min():
        return f"{text}, the smallest number tried."
    if enough == best["rank"]:
        behind = "more than one standard deviation worse" if technical else "worse"
        return f"{text}; fewer are {behind}."
    near = "are within one standard deviation of it" if technical else "do nearly as well"
    return f"{text}; {int(enough)} {near} and are easier to read."


def rank_choice(about: Mapping[str, Any], wording: str = SCIENTIST) -> str:
    """Which number of phenotypes to take, and why, as it was stored."""
    reason = str(about["reason"])
    return reason if wording == SCIENTIST else reason.replace("of the fits", "of the computations")


def ablation(
    scores: pd.DataFrame,
    metric: str,
    about: Mapping[str, Any] | None = None,
    wording: str = SCIENTIST,
) -> str:
    """Whether cosine costs beat the others, counted fold by fold."""
    folds = scores.pivot_table(index=["rank", "fold"], columns="recipe", values="score")
    if "cosine" not in folds or folds.shape[1] < 2:
        return "Only one way of measuring similarity was tried."
    if wording != SCIENTIST:
        return _ablation_in_words(folds, about or {})
    parts = []
    for recipe in folds.columns.drop("cosine"):
        gain = (folds["cosine"] - folds[recipe]).dropna()
        than = f"with {recipe_words(recipe, wording)}"
        if abs(gain.mean()) < SAME:
            parts.append(f"the same as {than}")
            continue
        word = "better" if gain.mean() > 0 else "worse"
        agree = int((gain * gain.mean() > 0).sum())
        parts.append(
            f"{score(abs(gain.mean()))} {word} than {than} ({agree} of {len(gain)} folds agree)"
        )
    return f"With cosine costs {metric} is {listed(parts)}."


def _ablation_in_words(folds: pd.DataFrame, about: Mapping[str, Any]) -> str:
    """The same without numbers: clearly better, clearly worse, or unclear."""
    verdicts: dict[str, list[str]] = {}
    for recipe in folds.columns.drop("cosine"):
        gains = (folds["cosine"] - folds[recipe]).dropna().to_numpy(float)
        verdict = over_folds(gains, about).beside(0.0)
        verdicts.setdefault(verdict, []).append(recipe_words(recipe, "clinician"))
    said = {
        "better": "clearly better than with",
        "worse": "clearly worse than with",
        UNCLEAR: "not clearly different from that with",
    }
    parts = [f"{said[one]} {' or '.join(recipes)}" for one, recipes in verdicts.items()]
    return f"The prediction with the similarity seen in the data is {listed(parts)}."


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
    return f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"

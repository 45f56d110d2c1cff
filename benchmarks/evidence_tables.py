"""Experiments put together: several data sets, further rows, and what was recorded before.

Rows of a table are methods. ``swift`` is SWIFT as shipped; the keys here are forms of it that no
catalogue offers because they are the same method with settings found in another way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.methods.catalogue import CATALOGUE, title_of
from swiftcore.evaluation.protocol.scores import FOLD, compare_with, summarise

CHOSEN, TUNED, AGREED = "chosen_swift", "tuned_swift", "agreed_swift"
FORMS = {
    "swift": "SWIFT",
    CHOSEN: "SWIFT, settings chosen in each fold",
    TUNED: "SWIFT, tuned in each fold",
    AGREED: "SWIFT, consensus of 20 fits",
}
OURS = (*FORMS, "supervised_swift")
TEST_SHARE = 1 / 5
SAME = (
    1e-3  # on another machine the last digits of a sum may differ, and a rank in a list with them
)
WITHIN = {"noise": ["level"], "ablation": ["method"]}


def row_title(key: str) -> str:
    """The name of a row for people."""
    return FORMS.get(key) or title_of(key)


def joined(experiments: Sequence[Experiment]) -> Experiment:
    """Experiments of one kind on several data sets as one; each counts as another repeat."""
    first = experiments[0]
    if len(experiments) == 1:
        return first
    tables = {
        name: pd.concat(
            [_counted_on(one.tables[name], number) for number, one in enumerate(experiments)],
            ignore_index=True,
        )
        for name in first.tables
    }
    if "confusion" in tables:
        places = ["method", "rank", "truth", "predicted"]
        tables["confusion"] = (
            tables["confusion"].groupby(places, sort=False, as_index=False)["count"].sum()
        )
    about: dict[str, Any] = {
        **first.about,
        "data": [one.about["data"] for one in experiments],
        "seconds": sum(one.about["seconds"] for one in experiments),
    }
    return with_means(Experiment(first.kind, about, tables))


def _counted_on(table: pd.DataFrame, number: int) -> pd.DataFrame:
    if "repeat" in table:
        return table.assign(repeat=table["repeat"] + number * (table["repeat"].max() + 1))
    return table.assign(data_set=number) if "phenotype" in table else table


def with_means(experiment: Experiment) -> Experiment:
    """The experiment with summary and comparison of the scores it has now."""
    if "scores" not in experiment.tables:
        return experiment
    scores, kind = experiment.tables["scores"], experiment.kind
    data = experiment.about["data"]
    sets, within = len(data) if isinstance(data, list) else 1, WITHIN.get(kind, [])
    ours, column = ("cosine", "recipe") if kind == "ablation" else ("swift", "method")
    means = {
        "summary": summarise(scores, TEST_SHARE, sets, within if kind == "noise" else []),
        "comparison": compare_with(scores, ours, TEST_SHARE, sets, column=column, within=within),
    }
    return Experiment(kind, experiment.about, {**experiment.tables, **means})


def named(experiment: Experiment, names: Mapping[str, str]) -> Experiment:
    """The experiment with other keys for some of its methods."""
    tables = {
        name: table.assign(method=table["method"].replace(names)) if "method" in table else table
        for name, table in experiment.tables.items()
    }
    return Experiment(experiment.kind, experiment.about, tables)


def stacked(first: Experiment, *further: Experiment) -> Experiment:
    """The rows of several experiments on the same folds as one table, in the usual order."""
    tables = dict(first.tables)
    for name in tables:
        parts = [one.tables[name] for one in (first, *further) if name in one.tables]
        if "method" in tables[name] and name not in ("summary", "comparison"):
            tables[name] = _in_order(pd.concat(parts, ignore_index=True))
    about = {**first.about, "seconds": sum(one.about["seconds"] for one in (first, *further))}
    methods = [key for key in dict.fromkeys(tables["scores"]["method"]) if key in CATALOGUE]
    about["settings"] = {**about["settings"], "methods": methods}
    return with_means(Experiment(first.kind, about, tables))


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    order = [*FORMS, *(key for key in CATALOGUE if key not in FORMS)]
    by = table["method"].map({key: place for place, key in enumerate(order)})
    return table.loc[by.sort_values(kind="stable").index].reset_index(drop=True)


def others_recorded(path: Path, again: Experiment) -> tuple[Experiment, list[str]]:
    """The rows of all methods but ours, as recorded earlier on the same data and folds.

    Parameters
    ----------
    again : Experiment
        Some of these scores computed once more. Methods of which one differs by more than
        ``SAME`` are not taken from the record.

    Returns
    -------
    Experiment
    list of str
        The methods that were not taken.

    Raises
    ------
    ValueError
        When the data are others.
    """
    found = _recorded(path, again)
    scores = found.tables["scores"]
    places = [*FOLD, "method", "rank", *(["level", "draw"] if found.kind == "noise" else [])]
    now = again.tables["scores"].set_index(places)["score"]
    before = scores.set_index(places)["score"].reindex(now.index)
    differ = ~((now - before).abs() <= SAME)  # what was not recorded differs too
    changed = list(differ.index.get_level_values("method")[differ].unique())
    tables = {
        name: table[~table["method"].isin([*OURS, *changed])]
        for name, table in found.tables.items()
        if name in ("scores", "confusion")
    }
    about = {**found.about, "seconds": again.about["seconds"]}
    return Experiment(found.kind, about, tables), changed


def with_rows_anew(path: Path, anew: Experiment) -> Experiment:
    """What was recorded, with the rows of some methods as they came out now."""
    found = _recorded(path, anew)
    made = anew.tables["scores"]["method"].unique()
    without = anew.tables if "swift" in made else found.tables  # tables that are of SWIFT alone
    tables = {
        name: table[~table["method"].isin(made)] if "method" in table else without.get(name, table)
        for name, table in found.tables.items()
    }
    levels = sorted({*found.about["settings"]["levels"], *anew.about["settings"]["levels"]})
    about = {**found.about, "settings": {**found.about["settings"], "levels": levels}}
    return stacked(Experiment(found.kind, about, tables), anew)


def _recorded(path: Path, now: Experiment) -> Experiment:
    """An experiment that was recorded on the same data; raises ValueError if they are others."""
    found = Experiment.from_json(path.read_text())
    if found.about["data"] != now.about["data"]:
        raise ValueError(f"{path.name} is of other data")
    # early records do not name subsets, and those of noise not the settings chosen
    scores = found.tables["scores"]
    unnamed = pd.DataFrame({"subset": 0, "setting": ""}, index=scores.index)
    tables = {**found.tables, "scores": scores.combine_first(unnamed)}
    return Experiment(found.kind, found.about, tables)


def kept(experiment: Experiment, path: Path) -> None:
    """Write it, without the curves: every point of every fold, which no document shows."""
    plain = json.loads(experiment.to_json())
    plain["tables"].pop("curves", None)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(plain, indent=1) + "\n")

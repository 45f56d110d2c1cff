"""What *Choose for me* tried and took, in words for either kind of reader."""

from __future__ import annotations

import json

import pandas as pd

from dashboard.text.wording import WORDS
from swiftcore.evaluation.experiments.tuning.candidates import changes_of
from swiftcore.spec import SETTINGS, ModelSpec

USUAL = "as usual"
STATES = {  # of a candidate, as stored: as shown
    "chosen": "chosen",
    "as good": "as good, but less stable or less simple",
    "worse": "worse",
    "given up": "given up early",
    "not finished": "no time to finish",
    "failed": "failed",
    "not tried": "not tried",
}
ORDER = {state: place for place, state in enumerate(STATES)}


def setting_words(setting: str, wording: str = "scientist") -> str:
    """What a candidate changes in the shipped settings; a text that is no JSON is shown as it is.

    Parameters
    ----------
    setting : str
        The changes as JSON, as an experiment stores them.
    wording : {"scientist", "clinician"}
    """
    try:
        changes = dict(json.loads(setting))
    except (ValueError, TypeError):
        return setting
    known = WORDS[wording]
    said = [
        f"{known.get(name, name) if name in SETTINGS else name}: "
        f"{f'{value:g}' if isinstance(value, float) else value}"
        for name, value in changes.items()
    ]
    return "; ".join(said) or USUAL


def chosen_words(spec: ModelSpec, wording: str = "scientist") -> str:
    """The chosen spec in a few words: 10 phenotypes, Strictness: 2."""
    settings = setting_words(json.dumps(changes_of(spec)), wording)
    rest = "all other settings as usual" if settings == USUAL else settings
    return f"{spec.rank} phenotypes; {rest}"


def tried_table(candidates: pd.DataFrame, loss: str, wording: str = "scientist") -> pd.DataFrame:
    """All candidates for people: the chosen one first, then those that came far."""
    order = candidates.assign(place=candidates["state"].map(ORDER).fillna(len(ORDER)))
    order = order.sort_values(["place", "behind", "candidate"], ignore_index=True)
    return pd.DataFrame(
        {
            "Phenotypes": order["rank"],
            "Changed settings": [setting_words(one, wording) for one in order["setting"]],
            "Result": [STATES.get(one, one) for one in order["state"]],
            loss: order["loss"].round(4),
            "Behind the best": order["behind"].round(4),
            "Standard error": order["behind_error"].round(4),
            "Found again": order["stability"].round(2),
            "Folds": order["folds"],
            "Seconds": order["seconds"].round(1),
        }
    )

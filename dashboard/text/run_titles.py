"""Titles of runs in the wording of those who know no symbols."""

from __future__ import annotations

import re

_KINDS = {  # how the title of an experiment begins, as stored, and for a clinician
    "Evaluation": "Comparison with other methods",
    "Noise": "False entries",
    "Ablation": "Similarity of features",
    "Stability": "Found again",
    "Ranks": "How many",
}


def title_in(title: str, wording: str) -> str:
    """The title of a run: as it is for a data scientist, without symbols for a clinician."""
    if wording == "scientist":
        return title
    kind, comma, rest = title.partition(",")
    said = f"{_KINDS[kind]}:{rest}" if kind in _KINDS else f"{kind}{comma}{rest}"
    said = re.sub(r"\bR = ([\d, ]*\d)", _number, said)
    said = re.sub(r"\bconsensus (\d+)", r"agreed by \1 computations", said)
    said = re.sub(r"\bseed (\d+)", r"starting number \1", said)
    return re.sub(r"\bsharpness ([\d.]+)", r"strictness \1", said)


def _number(found: re.Match[str]) -> str:
    ranks = found[1].split(", ")
    several = f"{', '.join(ranks[:-1])} and {ranks[-1]}" if len(ranks) > 1 else ranks[0]
    return f"{several} {'phenotype' if ranks == ['1'] else 'phenotypes'}"

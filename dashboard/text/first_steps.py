"""The first steps: five screens to see, each with what to do there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One of them: the page it is on, its title and what to do there."""

    page: str
    title: str
    text: str


STEPS = (
    Step(
        "phenotypes",
        "See what was found",
        "A phenotype is a group of diagnoses and medications that keep coming back together. "
        "Pick one in the list: its bars show what it is made of. The samples are invented; "
        "try everything.",
    ),
    Step(
        "patients",
        "See who has it",
        "Pick a phenotype and see whose it is; pick one patient and see which entries "
        "speak for it.",
    ),
    Step(
        "review",
        "Say what you think",
        "Type your name in the sidebar, give each phenotype a name and say whether it makes "
        "sense. Judgements are saved with your name; colleagues add theirs.",
    ),
    Step(
        "prediction",
        "Ask whether it is of use",
        "This page tells how well the outcome can be predicted, beside guessing. The page "
        "Robustness tells whether the same would be found again.",
    ),
    Step(
        "data",
        "Bring your own data",
        "Add a table here (tab Add data), then find its phenotypes on the page Runs. Nothing "
        "leaves this computer. Words you do not know are on the page Help.",
    ),
)

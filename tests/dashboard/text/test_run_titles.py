"""Runs are called by words, not by symbols, where symbols are not known."""

from __future__ import annotations

import pytest

from dashboard.store.request import Request
from dashboard.text.glossary import is_technical
from dashboard.text.run_titles import title_in

SAID = {
    "SWIFT, R = 12, consensus 8": "SWIFT, 12 phenotypes, agreed by 8 computations",
    "CP-ALS, R = 1, seed 3": "CP-ALS, 1 phenotype, starting number 3",
    "Evaluation, R = 5, 12, quick": "Comparison with other methods: 5 and 12 phenotypes, quick",
    "Ranks, R = 6, 12, 18, quick": "How many: 6, 12 and 18 phenotypes, quick",
}


@pytest.mark.parametrize(("title", "said"), SAID.items())
def test_symbols_become_words_for_clinicians_only(title: str, said: str) -> None:
    assert title_in(title, "clinician") == said and not is_technical(said)
    assert title_in(title, "scientist") == title


@pytest.mark.parametrize("kind", ["fit", "evaluation", "noise", "ablation", "stability", "ranks"])
def test_every_kind_of_run_has_a_plain_title(kind: str) -> None:
    assert not is_technical(title_in(Request(kind, "").title, "clinician"))

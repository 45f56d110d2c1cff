"""What every page says when there is nothing to show, or when a stored result was damaged."""

from __future__ import annotations

import pytest
from support import made_up
from support.opened_page import add_experiment, damage, open_page, tab, widget, words

from dashboard.store.store import Store

EMPTY = {
    "phenotypes": "no finished result",
    "review": "no phenotypes to judge yet",
    "patients": "no finished result",
    "prediction": "no data yet",
    "robustness": "no data yet",
    "data": "Add some files",
    "runs": "no data to compute with",
    "help": "Alarm",
}
# a link to what is not there, and what the page shows all the same
STRAY = {
    "prediction": ({"data": "f" * 32, "run": "../../etc"}, "Which phenotypes go with the outcome"),
    "robustness": ({"data": "0" * 32, "run": "x", "p": "P99"}, "SWIFT keeps"),
    "data": ({"data": "f" * 32, "run": "../x"}, "30 patients"),
    "runs": ({"data": "nothing", "run": "f" * 32}, "Number of phenotypes"),
}


@pytest.mark.parametrize("view", EMPTY)
def test_an_empty_store_says_what_to_do(
    view: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page(view, store, monkeypatch)
    assert EMPTY[view] in words(page)
    if view == "data":
        assert page.get("file_uploader")
    if view == "runs":
        for name in ("Experiments", "History", "Compare two", "Import"):
            tab(page, "runs.tab", name)


@pytest.mark.parametrize("view", ["phenotypes", "review", "patients"])
def test_a_damaged_result_is_said_in_words(
    view: str, fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(fitted_store, fit_id)
    said = words(open_page(view, fitted_store, monkeypatch))
    assert "changed after it was written" in said and "Compute it again" in said


@pytest.mark.parametrize("view", STRAY)
def test_unknown_ids_in_the_link_do_no_harm(
    view: str, fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_experiment(fitted_store, made_up.evaluation())
    add_experiment(fitted_store, made_up.noise())
    link, shown = STRAY[view]
    page = open_page(view, fitted_store, monkeypatch, **link)
    if view == "runs":
        assert widget(page, "button", "start.fit")
    else:
        assert shown in words(page)

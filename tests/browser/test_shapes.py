"""Awkward data: on one screen, and on a phone, nothing is cut off and nothing overlaps.

Real data are tried too where they lie beside the project; they are no part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator
from support.made_runs import fitted
from support.shapes import awkward

from benchmarks.public_data import SHARED
from browser.boxes import faults
from browser.conftest import Visit
from browser.hospital_files import wide_table
from browser.server import Server, copy_of
from browser.visitor import Visitor
from dashboard.store.cards import DatasetCard
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions

WIDTH, HEIGHT, PHONE = 1400, 900, (390, 6000)
QUICK = {"max_iterations": 12, "n_restarts": 1}
REAL = {"gibleed_omop": {}, "synthea_1k": {"outcome": "death"}, "bbc/bbc": {}}
PATHS = ("/", "/review", "/patients", "/prediction", "/robustness", "/data", "/runs", "/help")


def at_night(*names: str) -> list[Any]:
    """Data that try once more what others show in every run."""
    return [pytest.param(name, marks=pytest.mark.nightly) for name in names]


@pytest.fixture(scope="module")
def made(samples: Path) -> Iterator[Server]:
    """A server on the samples and on data of awkward shapes."""
    server = Server(copy_of(samples, samples.with_name("awkward")))
    wide = build_path(wide_table(samples.parent), BuildOptions(name="wide table"))
    for dataset in (*awkward(), wide):
        fitted(server.store, dataset, rank=10, **QUICK)
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def real(samples: Path) -> Iterator[Server]:
    """A server on the real data."""
    if not SHARED.is_dir():
        pytest.skip("real data are not here (set SWIFT_SHARED_DATA)")
    server = Server(samples.with_name("real"))
    for name, options in REAL.items():
        dataset = build_path(SHARED / name, BuildOptions(**options))
        fitted(server.store, dataset, rank=12, **QUICK)
    server.start()
    yield server
    server.stop()


def stands_whole(part: Locator) -> None:
    box = part.bounding_box()
    assert box is not None and box["x"] >= 0 and box["y"] >= 0
    assert box["x"] + box["width"] <= WIDTH and box["y"] + box["height"] <= HEIGHT, box


def walk_cards(visitor: Visitor, card: DatasetCard) -> None:
    """Every card beside the list, by the arrow keys, then the same beside the form."""
    visitor.page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    visitor.open("/", data=card.id)
    listed = visitor.page.locator(".phenotype-list .key").all_inner_texts()
    options = visitor.page.locator(".st-key-phenotype-list [role=radiogroup] input")
    options.first.focus()
    shown = visitor.page.locator(".phenotype-card")
    frame = visitor.page.locator(".st-key-side-by-side")
    for identifier in listed:
        visitor.shows_card(identifier).still()
        stands_whole(shown)
        stands_whole(frame)
        assert faults(visitor) == [], identifier
        visitor.page.keyboard.press("ArrowDown")
    sign_in(visitor, card)
    for identifier in sorted(listed)[::3]:
        visitor.open("/review", data=card.id, p=identifier).shows_card(identifier)
        stands_whole(shown)
        stands_whole(visitor.page.locator(".st-key-judgement"))
    visitor.is_well()


def sign_in(visitor: Visitor, card: DatasetCard) -> Visitor:
    visitor.open("/review", data=card.id)
    visitor.type("Your name (saved with each judgement)", "Ada")
    return visitor.sees("judged by you").still()


def tour_on_a_phone(visitor: Visitor, card: DatasetCard) -> None:
    """Every page and every tab."""
    visitor.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    for path in PATHS:
        visitor.open(path, data=card.id)
        for tab in visitor.page.get_by_role("tab").all_inner_texts() or [""]:
            if tab:
                visitor.open_tab(tab.strip())
            assert faults(visitor) == [], f"{card.name}, {path}, {tab}"
            assert visitor.sideways() <= 0
    sign_in(visitor, card)
    assert faults(visitor) == []
    visitor.is_well()


def of_name(server: Server, name: str) -> DatasetCard:
    return next(one for one in server.store.datasets() if one.name == name)


@pytest.mark.parametrize("name", ["long names", "four modes", *at_night("three modes")])
def test_cards_of_awkward_data_are_whole_on_one_screen(
    made: Server, visit: Visit, name: str
) -> None:
    walk_cards(visit(made), of_name(made, name))


@pytest.mark.parametrize("name", ["long names", *at_night("wide table", "heart_failure", "news")])
def test_nothing_is_cut_off_on_a_phone(made: Server, visit: Visit, name: str) -> None:
    tour_on_a_phone(visit(made), of_name(made, name))


@pytest.mark.nightly
@pytest.mark.parametrize("name", list(REAL))
def test_real_data_on_one_screen_and_on_a_phone(real: Server, visit: Visit, name: str) -> None:
    card = of_name(real, name.rpartition("/")[2])
    walk_cards(visit(real), card)
    tour_on_a_phone(visit(real), card)

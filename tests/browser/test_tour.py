"""Every page and every tab with both samples: quiet, closed to the outside, open to everybody."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PAGES, PATIENCE, Visitor


def look_around(visitor: Visitor) -> None:
    """Every tab of a page; what is not computed yet says so and is looked at like the rest."""
    tabs = visitor.page.get_by_role("tab")
    names = [name.strip() for name in tabs.all_inner_texts()]
    for name in names or [""]:
        if name:
            visitor.open_tab(name)
        assert visitor.axe() == [], name
        visitor.is_well()


CALLED = {  # what the pages of a sample are called, where it has words of its own
    "heart_failure": {},
    "news": {"Patients": "Documents", "Phenotypes": "Topics"},
}


@pytest.mark.parametrize("sample", CALLED)
def test_tour(sample_server: Server, visit: Visit, sample: str) -> None:
    card = next(one for one in sample_server.store.datasets() if one.name == sample)
    visitor = visit(sample_server).open(data=card.id)
    for name in PAGES:
        visitor.go_to(CALLED[sample].get(name, name))
        look_around(visitor)


@pytest.mark.parametrize("width", [820, 390])
def test_no_width_makes_a_page_scroll_sideways(
    sample_server: Server, visit: Visit, width: int
) -> None:
    visitor = visit(sample_server, width)
    for path in (
        "/",
        "/review",
        "/patients",
        "/prediction",
        "/robustness",
        "/data",
        "/runs",
        "/help",
    ):
        visitor.open(path)
        assert visitor.sideways() <= 0, path
        visitor.is_well()


def test_a_phone_reaches_every_page(sample_server: Server, visit: Visit) -> None:
    visitor = visit(sample_server, 390).open()
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    links = visitor.page.get_by_test_id("stSidebarNavLink")
    assert [name.strip() for name in links.all_inner_texts()] == list(PAGES)
    links.filter(has_text="Review").click()
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Review", timeout=PATIENCE)
    visitor.still().is_well()

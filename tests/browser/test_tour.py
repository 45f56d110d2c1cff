"""Every page and every tab with both samples: quiet, closed to the outside, open to everybody."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PAGES, PATIENCE, Visitor


def look_around(visitor: Visitor, themes: dict[str, tuple[str, ...]]) -> None:
    """Every tab of a page; what is not computed yet says so and is looked at like the rest."""
    tabs = visitor.page.get_by_role("tab")
    names = [name.strip() for name in tabs.all_inner_texts()]
    for name in names or [""]:
        if name:
            visitor.open_tab(name)
        for theme, rules in themes.items():
            visitor.page.emulate_media(color_scheme=theme)
            visitor.still()
            assert visitor.axe(*rules) == [], f"{name}, {theme}"
        visitor.is_well()


# The sample with the most tabs is looked at in both themes; of the rules of axe (none named: all)
# only that of contrast depends on the theme.
LIGHT, DARK = {"light": ()}, {"dark": ("color-contrast",)}
THEMES: dict[str, dict[str, tuple[str, ...]]] = {"heart_failure": LIGHT | DARK, "news": LIGHT}
CALLED = {  # what the pages of a sample are called, where it has words of its own
    "heart_failure": {},
    "news": {"Patients": "Documents", "Phenotypes": "Topics"},
}
WALKS = {"first": PAGES[: len(PAGES) // 2], "second": PAGES[len(PAGES) // 2 :]}  # side by side


@pytest.mark.parametrize("half", WALKS)
@pytest.mark.parametrize("sample", CALLED)
def test_tour(sample_server: Server, visit: Visit, sample: str, half: str) -> None:
    card = next(one for one in sample_server.store.datasets() if one.name == sample)
    visitor = visit(sample_server).open(data=card.id)
    for name in WALKS[half]:
        visitor.go_to(CALLED[sample].get(name, name))
        look_around(visitor, THEMES[sample])


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
    visitor.sees("The first steps are in the sidebar")
    visitor.page.get_by_test_id("stExpandSidebarButton").click()
    links = visitor.page.get_by_test_id("stSidebarNavLink")
    assert [name.strip() for name in links.all_inner_texts()] == list(PAGES)
    links.filter(has_text="Review").click()
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Review", timeout=PATIENCE)
    visitor.still().is_well()


def test_first_steps_lead_on_and_once_left_stay_away(server: Server, visit: Visit) -> None:
    visitor = visit(server).open()
    visitor.sees("First steps, 1 of 5: See what was found")
    expect(visitor.page.locator(".st-key-tour-hint")).to_be_hidden()
    visitor.press("Next step").sees("First steps, 2 of 5: See who has it")
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Patients", timeout=PATIENCE)
    assert visitor.axe() == []
    visitor.press("Leave the first steps").reload()
    assert "of 5:" not in visitor.words()
    visitor.press("First steps").sees("First steps, 1 of 5")
    visitor.is_well()

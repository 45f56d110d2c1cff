"""List and card: whole on one screen, walked by keyboard, readable at any width, both themes."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PATIENCE, Visitor

SCREEN = (1400, 900)
LIST, CARD = ".phenotype-list", ".phenotype-card"
OPTIONS = ".st-key-phenotype-list [role=radiogroup]"
CHOSEN = ".phenotype-list li[aria-current] .key"
SCROLLED = "() => document.querySelector('[data-testid=\"stMain\"]').scrollTop"
# Texts of the card that are wider than their box (without one that ends in an ellipsis), or
# that reach over the edge of the card.
CUT = """() => {
  const card = document.querySelector('.phenotype-card');
  const frame = card.getBoundingClientRect();
  return [...card.querySelectorAll('*')].filter(each => {
    const style = getComputedStyle(each), box = each.getBoundingClientRect();
    if (!each.textContent.trim() || style.display === 'inline' || !box.width) return false;
    const cut = each.scrollWidth > each.clientWidth + 1 && style.textOverflow !== 'ellipsis';
    return cut || box.right > frame.right + 1 || box.left < frame.left - 1;
  }).map(each => each.outerHTML.slice(0, 120));
}"""

DARK_CHART = """() => document.querySelector('.js-plotly-plot .main-svg')
  ?.style.background.includes('rgb(18, 23, 29)')"""


def open_sample(server: Server, visitor: Visitor, name: str) -> Visitor:
    data = next(card.id for card in server.store.datasets() if card.name == name)
    return visitor.open("/", data=data)


def is_whole(visitor: Visitor) -> None:
    """List and card stand side by side within the window, and nothing was scrolled."""
    boxes = [visitor.page.locator(one).bounding_box() for one in (LIST, CARD)]
    for box in boxes:
        assert box is not None
        assert box["x"] >= 0 and box["x"] + box["width"] <= SCREEN[0]
        assert box["y"] >= 0 and box["y"] + box["height"] <= SCREEN[1], box
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]  # type: ignore[index]
    assert visitor.page.evaluate(SCROLLED) == 0
    assert visitor.page.evaluate(CUT) == []


@pytest.mark.parametrize("name", ["heart_failure", "news"])
def test_every_card_is_whole_beside_the_list_and_down_leads_to_the_next(
    sample_server: Server, visit: Visit, name: str
) -> None:
    visitor = visit(sample_server)
    visitor.page.set_viewport_size({"width": SCREEN[0], "height": SCREEN[1]})
    open_sample(sample_server, visitor, name)
    listed = visitor.page.locator(".phenotype-list .key").all_inner_texts()
    assert len(listed) == {"heart_failure": 12, "news": 10}[name]
    visitor.page.locator(f"{OPTIONS} input").first.focus()
    for identifier in listed:
        visitor.shows_card(identifier)
        expect(visitor.page.locator(CHOSEN)).to_have_text(identifier, timeout=PATIENCE)
        is_whole(visitor)
        if identifier != listed[-1]:
            visitor.page.keyboard.press("ArrowDown")
    visitor.page.keyboard.press("ArrowUp")
    visitor.shows_card(listed[-2]).still()
    assert visitor.page.url.endswith(f"p={listed[-2]}")
    visitor.is_well()


@pytest.mark.parametrize("width", [820, 390])
def test_below_each_other_nothing_is_cut(sample_server: Server, visit: Visit, width: int) -> None:
    for name in ("heart_failure", "news"):
        visitor = open_sample(sample_server, visit(sample_server, width), name)
        upper, lower = (visitor.page.locator(one).bounding_box() for one in (LIST, CARD))
        assert upper is not None and lower is not None
        assert upper["y"] + upper["height"] <= lower["y"]
        assert lower["x"] >= 0 and lower["x"] + lower["width"] <= width
        assert visitor.page.evaluate(CUT) == []
        assert visitor.sideways() == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_page_opens_in_the_theme_of_the_system(
    sample_server: Server, visit: Visit, theme: str
) -> None:
    """With axe for the first screen; the tour looks at every tab in both themes."""
    visitor = visit(sample_server)
    visitor.page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    visitor.open()
    paper = visitor.page.evaluate("getComputedStyle(document.querySelector('.stApp')).background")
    assert ("rgb(18, 23, 29)" in paper) == (theme == "dark")
    assert visitor.axe() == []
    visitor.is_well()


def test_a_person_chooses_dark_in_the_menu_and_keeps_it(
    sample_server: Server, visit: Visit
) -> None:
    visitor = visit(sample_server)
    visitor.page.emulate_media(color_scheme="light", reduced_motion="reduce")
    visitor.open()
    visitor.page.get_by_test_id("stMainMenu").get_by_role("button").click()
    visitor.page.get_by_role("menuitemradio", name="Dark").click()
    visitor.page.keyboard.press("Escape")
    for _ in ("chosen", "kept"):
        shade = "getComputedStyle(document.querySelector('.stApp')).backgroundColor"
        visitor.page.wait_for_function(f"() => {shade} === 'rgb(18, 23, 29)'", timeout=PATIENCE)
        visitor.page.wait_for_function(DARK_CHART, timeout=PATIENCE)
        assert visitor.still().axe() == []
        visitor.reload()
    visitor.is_well()


def test_the_slider_moves_the_bars_and_a_circle_opens_its_card(
    sample_server: Server, visit: Visit
) -> None:
    visitor = open_sample(sample_server, visit(sample_server), "heart_failure")
    visitor.sees("special to it").sees("frequent in it")
    visitor.pick("P06")
    before = visitor.page.locator(f"{CARD} .feature").all_inner_texts()
    visitor.page.get_by_role("slider").focus()
    visitor.page.keyboard.press("Home")
    moved = """before => JSON.stringify(before) !== JSON.stringify(
        [...document.querySelectorAll('.phenotype-card .feature')].map(each => each.innerText))"""
    visitor.page.wait_for_function(moved, arg=before, timeout=PATIENCE)
    visitor.still()
    circles = visitor.page.locator(".scatterlayer .point")
    listed = visitor.page.locator(".phenotype-list .key").all_inner_texts()
    assert circles.count() == len(listed)
    # in the order of the largest share, as the list; plotly listens on a layer above it
    circles.nth(4).click(force=True)
    visitor.shows_card(listed[4]).is_well()


def test_twelve_phenotypes_print_on_eight_pages_two_on_each(
    sample_server: Server, visit: Visit, tmp_path: Path
) -> None:
    visitor = open_sample(sample_server, visit(sample_server), "heart_failure")
    file = visitor.download("Report to print (HTML)", tmp_path / "report.html")
    reader = visitor.context.new_page()
    reader.goto(file.as_uri())
    assert reader.locator(CARD).count() == 12
    assert 7 <= reader.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") <= 8
    reader.emulate_media(media="print")
    reader.set_viewport_size({"width": 695, "height": 1000})  # an A4 page without its margins
    heights = reader.locator("section.phenotype").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().height * 25.4 / 96)"
    )
    assert max(one + other for one, other in zip(heights[::2], heights[1::2], strict=True)) < 262

"""Every page and every tab with both samples: quiet, closed to the outside, open to everybody."""

from __future__ import annotations

import pytest

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PAGES, Visitor


def look_around(visitor: Visitor) -> None:
    """Every tab of a page; what is not computed yet says so and is looked at like the rest."""
    tabs = visitor.page.get_by_role("tab")
    names = [name.strip() for name in tabs.all_inner_texts()]
    for name in names or [""]:
        if name:
            visitor.open_tab(name)
        assert visitor.axe() == [], name
        visitor.is_well()


@pytest.mark.parametrize(("sample", "rows"), [("heart_failure", "Patients"), ("news", "Documents")])
def test_tour(sample_server: Server, visit: Visit, sample: str, rows: str) -> None:
    card = next(one for one in sample_server.store.datasets() if one.name == sample)
    visitor = visit(sample_server).open(data=card.id)
    for name in PAGES:
        visitor.go_to(rows if name == "Patients" else name)
        look_around(visitor)


@pytest.mark.parametrize("width", [820, 390])
def test_no_width_makes_a_page_scroll_sideways(
    sample_server: Server, visit: Visit, width: int
) -> None:
    visitor = visit(sample_server, width)
    for path in ("/", "/review", "/patients", "/prediction", "/robustness", "/data", "/runs"):
        visitor.open(path)
        assert visitor.sideways() <= 0, path
        visitor.is_well()

"""Feature names that would like to be programs are shown as typed, on screens and in files."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

from browser.conftest import Visit
from browser.server import Server
from browser.tables import from_files_to_phenotypes, write_events
from browser.visitor import PAGES, Visitor

SCRIPT = "<script>window.__xss=1</script><img src=x onerror='window.__xss=1'>"
PICTURE = "![see](http://picture.example/x.png) [link](javascript:window.__xss=1)"
FORMULA = '=HYPERLINK("http://formula.example","click")'
LONG = "long name " * 1000
BACKWARDS = "ward \u202egnihton\u202c \u0627\u0644\u0642\u0644\u0628"
NAMES = (SCRIPT, PICTURE, FORMULA, LONG, BACKWARDS, "$\\frac{a}{b}$ :smile: **bold**")


def is_unharmed(visitor: Visitor) -> None:
    visitor.is_well()
    assert visitor.page.evaluate("window.__xss") is None
    assert visitor.main.locator("img[src*='http'], a[href*='example'], b, strong em").count() == 0


def test_hostile_names_stay_names(growing_server: Server, visit: Visit, tmp_path: Path) -> None:
    file = write_events(tmp_path / "hostile.csv", rows=60, size=12, names=NAMES)
    visitor = from_files_to_phenotypes(visit(growing_server), 3, file)
    for name in PAGES:
        visitor.go_to(name)
        tabs = [tab.strip() for tab in visitor.page.get_by_role("tab").all_inner_texts()]
        for tab in tabs or [""]:
            if tab:
                visitor.open_tab(tab)
            is_unharmed(visitor)
    visitor.go_to("Data").open_tab("How similar features are")
    visitor.page.get_by_role("combobox", name="Nearest features of").click()
    offered = " ".join(visitor.page.get_by_role("option").all_inner_texts())
    assert "<script>window.__xss=1</script>" in offered and "![see](http" in offered
    assert "[U+202E]" in offered  # a character that turns the reading direction is made visible
    visitor.page.keyboard.press("Escape")
    visitor.go_to("Phenotypes")
    files_are_harmless(visitor, tmp_path)


def files_are_harmless(visitor: Visitor, folder: Path) -> None:
    """The exports hold the names, and nothing in them comes alive."""
    page = visitor.download("Report to print (HTML)", folder / "report.html")
    text = page.read_text(encoding="utf-8")
    assert "&lt;script&gt;window.__xss" in text and "<script>window.__xss" not in text
    reader = visitor.context.new_page()
    asked: list[str] = []
    reader.on("request", lambda request: asked.append(request.url))
    reader.goto(page.as_uri())
    assert asked == [page.as_uri()]
    assert reader.evaluate("window.__xss") is None
    reader.close()
    with zipfile.ZipFile(visitor.download("Tables (CSV in a zip)", folder / "r.zip")) as archive:
        tables = [archive.read(name).decode() for name in archive.namelist()]
    assert any("HYPERLINK" in table for table in tables)
    assert not any(
        re.search(r'(^|,)"?[=+@]', line) for table in tables for line in table.splitlines()
    )
    plain = visitor.download("For programs (JSON)", folder / "r.json").read_text(encoding="utf-8")
    assert json.loads(plain) and "HYPERLINK" in plain

"""From the table of all rows to one of them, to what if, to those around it on the map."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
from playwright.sync_api import expect
from support.made_runs import fitted

from browser.conftest import Visit
from browser.server import QUICK, Server
from browser.test_hostile import FORMULA, NAMES, is_unharmed
from browser.visitor import PATIENCE, Visitor
from dashboard.fit_view.row_map import row_map
from dashboard.fit_view.row_risk import risk_model
from dashboard.store.cards import newest_sound
from swiftcore.data.samples import load_sample
from swiftcore.data.side_tables import SideTables
from swiftcore.phenotypes.shares import row_shares


def draw_around(visitor: Visitor, corners: list[tuple[float, float]]) -> None:
    """A lasso over the chart; corners as shares of its width and height."""
    box = visitor.page.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    points = [(box["x"] + a * box["width"], box["y"] + b * box["height"]) for a, b in corners]
    mouse = visitor.page.mouse
    mouse.move(*points[0])
    mouse.down()
    for point in (*points[1:], points[0]):
        mouse.move(*point, steps=6)
    mouse.up()


def test_table_then_one_patient_then_what_if_then_map(sample_server: Server, visit: Visit) -> None:
    store = sample_server.store
    card = next(one for one in store.datasets() if one.name == "heart_failure")
    data, run = store.dataset(card.id), newest_sound(store.runs(card.id), "fit")
    assert run is not None
    fit = store.fit(run.id)
    visitor = visit(sample_server).open("/patients", data=card.id)
    visitor.shows_cells("patient P0007")
    table = visitor.page.get_by_test_id("stDataFrame").first
    table.click(position={"x": 16, "y": 35 + 33 * 6 + 16})  # the mark of the seventh line
    visitor.still().open_tab("One patient")
    visitor.sees(re.compile("^patient P0007$"))
    model = risk_model(fit.factors[0], data.outcome, fit.links)
    assert model is not None
    row = fit.factors[0][6]
    chance = float(model.chances(row)[0])
    visitor.sees(f"Why: predicted chance of heart failure: {chance:.0%}")
    strongest = int(np.abs(model.parts(row)[:, 0]).argmax())
    name = fit.identifiers[strongest]
    visitor.choose("What if it had nothing of", re.compile(f"^{name}: "))
    left = float(model.without(row, strongest)[0])
    expect(visitor.main).to_contain_text(f"it would be {left:.0%} instead of {chance:.0%}")
    visitor.open_tab("Map").shows_charts(1)
    draw_around(visitor, [(0.02, 0.02), (0.45, 0.02), (0.45, 0.98), (0.02, 0.98)])
    visitor.sees(re.compile(r"^[\d,]+ selected$"))
    said = visitor.page.get_by_text(re.compile(r"^[\d,]+ selected$")).inner_text()
    count = int(said.split()[0].replace(",", ""))
    assert 0 < count < len(fit.factors[0])
    x = row_map(row_shares(fit.factors)).places[:, 0]
    far_left = f"patient {fit.modes[0].labels[int(x.argmin())]}"
    with visitor.page.expect_download(timeout=PATIENCE) as waiting:
        visitor.page.get_by_role("button", name="Download row-level data (CSV)").click()
    listed = pd.read_csv(waiting.value.path())
    assert len(listed) == count and far_left.removeprefix("patient ") in set(listed["patient"])
    visitor.is_well()


def test_a_hostile_text_is_a_text(growing_server: Server, visit: Visit) -> None:
    news = load_sample("news")
    marks = "\n\n    {0} steel {0}\n# {0}\n- [x] {0}\n\n| a | b |\n|---|---|\n"
    texts = tuple(
        f"{text}{marks.format(name)}{FORMULA}"
        for text, name in zip(news.side.texts, NAMES * 100, strict=False)
    )
    hostile = replace(news, name="hostile documents", side=SideTables(texts=texts))
    run = fitted(growing_server.store, hostile, synthetic=True, **{**QUICK, "max_iterations": 5})
    visitor = visit(growing_server)
    visitor.open("/patients", run=run)
    visitor.open_tab("One document")
    for label in ("A001", "A002", "A003", "A006"):
        visitor.type("Label of the document, or a part of it", label)
        visitor.sees(re.compile("The text, with the words of each topic marked"))
        is_unharmed(visitor)
        inside = visitor.main.get_by_test_id("stMarkdownContainer")
        assert inside.locator("h2, ul, table, pre").count() == 0
    visitor.type("Label of the document, or a part of it", "A001")
    words = visitor.main.inner_text()
    assert "<script>window.__xss=1</script>" in words and "HYPERLINK" in words
    assert not re.search("patient|clinical|phenotypes of", words, re.IGNORECASE)

"""An experiment as a file: every chart in it, plotly once, and text stays text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support import made_up

from dashboard.charts.pages import experiment_figures, write_page

HOSTILE = "</p><script>alert(1)</script>"


@pytest.mark.parametrize("kind", ["evaluation", "noise", "ablation", "stability", "tune"])
def test_a_page_holds_every_chart_and_escapes_what_people_typed(kind: str, tmp_path: Path) -> None:
    made = getattr(made_up, kind)()
    data = {**made.about["data"], "entries": 1234, "name": HOSTILE}
    experiment = replace(made, about={**made.about, "data": data, "notes": [HOSTILE, "Two."]})
    write_page(experiment, tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.startswith("<!doctype html>") and text.endswith("</body></html>\n")
    assert "<script>alert" not in text and text.count("&lt;script&gt;alert") == 2
    assert "9 x 4 x 4, 1,234 entries" in text and "<p>Two.</p>" in text
    assert text.count("<figure>") == len(experiment_figures(experiment)) > 0
    assert text.count("plotly.js v") == 1

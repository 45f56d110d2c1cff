"""Pictures of the recorded evidence for docs/evidence.md, drawn by the dashboard's own charts.

python -m benchmarks.figures
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
from playwright.sync_api import sync_playwright

from benchmarks import RESULTS
from benchmarks.evidence_tables import CHOSEN, named
from dashboard.charts import robustness
from swiftcore.evaluation.experiments.result import Experiment

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))  # the same browser as the tests
from browser.visitor import launch  # noqa: E402

FOLDER = REPOSITORY / "docs" / "figures"
SIZE = {"width": 1000, "height": 520}


def figures() -> Iterator[tuple[str, go.Figure]]:
    """Name and chart of every recorded evaluation of several ranks, and of every noise sweep."""
    for path in sorted(RESULTS.glob("*_evaluation.json")):
        found = _drawn(path)
        metric, summary = str(found.about["metric_title"]), found.tables["summary"]
        if summary.loc[summary["rank"] > 0, "rank"].nunique() > 1:
            yield path.stem, robustness.rank_lines(summary, metric, "components")
    for path in sorted(RESULTS.glob("*_noise.json")):
        found = _drawn(path)
        metric = str(found.about["metric_title"])
        yield path.stem, robustness.noise_lines(found.tables["scores"], metric, "false entries")


def _drawn(path: Path) -> Experiment:
    """The experiment; charts show a key that no catalogue knows as it is, so it gets words."""
    return named(Experiment.from_json(path.read_text()), {CHOSEN: "SWIFT, chosen"})


def main() -> None:
    """Draw them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport=SIZE)
        for name, figure in figures():
            page.set_content(figure.to_html(include_plotlyjs=True))
            page.wait_for_selector(".main-svg")
            page.locator(".plotly-graph-div").screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()

"""A finished run as one HTML file to read, send and print.

The file holds everything it shows: no script, no picture or style from elsewhere, so that it opens
without a network and tells nobody that it was opened.
"""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from dashboard.charts.style import MODE_COLOURS
from dashboard.report.contents import Report
from dashboard.text.display import clipped, visible
from dashboard.text.wording import capital, plural

MAX_NAME = 90
MAX_HEADING = 160
MAX_HOVER = 500
MAX_COMMENT = 2000


def render_report(report: Report) -> str:
    """The report as HTML text, complete in itself.

    Parameters
    ----------
    report : Report
        From :func:`dashboard.report.contents.gather_report`.
    """
    page = _ENVIRONMENT.get_template("report.html.j2")
    return page.render(report=report, colours=MODE_COLOURS)


def _shown(value: Any, kind: str) -> str:
    """A cell as people read it."""
    if value is None:
        return ""
    if kind == "percent":
        return f"{value:.0%}"
    if kind in ("score", "bar"):
        return f"{value:.3f}"
    if kind == "signed":
        return f"{value:+.3f}" if value else "0"
    if kind == "whole":
        return f"{value:,}"
    return clipped(value, MAX_NAME)


_ENVIRONMENT = Environment(
    loader=FileSystemLoader(__file__.rsplit("html_report.py", 1)[0]),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters.update(
    {
        "clip": lambda text: clipped(text, MAX_NAME),
        "hover": lambda text: visible(str(text)[:MAX_HOVER]),
        "comment": lambda text: clipped(text, MAX_COMMENT),
        "heading": lambda text: clipped(text, MAX_HEADING),
        "plural": plural,
        "capital": capital,
        "shown": _shown,
    }
)

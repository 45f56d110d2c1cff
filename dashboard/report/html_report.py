"""A finished run as one HTML file to read, send and print.

The file holds everything it shows: no script, no picture or style from elsewhere, so that it opens
without a network and tells nobody that it was opened.
"""

from __future__ import annotations

from dashboard.charts.style import MODE_COLOURS
from dashboard.report.contents import Report
from dashboard.report.templates import render
from dashboard.text.wording import WORDS


def render_report(report: Report) -> str:
    """The report as HTML text, complete in itself.

    Parameters
    ----------
    report : Report
        From :func:`dashboard.report.contents.gather_report`.
    """
    return render(
        "report.html.j2",
        report=report,
        colours=MODE_COLOURS,
        words=WORDS["clinician"],
        scientist=False,
    )

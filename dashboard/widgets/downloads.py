"""The report and its files, written when asked for; and the way back for judgements on paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.shown_from import file_name
from dashboard.session.state import Key
from dashboard.text.wording import count_of
from dashboard.widgets.handed_over import ask_for_file
from dashboard.widgets.problems import show_problems
from swiftcore.errors import SwiftError

if TYPE_CHECKING:
    from dashboard.report.contents import Report

SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def show_report(summary: FitSummary) -> None:
    """The report as a page, as tables and for programs; no single row is in any of them."""
    st.header("Report", anchor=False)
    st.markdown(
        "All that may be shown of this result, and no single row: a page to read and print, "
        "tables, and a file for programs."
    )
    name = file_name(f"report_{summary.run[:8]}")
    with st.container(horizontal=True):
        st.download_button(
            "Report to print (HTML)",
            lambda: _html(summary),
            f"{name}.html",
            "text/html",
            key="report.html",
            on_click="ignore",
        )
        st.download_button(
            "Tables (CSV in a zip)",
            lambda: _csv(summary),
            f"{name}.zip",
            "application/zip",
            key="report.csv",
            on_click="ignore",
        )
        st.download_button(
            "For programs (JSON)",
            lambda: _json(summary),
            f"{name}.json",
            "application/json",
            key="report.json",
            on_click="ignore",
        )


def show_workbook(summary: FitSummary) -> None:
    """Judge in a spreadsheet and bring it back."""
    st.header("Judge in a spreadsheet", anchor=False)
    st.markdown(
        "Download the workbook, fill in the yellow cells, and bring it back here. It holds what "
        "you judged so far."
    )
    reviewer = state.reviewer()
    st.download_button(
        "Download the workbook (XLSX)",
        lambda: _workbook(summary, reviewer),
        f"{file_name(f'judge_{summary.run[:8]}')}.xlsx",
        SHEET,
        key="workbook",
        on_click="ignore",
    )
    back = st.expander("Bring back a workbook", key="workbook.back", on_change="rerun")
    if back.open:
        with back:
            _bring_back(summary)


def _bring_back(summary: FitSummary) -> None:
    given = ask_for_file("Filled-in workbook", type=["xlsx"], key="workbook.file")
    if given is None or not st.button("Save these judgements", key="workbook.save"):
        return
    try:
        count = save_workbook(summary, given.read())
    except SwiftError as error:
        show_problems(error)
        return
    state.set(Key.WORKBOOK_SAVED, f"{count_of(count, 'judgement')} saved from the workbook.")
    st.rerun()


def save_workbook(summary: FitSummary, content: bytes) -> int:
    """Save the judgements of a workbook that are new; the number of them.

    All or, if one is wrong, none. What was filled in when it went out and is the same is passed
    over.
    """
    from dashboard.report.workbook_reading import (  # openpyxl: only when it is needed
        changes,
        read_workbook,
    )

    digests = {
        name: summary.fit.phenotype_digest(each.component)
        for name, each in summary.phenotypes.items()
    }
    found = read_workbook(content, run=summary.run, digests=digests, known=state.vocabulary())
    new = changes(found, cache.reviews().latest(summary.run))
    return len(cache.reviews().save_all(new)) if new else 0


def report_of(summary: FitSummary) -> Report:
    """What the files say."""
    from dashboard.report.from_store import report_of_run  # plotly comes with it

    blind_for = summary.blind_for  # not of the session: a download is made outside of it
    return report_of_run(cache.store(), cache.reviews(), summary.run, summary.limit, blind_for)


def _html(summary: FitSummary) -> str:
    from dashboard.report.html_report import render_report  # jinja: only when it is needed

    return render_report(report_of(summary))


def _csv(summary: FitSummary) -> bytes:
    from dashboard.report.tables import report_csv

    return report_csv(report_of(summary))


def _json(summary: FitSummary) -> str:
    from dashboard.report.tables import report_json

    return report_json(report_of(summary))


def _workbook(summary: FitSummary, reviewer: str = "") -> bytes:
    from dashboard.report.workbook import make_workbook  # openpyxl: only when it is needed

    return make_workbook(report_of(summary), reviewer)

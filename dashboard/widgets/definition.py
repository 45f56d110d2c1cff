"""Use a phenotype elsewhere: as a rule with its codes, as SQL, as a cohort of ATLAS."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.privacy.small_counts import rounded
from dashboard.session import cache, state
from dashboard.session.shown_from import file_name
from dashboard.text.wording import plural
from dashboard.widgets.figure import show_figure
from dashboard.widgets.problems import show_problems
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.definitions.atlas import atlas_cohort
from swiftcore.definitions.define import Definition
from swiftcore.definitions.definition_file import code_lines, plain_rule, quality_words
from swiftcore.definitions.omop_sql import rule_sql
from swiftcore.definitions.omop_tables import tables_of
from swiftcore.definitions.quality import Quality
from swiftcore.definitions.rule import USUAL_FEATURES
from swiftcore.errors import InvalidData, SwiftError

ABOUT = (
    "A rule that other systems can compute: at least so many of these features. It stands for the "
    "phenotype as well as the two numbers below say; choose what suits you on the curve."
)


def show_definition(summary: FitSummary, chosen: str) -> None:
    """Choose a rule for a phenotype and take it along; nothing is computed until it is opened."""
    box = st.expander("Use it elsewhere: a definition", key="definition", on_change="rerun")
    if box.open:
        with box:
            _show(summary, chosen)


def _show(summary: FitSummary, chosen: str) -> None:
    st.caption(state.phrase(ABOUT))
    try:
        found = cache.definition(summary.run, summary.card.id, chosen, _features(summary, chosen))
        found = _asked(summary, chosen, found)
    except SwiftError as error:
        show_problems(error)
        return
    found = replace(found, rule=replace(found.rule, name=summary.names[chosen]))
    quality = _rounded(found.quality, summary.limit)
    st.markdown(f"**{plain(found.rule.words(), 300)}.** {quality_words(quality)}")
    if summary.limit:
        st.caption(f"Counts are rounded to multiples of {summary.limit}.")
    _show_curve(summary, chosen, found, quality)
    _show_downloads(summary, chosen, found, quality)


def _features(summary: FitSummary, chosen: str) -> tuple[tuple[str, ...], ...]:
    """Per mode the features shown on the card, the strongest first; the same mode only once."""
    phenotype, modes = summary.phenotypes[chosen], summary.fit.modes
    listed = []
    for axis in range(1, len(modes)):
        table = summary.profile(phenotype, axis).table
        again = any(modes[axis].labels == mode.labels for mode in modes[1:axis])
        labels = () if again else tuple(table["feature"][table["weight"] > 0][:USUAL_FEATURES])
        listed.append(labels)
    return tuple(listed)


def _asked(summary: FitSummary, chosen: str, found: Definition) -> Definition:
    """The thresholds that the person chose; at first those with the best balance."""
    asked = {}
    with st.container(horizontal=True):
        for part in found.rule.parts:
            asked[part.mode] = st.selectbox(
                f"At least, of {len(part.features)}: {plain(part.mode, 40)}",
                range(len(part.features) + 1),
                index=part.at_least,
                width=260,
                key=f"definition.{summary.run}.{chosen}.{part.mode}",
            )
    return found.asking(asked)


def _rounded(quality: Quality, limit: int) -> Quality:
    counts = {
        name: rounded(getattr(quality, name), limit) for name in ("found", "right", "carriers")
    }
    return replace(quality, **counts)


def _show_curve(summary: FitSummary, chosen: str, found: Definition, quality: Quality) -> None:
    from dashboard.charts.definitions import rule_curve  # plotly: only when it is opened

    rules = []
    for one in found.curve.best():
        safe = _rounded(one, summary.limit)
        parts = zip(found.rule.parts, one.at_least, strict=True)
        rules.append(
            {
                "rule": ", ".join(f"{part.mode}: at least {number}" for part, number in parts),
                "sensitivity": safe.sensitivity,
                "predictive value": safe.predictive_value,
            }
        )
    table = pd.DataFrame(rules)
    show_figure(
        rule_curve(table, (quality.sensitivity, quality.predictive_value)),
        f"Sensitivity and positive predictive value of {len(rules)} rules for {chosen}",
        table,
        f"rules_{chosen}_{summary.run[:8]}",
    )


def _show_downloads(summary: FitSummary, chosen: str, found: Definition, quality: Quality) -> None:
    rule, name = found.rule, file_name(f"definition_{chosen}_{summary.run[:8]}")
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(code_lines(rule))
    files = {
        "Codes (CSV)": (lines.getvalue(), ".csv", "text/csv"),
        "Rule (JSON)": (json.dumps(plain_rule(rule), indent=2), ".json", "application/json"),
    }
    missing = ""
    try:
        placed = tables_of(rule, cache.dataset(summary.card.id).summary, {})
        sql = rule_sql(rule, placed, "", quality_words(quality))
        files["SQL for OMOP"] = (sql, ".sql", "text/plain")
        cohort = json.dumps(atlas_cohort(rule, placed), indent=2)
        files["Cohort for ATLAS (JSON)"] = (cohort, "_atlas.json", "application/json")
    except InvalidData:
        missing = (
            "SQL for OMOP and ATLAS need OMOP concepts, which these data do not carry: "
            "swift define --concepts takes them from a table of your own."
        )
    with st.container(horizontal=True):
        for label, (text, ending, mime) in files.items():
            content = text.encode("utf-8", "replace")
            st.download_button(
                label, content, f"{name}{ending}", mime, key=f"define.{label}", on_click="ignore"
            )
    if missing:
        st.caption(missing)
    features = [
        {"": part.mode, "Feature": one.label, "Code": one.code}
        for part in rule.parts
        for one in part.features
    ]
    show_table(pd.DataFrame(features), alt=f"Features of the rule for {chosen}")
    _show_carriers(summary, chosen)


def _show_carriers(summary: FitSummary, chosen: str) -> None:
    """The rows that carry the phenotype, one line each."""
    phenotype = summary.phenotypes[chosen]
    labels = summary.fit.modes[0].labels
    table = pd.DataFrame({summary.row_noun: [labels[row] for row in phenotype.rows]})
    label = f"Download row-level data: the {plain(plural(summary.row_noun), 40)} (CSV)"
    download_csv(table, f"row_level_carriers_{chosen}_{summary.run[:8]}", label)

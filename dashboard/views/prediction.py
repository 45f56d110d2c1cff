"""Prediction: how well the phenotypes tell the outcome, and which of them do."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.charts import prediction as charts
from dashboard.privacy.small_counts import hide_table
from dashboard.session import cache, state
from dashboard.session.shown_from import made_for
from dashboard.store.cards import DatasetCard
from dashboard.text import answers, result_sentences
from dashboard.text.glossary import explain
from dashboard.text.wording import NOT_A_CAUSE, capital, plural
from dashboard.widgets import experiments
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.figure import show_figure
from dashboard.widgets.guard import guarded
from dashboard.widgets.method_comparison import show_comparison
from dashboard.widgets.text import plain
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.spec import ModelSpec

CIRCULAR = (
    "These links are of the rows of the fit, and their outcome took part in it: to read them as a "
    "score would be circular. Only scores of rows whose outcome no fit saw count."
)
HELP = {
    "clinician": (
        "Each bar is one phenotype. To the right: {rows} with it tend to have the outcome. "
        "To the left: they tend not to. If the thin line (95% interval) crosses 0, the link is "
        "unclear."
    ),
    "scientist": (
        "Lasso coefficients on standardised memberships, fitted on all rows. Whiskers: 95% "
        "intervals by a jackknife over five groups of rows, at this strength of the penalty."
    ),
}
OF_BEFORE = "The thin line spans what was found when a part of the data was left out."
NO_CALIBRATION = (
    "This comparison was computed before chances were kept beside what came true. To see them, "
    "delete it on the page Runs (History) and compute it again."
)


def show() -> None:
    """How well first, with its certainty; then which phenotypes; then other methods."""
    st.title("Prediction")
    if not state.current_dataset():
        nothing_yet("There are no data yet.", "data")
        return
    card = cache.card(state.current_dataset())
    if not card.classes:
        nothing_yet(
            "These data have no outcome, so there is nothing to predict. "
            "Load them again and say which column is the outcome.",
            "data",
        )
        return
    st.markdown(f"Outcome: **{plain(card.outcome_name or 'outcome', 60)}**. {NOT_A_CAUSE}")
    words = ("Alarm", "Case", "Guessing", "95% interval")
    st.header("How well", help=explain(*words), anchor=False)
    guarded(lambda: experiments.show_newest("evaluation", lambda found: _how_well(card, found)))
    if cache.is_blind(state.current_run()):  # as is said above the page
        return
    st.header(
        state.phrase("Which phenotypes go with the outcome"),
        help=state.phrase(explain("Link to the outcome", "Unclear")),
        anchor=False,
    )
    guarded(lambda: _show_links(card))


def _how_well(card: DatasetCard, found: experiments.Found) -> None:
    experiment, spec = found.experiment, _shown_spec()
    own = experiment.spec is not None and experiment.spec == spec
    rank = _told_rank(experiment, spec)
    rows, classes = plural(card.mode_names[0]), card.outcome_name or "class"
    answer = answers.prediction(experiment, rank, rows, classes, own)
    answer = state.vocabulary().phrase_around(answer, rows, classes)
    if answer:
        st.markdown(f"**{plain(answer, 400)}**")
    else:
        st.info("This comparison has no score of these phenotypes.")
    if own and state.wording() == "scientist":
        st.caption(plain(result_sentences.own_score(experiment, rank)), help=explain("PR-AUC"))
    if not own:
        _offer_own_score(experiment, spec)
    binary = "curves" in experiment.tables  # squares of several classes need the whole width
    left, right = st.columns(2) if binary else (st.container(), st.container())
    with left:
        _show_curve(card, experiment, rank)
    with right:
        _show_calibration(experiment, rank)
    show_comparison(experiment, rank, own)


def _shown_spec() -> ModelSpec | None:
    """Of the result chosen at the left."""
    run = state.current_run()
    return cache.store().run(run).request.spec if run else None


def _told_rank(found: Experiment, spec: ModelSpec | None) -> int:
    """The number of phenotypes of the result that is shown, if it was scored; else the best."""
    summary = found.tables["summary"]
    mine = summary[summary["method"] == found.ours].sort_values("mean")
    wanted = found.spec.rank if found.spec else spec.rank if spec else 0
    if wanted in set(mine["rank"]):
        return int(wanted)
    return int(mine["rank"].iloc[-1]) if len(mine) else 0


def _offer_own_score(found: Experiment, spec: ModelSpec | None) -> None:
    """Whose numbers these are instead, and the way to those of the result that is shown."""
    st.info(plain(result_sentences.whose_score(found, spec, state.wording()), 400))
    if spec is not None:
        experiments.start_button(
            experiments.request_for("evaluation"), "Score this result", "score.this"
        )


def _of(table: pd.DataFrame | None, found: Experiment, rank: int) -> pd.DataFrame:
    """The lines of our method with so many phenotypes."""
    if table is None:
        return pd.DataFrame()
    return table[(table["method"] == found.ours) & (table["rank"] == rank)]


def _show_curve(card: DatasetCard, found: Experiment, rank: int) -> None:
    """Precision and recall; for several classes, which is taken for which."""
    technical = state.wording() == "scientist"
    curves = _of(found.tables.get("curves"), found, rank)
    if len(curves):
        chance = float(found.about.get("chance") or 0.0)
        help_ = explain("Precision", "Recall") if technical else explain("Alarm", "Case")
        title = "Precision and recall" if technical else "Right alarms against cases found"
        st.subheader(title, help=help_, anchor=False)
        show_figure(
            charts.precision_recall(curves, chance, state.wording()),
            "Line: the share of right alarms against the share of cases that are found; "
            f"guessing is at {chance:.0%}.",
            curves.drop(columns=["method", "rank"]).rename(columns=capital),
            "precision_recall",
        )
        return
    confusion = _of(found.tables.get("confusion"), found, rank)
    if confusion.empty:
        return
    help_ = explain("Confusion matrix") if technical else None
    st.subheader("Which class is taken for which", help=help_, anchor=False)
    classes = [str(name) for name in found.about.get("classes") or card.classes]
    counts = hide_table(charts.confusion_counts(confusion, classes), state.small_cells())
    show_figure(
        charts.confusion(confusion, classes, state.small_cells()),
        f"Squares: which of {len(classes)} classes is taken for which.",
        counts.rename_axis("Truth").reset_index(),
        "confusion",
    )


def _show_calibration(found: Experiment, rank: int) -> None:
    """Chances beside what came true; older results say that they have none."""
    technical = state.wording() == "scientist"
    title = "Calibration" if technical else "Do chances come true?"
    st.subheader(title, help=explain("Chance given"), anchor=False)
    if "calibration" not in found.tables:
        st.info(NO_CALIBRATION)
        return
    mine = _of(found.tables["calibration"], found, rank)
    if mine.empty:
        st.info("There are no chances to compare.")
        return
    by = [name for name in ("subset", "repeat") if name in found.tables["scores"]]
    times = max(1, len(found.tables["scores"][by].drop_duplicates())) if by else 1
    shown = charts.shown_groups(mine, state.small_cells(), times)
    binary = len(found.about.get("classes") or ()) == 2
    came = "Share that had the outcome" if binary else "Share put into the right class"
    answer = answers.calibration(mine)
    table = pd.DataFrame({"Chance given": shown["expected"].round(3)})
    table[came] = (shown["cases"] / shown["count"]).round(3)
    show_figure(
        charts.calibration_dots(shown, "Chance given", came),
        f"Dots: chances given against what came true. {answer}",
        table,
        "calibration",
    )
    st.caption(answer)
    if len(shown) < len(mine):
        st.caption(f"{len(mine) - len(shown)} groups of few rows are not drawn.")


def _show_links(card: DatasetCard) -> None:
    run = state.current_run()
    if not run:
        nothing_yet("There are no phenotypes of these data yet.", "runs")
        return
    links = cache.fit(run).links
    if links is None or links.tables["links"].empty:
        notes = links.about.get("notes", ()) if links is not None else ()
        st.info(plain(" ".join(notes)) or "This result holds no links to the outcome.")
        return
    if made_for():
        st.warning(CIRCULAR)
    if len(card.classes) > 2:
        _show_matrix(card, links)
    else:
        _show_bars(card, links)


def _show_bars(card: DatasetCard, links: Experiment) -> None:
    table = links.tables["links"]
    answer = state.phrase(result_sentences.links(table))
    st.markdown(f"**{answer}**")
    about = state.phrase(HELP[state.wording()])
    if not links.about.get("interval"):
        about = f"{about.partition(' If the')[0].partition(' Whiskers')[0]} {OF_BEFORE}"
    st.caption(about.format(rows=plain(plural(card.mode_names[0]), 40)))
    names = experiments.phenotype_names()
    show_figure(
        charts.link_bars(table, names, state.label("link")),
        state.phrase(f"Bars to both sides: the link of each of {len(table)} phenotypes. {answer}"),
        _link_table(table, names, result_sentences.link_ends(links)),
        "links_to_outcome",
    )


def _show_matrix(card: DatasetCard, links: Experiment) -> None:
    """Several classes: all links at once; the numbers in a table of their own."""
    table, names = links.tables["links"], experiments.phenotype_names()
    classes = [str(name) for name in table["class"].unique()]
    answer = result_sentences.class_links(table, names)
    answer = state.vocabulary().phrase_around(answer, *classes, *names.values())
    st.markdown(f"**{plain(answer, 1000)}**")
    st.caption(
        state.phrase(
            "Each line is one phenotype, each column one class. Warm colours: the phenotype "
            "speaks for the class; blue: against it. Links without a number are unclear."
        )
    )
    ends = result_sentences.link_ends(links)
    show_figure(
        charts.link_matrix(table, names, classes, state.label("link")),
        state.phrase(f"Squares: how phenotypes speak for {len(classes)} classes."),
        _link_table(table, names, ends, classes=True),
        "links_to_outcome",
    )


def _link_table(
    table: pd.DataFrame, names: dict[str, str], ends: tuple[str, str], classes: bool = False
) -> pd.DataFrame:
    order = table.sort_values("weight", ascending=False)
    words = [
        state.label("towards" if weight > 0 else "away" if weight < 0 else "no_link")
        for weight in order["weight"]
    ]
    clear = ((order["low"] > 0) | (order["high"] < 0)).map({True: "clear", False: "unclear"})
    shown = {
        state.phrase("Phenotype"): order["phenotype"],
        "Name": [names.get(one, "") for one in order["phenotype"]],
        **({"Class": order["class"]} if classes else {}),
        "Direction": words,
        state.label("link"): order["weight"].round(3),
        ends[0]: order["low"].round(3),
        ends[1]: order["high"].round(3),
        "Certainty": clear.where(order["weight"] != 0, ""),
    }
    if state.wording() == "scientist":
        shown["Folds with this direction"] = order["same_sign"].map("{:.0%}".format)
        shown["Folds that use it"] = order["chosen"].map("{:.0%}".format)
    return pd.DataFrame(shown)

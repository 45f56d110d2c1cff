"""Does it make clinical sense? One phenotype at a time, judged before the model's link is seen."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.fit_summary import fit_summary, link_words, resolve_phenotype
from dashboard.session.state import Key
from dashboard.store.reviews import Agreement, Review, agreement_of
from dashboard.text.display import clipped
from dashboard.text.wording import count_of
from dashboard.widgets.chooser import choose_phenotype
from dashboard.widgets.downloads import show_workbook
from dashboard.widgets.empty import nothing_yet
from dashboard.widgets.lineage import earlier_judgement
from dashboard.widgets.profiles import show_profiles
from dashboard.widgets.reviews_fault import show_reviews_fault
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError

VERDICTS = {"yes": "Yes", "possibly": "Possibly", "no": "No"}
PROBLEMS = {
    "": "None",
    "mixed": "Mixes several things",
    "duplicate": "Duplicate of another one",
    "artefact": "Artefact of how data were recorded",
}
BLANK: dict[str, Any] = {
    "name": "",
    "verdict": None,
    "problem": "",
    "duplicate_of": "",
    "confidence": 3,
    "comment": "",
}


def show() -> None:
    """Draw the page."""
    st.title("Review", anchor=False)
    summary = fit_summary()
    if summary is None or not summary.phenotypes:
        nothing_yet(
            "There are no phenotypes to judge yet: no run of this data set has finished.", "runs"
        )
        return
    unread = show_reviews_fault(summary.run)
    if not resolve_phenotype(summary):
        st.warning("The phenotype of this link is not in this result. Here is the first one.")
    _ask_for_name()
    _show_progress(summary, unread=unread)
    chosen = choose_phenotype(summary, list(summary.phenotypes), "review")
    st.header(plain(summary.title(chosen), 120), anchor=False)
    if chosen in summary.groups:
        st.caption(f"Suggested group: {summary.groups[chosen]}")
    show_profiles(summary, chosen, 1.0, "review")
    _offer_earlier(summary, chosen)
    _show_form(summary, chosen)
    _show_link(summary, chosen)
    if not unread:
        _show_all(summary)
    show_workbook(summary)


def _ask_for_name() -> None:
    """The sidebar may be closed on a small screen; a judgement needs a name."""
    if not state.reviewer():
        st.text_input(
            "Your name (saved with each judgement)",
            max_chars=60,
            width=420,
            **state.bind_widget(Key.REVIEWER, "", place="page"),
        )


def _mine(summary: FitSummary) -> dict[str, Review]:
    me = state.reviewer()
    return {review.phenotype: review for review in summary.reviews if me and review.reviewer == me}


def _show_progress(summary: FitSummary, *, unread: bool) -> None:
    judged, every = len(_mine(summary)), len(summary.phenotypes)
    if not unread:
        st.progress(judged / every, text=f"{judged} of {every} judged by you")
    trouble, saved = state.get(Key.TROUBLE, ""), state.get(Key.SAVED_AT, 0.0)
    if trouble:
        st.error(plain(trouble, 300))
    if sentence := state.get(Key.WORKBOOK_SAVED, ""):
        st.success(sentence)
        state.forget(Key.WORKBOOK_SAVED)
    if not trouble and _drafts(summary):
        st.caption(f"Not saved yet: {', '.join(_drafts(summary))}.")
    elif not trouble and saved:
        st.success(f"All saved {time.strftime('%H:%M', time.localtime(saved))}")


def _draft(summary: FitSummary, identifier: str) -> dict[str, Any]:
    """What was typed about a phenotype since it was saved."""
    return state.get(Key.DRAFT, {}).get((summary.run, identifier), {})


def _keep_draft(summary: FitSummary, identifier: str, draft: dict[str, Any]) -> None:
    every = state.get(Key.DRAFT, {})
    state.set(Key.DRAFT, {**every, (summary.run, identifier): draft})


def _stored(summary: FitSummary, identifier: str) -> dict[str, Any]:
    """What I saved of a phenotype, or a blank form."""
    saved = _mine(summary).get(identifier)
    return BLANK if saved is None else {name: getattr(saved, name) for name in BLANK}


def _filled(summary: FitSummary, identifier: str) -> dict[str, Any]:
    """What stands in the form, saved or not."""
    return _stored(summary, identifier) | _draft(summary, identifier)


def _drafts(summary: FitSummary) -> list[str]:
    return [each for each in summary.phenotypes if _filled(summary, each) != _stored(summary, each)]


def _offer_earlier(summary: FitSummary, chosen: str) -> None:
    """What I said of it before it was changed, to be put into the form; saving it is for me."""
    if chosen in _mine(summary) or _draft(summary, chosen):
        return
    earlier = earlier_judgement(summary, chosen, state.reviewer())
    if earlier is None:
        return
    said = f": {plain(earlier.review.name, 80)}" if earlier.review.name else ""
    st.info(
        f"This was {plain(earlier.title, 80)} (similarity {earlier.similarity:.2f}). You judged it "
        f"*{VERDICTS[earlier.review.verdict]}*{said}. Does that still hold?"
    )
    filled = {name: getattr(earlier.review, name) for name in BLANK}
    if earlier.review.problem == "duplicate":  # of one that may be another now
        filled |= {"problem": "", "duplicate_of": ""}
    st.button(
        "Take over the judgement",
        key="take_over",
        on_click=_keep_draft,
        args=(summary, chosen, filled),
    )


def _show_form(summary: FitSummary, chosen: str) -> None:
    """Plain widgets, not a form: what is typed is kept on leaving the field, also unsaved."""
    filled = _filled(summary, chosen)
    with st.container(border=True):
        _show_fields(summary, chosen, filled)
        missing = _missing(filled)
        st.button(
            "Save and next",
            type="primary",
            key="save",
            shortcut="Ctrl+Enter",
            disabled=bool(missing),
            on_click=_save,
            args=(summary, chosen),
        )
        if missing:
            st.caption(f"Before saving, {missing}.")


def _show_fields(summary: FitSummary, chosen: str, filled: dict[str, Any]) -> None:
    def field(name: str) -> dict[str, Any]:
        def typed(value: Any) -> None:
            _keep_draft(summary, chosen, {**_draft(summary, chosen), name: value})

        place = f"{summary.run}.{chosen}.{name}"
        return state.bind_widget(Key.DRAFT, filled[name], typed, place=place)

    hint = "what you would call it"
    st.text_input("Clinical name", max_chars=120, placeholder=hint, **field("name"))
    st.segmented_control(
        "Is it clinically meaningful?",
        list(VERDICTS),
        format_func=VERDICTS.__getitem__,
        **field("verdict"),
    )
    st.selectbox("Problem", list(PROBLEMS), format_func=PROBLEMS.__getitem__, **field("problem"))
    if filled["problem"] == "duplicate":
        others = ["", *(each for each in summary.phenotypes if each != chosen)]
        st.selectbox(
            "Duplicate of",
            others,
            **field("duplicate_of"),
            format_func=lambda each: clipped(summary.title(each), 80) if each else "Choose one",
        )
    sure = "How sure are you? (1 = guessing, 5 = certain)"
    st.select_slider(sure, [1, 2, 3, 4, 5], **field("confidence"))
    st.text_area("Comment", max_chars=2000, height=90, **field("comment"))


def _missing(filled: dict[str, Any]) -> str:
    """What a judgement still needs, in words."""
    if not state.reviewer():
        return "give your name"
    if filled["verdict"] is None:
        return "say whether it is meaningful"
    if filled["problem"] == "duplicate" and not filled["duplicate_of"]:
        return "choose the phenotype that it duplicates"
    return ""


def _save(summary: FitSummary, chosen: str) -> None:
    """Store the judgement; the store alone decides whether it is saved."""
    values = _filled(summary, chosen)
    if values["problem"] != "duplicate":
        values["duplicate_of"] = ""
    if _missing(values):
        return
    component = summary.phenotypes[chosen].component
    review = Review(
        run=summary.run,
        phenotype=chosen,
        reviewer=state.reviewer(),
        phenotype_digest=summary.fit.phenotype_digest(component),
        **values,
    )
    try:
        kept = cache.reviews().save(review)
    except (SwiftError, OSError) as error:
        state.set(Key.TROUBLE, f"This judgement could not be saved: {str(error).rstrip('.')}.")
        return
    state.set(Key.TROUBLE, "")
    state.set(Key.SAVED_AT, kept.saved_at)
    _keep_draft(summary, chosen, {})
    state.choose(phenotype=_next(summary, chosen))


def _next(summary: FitSummary, chosen: str) -> str:
    """The next one not judged by me, going round; else simply the next."""
    order = list(summary.phenotypes)
    place = order.index(chosen)
    after = [*order[place + 1 :], *order[:place]]
    judged = {*_mine(summary), chosen}
    return next((each for each in after if each not in judged), after[0] if after else chosen)


def _show_link(summary: FitSummary, chosen: str) -> None:
    if not summary.links:
        return
    if chosen in _mine(summary):
        st.markdown(f"{state.label('link')}: {plain(link_words(summary, chosen), 80)}.")
    else:
        st.caption("The link to the outcome is shown once you have judged this phenotype.")


def _show_all(summary: FitSummary) -> None:
    """What everybody said, and how far they agree."""
    if not summary.reviews:
        st.caption("Nobody has judged this result yet.")
        return
    table = pd.DataFrame(
        [
            {
                "phenotype": review.phenotype,
                "reviewer": review.reviewer,
                "meaningful": review.verdict,
                "name": review.name,
                "problem": " ".join(filter(None, [review.problem, review.duplicate_of])),
                "sure": review.confidence,
                "comment": review.comment,
                "saved": time.strftime("%d %b %H:%M", time.localtime(review.saved_at)),
            }
            for review in sorted(summary.reviews, key=lambda one: (one.phenotype, one.reviewer))
        ]
    )
    st.header("All judgements", anchor=False)
    found = agreement_of(summary.reviews)
    st.markdown(
        f"{count_of(len(summary.reviews), 'judgement')} by "
        f"{count_of(found.reviewers, 'reviewer')}. {_agreement(found)}"
    )
    show_table(table, alt="All judgements of this result")
    download_csv(table, f"judgements_{summary.run[:8]}")


def _agreement(found: Agreement) -> str:
    if found.share is None:
        return ""
    kappa = "" if found.kappa is None else f", kappa {found.kappa:.2f}"
    return (
        f"They agree in {found.share:.0%} of the pairs of judgements on "
        f"{count_of(found.phenotypes, 'phenotype')}{kappa}."
    )

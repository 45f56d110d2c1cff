"""The form in which a reviewer judges one phenotype: drafts, keys, saving.

Plain widgets, not a Streamlit form: what is typed is kept on leaving the field, also unsaved. The
keys 1, 2, 3 and Ctrl+Enter are bound by :mod:`dashboard.server.front_page`, which finds the form by
the keys of its containers.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.review_file import ReviewsUnavailable
from dashboard.store.reviews import Review
from dashboard.text.display import clipped
from dashboard.widgets.lineage import earlier_judgement
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError

VERDICTS = {"yes": "Yes", "possibly": "Possibly", "no": "No"}
KEYS = {"yes": "1", "possibly": "2", "no": "3"}
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
    "confidence": None,
    "comment": "",
}


def mine(summary: FitSummary) -> dict[str, Review]:
    """What I saved, by phenotype."""
    me = state.reviewer()
    return {review.phenotype: review for review in summary.reviews if review.reviewer == me}


def unsaved(summary: FitSummary) -> list[str]:
    """The phenotypes of which something was typed and not saved."""
    drafts = _drafts(summary)
    return [
        name
        for name in summary.phenotypes
        if _filled(summary, name, drafts) != _saved(summary, name)
    ]


def show_form(summary: FitSummary, chosen: str) -> None:
    """The fields, and the button that saves."""
    filled = _filled(summary, chosen, _drafts(summary))
    with st.container(border=True, key="judgement"):
        _show_fields(summary, chosen, filled)
        st.button(
            "Save and next",
            type="primary",
            key="save",
            shortcut="Ctrl+Enter",
            on_click=_save,
            args=(summary, chosen, filled),
        )
        if trouble := state.get(Key.TROUBLE, ""):
            st.error(plain(trouble, 300))
        elif filled["verdict"] is None:
            st.caption("Keys: 1, 2, 3 for yes, possibly, no (outside of a text field).")
    _offer_earlier(summary, chosen)


def _show_fields(summary: FitSummary, chosen: str, filled: dict[str, Any]) -> None:
    def field(name: str) -> dict[str, Any]:
        def typed(value: Any) -> None:
            _keep_draft(summary, chosen, {**_drafts(summary).get(chosen, {}), name: value})

        return state.bind_widget(
            Key.DRAFT, filled[name], typed, place=_place(summary, chosen, name)
        )

    hint = "what you would call it"
    name_label = state.phrase("Clinical name")
    st.text_input(name_label, max_chars=120, placeholder=hint, **field("name"))
    with st.container(key="verdicts"):
        st.segmented_control(
            state.phrase("Is it clinically meaningful?"),
            list(VERDICTS),
            format_func=lambda each: f"{VERDICTS[each]} ({KEYS[each]})",
            required=True,  # a second press of the same key takes nothing back
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
    sure = "How sure are you? (1 = guessing, 5 = certain; optional)"
    st.segmented_control(sure, [1, 2, 3, 4, 5], **field("confidence"))
    st.text_area("Comment", max_chars=2000, height=68, **field("comment"))


def _place(summary: FitSummary, chosen: str, name: str) -> str:
    return f"{summary.run}.{chosen}.{name}"


def _drafts(summary: FitSummary) -> dict[str, dict[str, Any]]:
    """What was typed since it was saved, by phenotype; of this session if the disk refused it."""
    mark = (summary.run, state.reviewer())
    try:
        kept = cache.rounds().drafts(*mark)
    except ReviewsUnavailable:
        kept = {}
    return {**kept, **state.get(Key.DRAFT, {}).get(mark, {})}


def _keep_draft(summary: FitSummary, chosen: str, draft: dict[str, Any]) -> None:
    """In the session, and in the store, where a reload finds it; a disk may refuse the latter."""
    mark = (summary.run, state.reviewer())
    every = state.get(Key.DRAFT, {})
    state.set(Key.DRAFT, {**every, mark: {**every.get(mark, {}), chosen: draft}})
    if not mark[1]:
        return
    try:
        cache.rounds().keep_draft(*mark, chosen, draft)
    except (SwiftError, OSError) as error:
        said = str(error).rstrip(".")
        state.set(Key.TROUBLE, f"What you type would not survive a reload: {said}.")


def _saved(summary: FitSummary, chosen: str) -> dict[str, Any]:
    """What I saved of a phenotype, or a blank form."""
    saved = mine(summary).get(chosen)
    return BLANK if saved is None else {name: getattr(saved, name) for name in BLANK}


def _filled(summary: FitSummary, chosen: str, drafts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What stands in the form, saved or not."""
    return _saved(summary, chosen) | drafts.get(chosen, {})


def _missing(filled: dict[str, Any]) -> str:
    """What a judgement still needs, in words."""
    if filled["verdict"] is None:
        return "say whether it is meaningful (keys 1, 2, 3)"
    if filled["problem"] == "duplicate" and not filled["duplicate_of"]:
        return "choose the phenotype that it duplicates"
    return ""


def _save(summary: FitSummary, chosen: str, filled: dict[str, Any]) -> None:
    """Store the judgement; the store alone decides whether it is saved.

    The fields are asked themselves: the last of them may have been left by the press that saves.
    """
    values = {
        name: state.widget_value(f"w.{Key.DRAFT}.{_place(summary, chosen, name)}", value)
        for name, value in filled.items()
    }
    if values["problem"] != "duplicate":
        values["duplicate_of"] = ""
    if missing := _missing(values):
        state.set(Key.TROUBLE, state.phrase(f"Before saving, {missing}."))
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
        cache.reviews().save(review)
    except (SwiftError, OSError) as error:
        state.set(Key.TROUBLE, f"This judgement could not be saved: {str(error).rstrip('.')}.")
        return
    state.set(Key.TROUBLE, "")
    _keep_draft(summary, chosen, {})
    state.choose(phenotype=next_open(summary, chosen))


def next_open(summary: FitSummary, chosen: str = "") -> str:
    """The next one not judged by me, going round; the same if there is none.

    ``chosen`` has just been judged; without it the first one not judged.
    """
    order, judged = list(summary.phenotypes), {*mine(summary), chosen}
    place = order.index(chosen) if chosen else -1
    after = [*order[place + 1 :], *order[: max(place, 0)]]
    return next((each for each in after if each not in judged), chosen or order[0])


def _offer_earlier(summary: FitSummary, chosen: str) -> None:
    """What I said of it before it was changed, to be put into the form; saving it is for me."""
    if chosen in mine(summary) or _drafts(summary).get(chosen):
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

"""After the round: how far reviewers agree, where they differ, what is agreed, and the history."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.store.agreement import Vote, agreement_of, disagreements, votes_on
from dashboard.store.reviews import MAX_LENGTH, Review
from dashboard.store.rounds import Settlement
from dashboard.text.agreement_words import agreement_sentences
from dashboard.text.display import clipped
from dashboard.text.wording import count_of
from dashboard.widgets.judgement import VERDICTS
from dashboard.widgets.phenotype_card import show_card
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.errors import SwiftError


def show_agreement(summary: FitSummary) -> None:
    """How far the reviewers agree, and who is still at work."""
    st.header("Agreement", anchor=False)
    found = agreement_of(summary.reviews)
    numbers = (found.share, found.chance, found.kappa)
    st.markdown(state.phrase(agreement_sentences(*numbers, found.reviewers, found.phenotypes)))
    closed = cache.rounds().closed(summary.run)
    at_work = sorted({one.reviewer for one in summary.reviews} - set(closed))
    if at_work:
        names = ", ".join(plain(name, 60) for name in at_work)
        st.caption(f"Round still open, so judgements may change: {names}.")


def show_disagreements(summary: FitSummary) -> None:
    """What is still to be settled, by vote where one wins, else by an arbiter."""
    st.header("Disagreements", anchor=False)
    if trouble := state.get(Key.TROUBLE, ""):
        st.error(plain(trouble, 300))
    differing = disagreements(summary.reviews)
    todo = [vote for vote in differing if vote.phenotype not in summary.settled]
    if not differing:
        said = "The reviewers do not differ on any phenotype that two of them judged."
        st.success(state.phrase(said))
        return
    if not todo:
        count = count_of(len(differing), "disagreement")
        st.success(f"All settled: {count}. The report and every page show what was agreed.")
    else:
        st.markdown(f"{len(todo)} of {len(differing)} still to settle.")
    show_table(_differing(summary, differing), state.phrase("Phenotypes on which reviewers differ"))
    by_vote = [vote for vote in todo if vote.is_decided]
    if by_vote:
        st.button(
            f"Settle {count_of(len(by_vote), state.vocabulary().finding)} by vote",
            key="settle.vote",
            on_click=_settle,
            args=(summary, [(vote.phenotype, vote.verdict, vote.name, "") for vote in by_vote]),
        )
    _show_arbiter(summary, [vote.phenotype for vote in [*todo, *differing]])


def show_said(summary: FitSummary) -> None:
    """Every judgement, and how each came about."""
    st.header("All judgements", anchor=False)
    if not summary.reviews:
        st.caption("Nobody has judged this result yet.")
        return
    table = judgement_table(summary.reviews)
    show_table(table, alt="All judgements of this result")
    download_csv(table, f"judgements_{summary.run[:8]}")
    box = st.expander(
        "History: who said what, when, and what before", key="history", on_change="rerun"
    )
    if box.open:
        with box:
            history = _history(summary)
            show_table(history, alt="Every judgement and settlement, oldest first")
            download_csv(history, f"history_{summary.run[:8]}")


def judgement_table(reviews: list[Review]) -> pd.DataFrame:
    """One row per judgement."""
    return pd.DataFrame(
        [
            {
                state.vocabulary().finding: review.phenotype,
                "reviewer": review.reviewer,
                "meaningful": review.verdict,
                "name": review.name,
                "problem": " ".join(filter(None, [review.problem, review.duplicate_of])),
                "sure": "" if review.confidence is None else str(review.confidence),
                "comment": review.comment,
                "saved": _when(review.saved_at),
            }
            for review in sorted(reviews, key=lambda one: (one.phenotype, one.reviewer))
        ]
    )


def _differing(summary: FitSummary, differing: list[Vote]) -> pd.DataFrame:
    people = sorted({review.reviewer for review in summary.reviews})
    said = {(review.phenotype, review.reviewer): review for review in summary.reviews}
    rows = []
    for vote in differing:
        given = [said.get((vote.phenotype, who)) for who in people]
        settled = summary.settled.get(vote.phenotype)
        rows.append(
            {
                state.phrase("Phenotype"): vote.phenotype,
                "Differs in": "verdict" if len(vote.verdicts) > 1 else "name",
                **{
                    who: "" if one is None else ": ".join(filter(None, [one.verdict, one.name]))
                    for who, one in zip(people, given, strict=True)
                },
                "Agreed": "" if settled is None else _agreed(settled),
            }
        )
    return pd.DataFrame(rows)


def _agreed(one: Settlement) -> str:
    how = f"by {one.arbiter}" if one.arbiter else "by vote"
    return f"{': '.join(filter(None, [one.verdict, one.name]))} ({how})"


def _show_arbiter(summary: FitSummary, order: list[str]) -> None:
    """A named person decides what votes do not."""
    options = list(dict.fromkeys(order))
    kept = state.get(Key.SETTLING, "")
    chosen = kept if kept in options else options[0]
    vote = votes_on(summary.reviews)[chosen]
    mark = (summary.run, chosen)
    start = {"verdict": vote.verdict or None, "name": vote.name or next(iter(vote.names), "")}
    decision = start | state.get(Key.DECISION, {}).get(mark, {})

    def field(name: str) -> dict[str, Any]:
        def chose(value: Any) -> None:
            every = state.get(Key.DECISION, {})
            state.set(Key.DECISION, {**every, mark: {**every.get(mark, {}), name: value}})

        place = f"{summary.run}.{chosen}.{name}"
        return state.bind_widget(Key.DECISION, decision[name], chose, place=place)

    with st.container(key="side-by-side"):
        card, form = st.columns([0.63, 0.37], gap="medium")
    with card:
        show_card(summary, chosen)
    with form, st.container(border=True):
        st.markdown("**Settle by an arbiter**")
        st.selectbox(
            state.phrase("Phenotype to settle"),
            options,
            format_func=lambda each: clipped(summary.title(each), 60),
            **state.bind_widget(Key.SETTLING, chosen),
        )
        st.segmented_control(
            "Agreed verdict",
            list(VERDICTS),
            format_func=VERDICTS.__getitem__,
            required=True,
            **field("verdict"),
        )
        st.text_input("Agreed name", max_chars=120, **field("name"))
        arbiter = st.text_input(
            "Arbiter", max_chars=60, **state.bind_widget(Key.ARBITER, state.get(Key.ARBITER, ""))
        )
        ready = bool(decision["verdict"]) and bool(arbiter.strip())
        st.button(
            "Settle it",
            key="settle.arbiter",
            type="primary",
            disabled=not ready,
            on_click=_settle,
            args=(summary, [(chosen, decision["verdict"], decision["name"], arbiter.strip())]),
        )
        if not ready:
            st.caption("Choose a verdict and name the person who decides.")


def _settle(summary: FitSummary, decided: list[tuple[str, str, str, str]]) -> None:
    """Keep what was agreed: phenotype, verdict, name, arbiter."""
    agreed = [
        Settlement(
            summary.run,
            chosen,
            summary.fit.phenotype_digest(summary.phenotypes[chosen].component),
            verdict,
            name.strip()[: MAX_LENGTH["name"]],
            arbiter,
        )
        for chosen, verdict, name, arbiter in decided
    ]
    try:
        cache.rounds().agree_on(agreed)
    except (SwiftError, OSError) as error:
        state.set(Key.TROUBLE, f"This could not be settled: {str(error).rstrip('.')}.")
        return
    state.set(Key.TROUBLE, "")
    state.forget(Key.SETTLING)


def _history(summary: FitSummary) -> pd.DataFrame:
    """Every judgement and settlement with what the same person said before."""
    rows: list[dict[str, Any]] = []
    for name in summary.phenotypes:
        said: list[tuple[float, str, str]] = [
            (one.saved_at, one.reviewer, ": ".join(filter(None, [one.verdict, one.name])))
            for one in cache.reviews().history(summary.run, name)
        ]
        said += [
            (one.saved_at, "agreed", _agreed(one))
            for one in cache.rounds().settlements(summary.run, name)
        ]
        before: dict[str, str] = {}
        for when, who, what in sorted(said):
            rows.append(
                {
                    "When": _when(when),
                    state.phrase("Phenotype"): name,
                    "Who": who,
                    "Said": what,
                    "Before": before.get(who, ""),
                }
            )
            before[who] = what
    return pd.DataFrame(rows)


def _when(saved_at: float) -> str:
    return time.strftime("%d %b %Y %H:%M", time.localtime(saved_at))

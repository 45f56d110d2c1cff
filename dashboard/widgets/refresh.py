"""Parts of a page that look again by themselves while something is computed.

Every look of every open tab costs the server some milliseconds, so a tab looks only as often as
something new is to be expected; a hidden tab yet more seldom (``server.front_page``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.jobs import jobs
from dashboard.session import cache
from dashboard.store.cards import RunCard, RunState
from dashboard.widgets.guard import guarded

PACES = (2.0, 5.0, 10.0)  # seconds between two looks
QUEUED = 5.0  # a waiting run changes when another one ends; where there is none, within this time


def pace(runs: Sequence[RunCard], now: float | None = None) -> float:
    """Seconds between two looks at these runs: about one step of the quickest of them.

    Parameters
    ----------
    now : float, optional
        The pace they have; it stays unless it is wrong by a factor of two.
    """
    step = min((_step_seconds(run) for run in runs), default=PACES[-1])
    step = min(max(step, PACES[0]), PACES[-1])
    if now is not None and now / 2 < step < now * 2:
        return now
    return max(each for each in PACES if each <= step)


def _step_seconds(run: RunCard) -> float:
    if run.state is RunState.QUEUED:
        return QUEUED if time.time() - run.created > QUEUED else PACES[0]
    done = float((run.progress or {}).get("done") or 0)
    return run.seconds / done if done else PACES[0]


def follow(draw: Callable[[list[RunCard]], None], watched: Sequence[str] | None = None) -> None:
    """Draw active runs, look again at their pace, and draw the whole page when one has ended.

    Parameters
    ----------
    draw : callable
        Gets the active runs, in the order of the queue.
    watched : sequence of str, optional
        Ids of the runs that matter; without it all of them do, also those that come later.
    """
    active = _active(watched)
    ids, every = {run.id for run in active}, pace(active)

    def look() -> None:
        found = _active(watched)
        if {run.id for run in found} != ids or pace(found, every) != every:
            st.rerun()
        draw(found)

    if active:
        st.fragment(lambda: guarded(look), run_every=every)()


def _active(watched: Sequence[str] | None) -> list[RunCard]:
    return [run for run in jobs.active(cache.runs()) if watched is None or run.id in watched]

"""How much room the store takes, what goes first when it needs more, and how to back it up."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from dashboard.session import cache, state
from dashboard.store.budget import usage
from dashboard.store.cards import RunCard
from dashboard.store.keeping import is_kept, last_use, set_kept
from dashboard.text.disk import size_words
from dashboard.text.wording import count_of
from dashboard.widgets.guard import guarded
from dashboard.widgets.sidebar import run_title
from dashboard.widgets.tables import show_table
from dashboard.widgets.text import plain

MAX_LISTED = 20


def show_storage() -> None:
    """Sizes and the limit, the results that would be removed first, backups."""
    found = usage(cache.store(), cache.runs())
    share = min(1.0, found.used / found.limit)
    st.progress(share, text=f"{size_words(found.used)} of {size_words(found.limit)} used")
    st.caption(f"The disk has {size_words(found.free)} left. Folder: {plain(cache.store().root)}")
    sizes = pd.DataFrame(
        [(words, size_words(size)) for words, size in found.parts.items()],
        columns=["What", "Size"],
    )
    show_table(sizes, "What takes how much")
    _show_first_out(found.first_out, found.runs)
    _show_backup()


def keep_toggle(run: RunCard) -> None:
    """A run that is kept is never removed to make room."""
    key = f"keep.{run.id}"
    state.set_widget(key, is_kept(cache.store().root, run.id))

    def moved() -> None:
        kept = bool(state.widget_value(key))
        guarded(lambda: set_kept(cache.store().root, run.id, kept))

    st.toggle("Keep: never remove it to make room", key=key, on_change=moved)


def _show_first_out(first: tuple[RunCard, ...], sizes: dict[str, int]) -> None:
    st.markdown("**What goes first**")
    st.markdown(
        "When the limit is reached, results that can be computed again are removed, the one not "
        "looked at for longest first. Data sets, judgements, results with judgements and runs "
        "marked *Keep* (page Runs, History) are never removed."
    )
    if not first:
        st.info("Nothing would be removed now: all results are kept, judged or in use.")
        return
    root = cache.store().root
    table = pd.DataFrame(
        [
            {
                "Result": run_title(run),
                "Size": size_words(sizes.get(run.id, 0)),
                "Last used": time.strftime("%Y-%m-%d %H:%M", time.localtime(last_use(root, run))),
                "Id": run.id[:8],
            }
            for run in first[:MAX_LISTED]
        ]
    )
    show_table(table, f"{count_of(len(first), 'result')} in the order in which they would go")


def _show_backup() -> None:
    st.markdown("**Backup**")
    st.markdown(
        "`swift backup FILE` writes data sets, results and judgements into one file, also while "
        "this page is open; `swift restore FILE` brings them back. The file holds the data "
        "themselves: keep it as safe as them."
    )
    newest = cache.reviews().copies.newest()
    if newest is None:
        st.caption("There is no copy of the judgements yet: nothing was judged.")
        return
    made = time.strftime("%d %b %Y %H:%M", time.localtime(newest.made))
    copies = count_of(len(cache.reviews().copies.paths()), "copy")
    st.caption(
        f"Judgements are copied at every change: {copies}, the newest of {made} with "
        f"{count_of(newest.judgements, 'judgement')}."
    )

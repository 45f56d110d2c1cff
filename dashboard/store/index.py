"""The cards of a store, kept in memory: a listing reads only what changed since the last one."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from dashboard.store.cards import DatasetCard, RunCard, is_id

Card = TypeVar("Card", DatasetCard, RunCard)
CHECKED = 16  # folders whose files are looked at again in each listing, by turns
FRESH = 1.0  # seconds for which the state of a live job is believed


@dataclass(frozen=True, eq=False)
class _Entry(Generic[Card]):
    """A card as it was read; ``mark`` and ``until`` say how long it holds."""

    card: Card | None
    mark: Hashable
    until: float


class CardIndex(Generic[Card]):
    """One reader for all sessions of a server.

    Finished folders never change by themselves, so a name that is still there keeps its card. In
    every listing a few of them are checked by turns, because somebody else may have changed their
    files: a small store is checked whole every time, a large one after some clicks.

    Parameters
    ----------
    marks : callable
        Gives the ids there are, each with a mark; a card is read again when its mark changes.
    read : callable
        Gives the card of an id, or None where there is nothing to show.
    holds : callable
        Whether the files of a card still look as the card says.
    order : callable
        The key by which cards are sorted.
    """

    def __init__(
        self,
        marks: Callable[[], Mapping[str, Hashable]],
        read: Callable[[str], Card | None],
        holds: Callable[[Card], bool],
        order: Callable[[Card], Any],
    ) -> None:
        self._marks, self._read, self._holds, self._order = marks, read, holds, order
        self._entries: dict[str, _Entry[Card]] = {}
        self._sorted: list[Card] = []
        self._turn = 0
        self._lock = threading.Lock()

    def cards(self) -> list[Card]:
        """All cards in order; whoever gets the list may keep it."""
        with self._lock:
            marks = self._marks()
            outdated = [*self._changed(marks), *self._wrong(list(marks))]
            gone = self._entries.keys() - marks.keys()
            for name in gone:
                del self._entries[name]
            for name in outdated:
                self._entries[name] = self._entry(name, marks[name])
            if gone or outdated:
                found = [entry.card for entry in self._entries.values() if entry.card is not None]
                self._sorted = sorted(found, key=self._order)
            return list(self._sorted)

    def _changed(self, marks: Mapping[str, Hashable]) -> list[str]:
        now, nothing = time.monotonic(), _Entry[Card](None, None, 0.0)
        known = ((name, mark, self._entries.get(name, nothing)) for name, mark in marks.items())
        return [name for name, mark, entry in known if entry.mark != mark or entry.until < now]

    def _wrong(self, names: list[str]) -> list[str]:
        """Of the next few, those whose files do not look as their card says."""
        first = self._turn if self._turn < len(names) else 0
        self._turn = first + CHECKED
        entries = {name: self._entries.get(name) for name in names[first : self._turn]}
        return [
            name
            for name, entry in entries.items()
            if entry is not None and entry.card is not None and not self._holds(entry.card)
        ]

    def _entry(self, name: str, mark: Hashable) -> _Entry[Card]:
        card = self._read(name)
        alive = isinstance(card, RunCard) and card.state.active
        return _Entry(card, mark, time.monotonic() + FRESH if alive else float("inf"))


def folder_ids(folder: Path) -> list[str]:
    """The names of folders in a folder that are ids."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if is_id(entry.name) and entry.is_dir()]


def run_marks(runs: Path, jobs: Path) -> dict[str, Hashable]:
    """Runs by whether there is a result; jobs without one by how their folder looks."""
    marks: dict[str, Hashable] = dict.fromkeys(folder_ids(runs), "result")
    for name in folder_ids(jobs):
        if name not in marks:
            try:
                stat = os.stat(jobs / name)
            except OSError:  # gone, or published in between: the next listing tells
                continue
            marks[name] = (stat.st_ino, stat.st_mtime_ns)
    return marks

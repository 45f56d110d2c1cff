"""How large the store may grow, and what goes first when it would grow larger.

Only results that the same request gives back are ever removed, the one not looked at for longest
first. Data, judgements and what a person marked stay, whatever the limit says.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dashboard.store.cards import RunCard, RunState
from dashboard.store.keeping import USED, is_kept, last_use
from dashboard.store.review_file import ReviewsUnavailable
from dashboard.store.reviews import Reviews
from dashboard.store.temporary import remove
from swiftcore.errors import InvalidSettings, SwiftError, refuse

if TYPE_CHECKING:
    from dashboard.store.store import Store

LIMIT_SETTING = "SWIFT_STORE_LIMIT"
DEFAULT_LIMIT = "20GB"
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SLACK = 1 << 16  # bytes that the notes about a result take
PARTS = {
    "datasets": "Data sets",
    "runs": "Results",
    "costs": "Similarities of features",
    "parts": "Unfinished computations",
    "uploads": "Files handed over in the last day",
    "review-copies": "Copies of the judgements",
}
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Usage:
    """What the store takes of the disk.

    Attributes
    ----------
    used, limit, free : int
        Bytes; ``free`` is what the disk has left.
    parts : dict of str to int
        What takes how much, by words.
    runs : dict of str to int
        The size of every result.
    first_out : tuple of RunCard
        Results that would be removed to make room, in this order.
    """

    used: int
    limit: int
    free: int
    parts: dict[str, int]
    runs: dict[str, int]
    first_out: tuple[RunCard, ...]


def parse_size(text: str) -> int:
    """Bytes from words like 20GB or 500 MB; raises InvalidSettings."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]B)\s*", text.upper())
    size = int(float(found[1]) * UNITS[found[2]]) if found else 0
    if size <= 0:
        raise refuse(
            "store-limit",
            "This is no size",
            "the limit of the store",
            repr(text)[:40],
            f"Give a number with its unit, for example {DEFAULT_LIMIT}.",
            kind=InvalidSettings,
        )
    return size


def store_limit() -> int:
    """The bytes that the store may take."""
    return parse_size(os.environ.get(LIMIT_SETTING, "") or DEFAULT_LIMIT)


def can_be_computed_again(card: RunCard, datasets: Container[str], results: Container[str]) -> bool:
    """Whether the same request, asked now, gives this very result back.

    A refit is whole in itself, but only the result it began as gives it back.
    """
    known = card.state is RunState.DONE and card.dataset in datasets
    began = not card.request.guidance or card.request.run in results
    return known and began and card.request.key() == card.id


def removable(store: Store, cards: Iterable[RunCard]) -> list[RunCard]:
    """Results that may go to make room, the one not looked at for longest first."""
    every = list(cards)
    datasets = {card.id for card in store.datasets() if not card.damaged}
    results = {card.id for card in every if card.state is RunState.DONE and not card.damaged}
    in_use = {card.request.run for card in every if card.state.active or card.request.guidance}
    try:
        reviewed = Reviews(store.root).reviewed_runs()
    except ReviewsUnavailable:  # any of them may be judged
        reviewed = {card.id for card in every}
    spared = in_use | reviewed
    free = [
        card
        for card in every
        if can_be_computed_again(card, datasets, results)
        and card.id not in spared
        and not is_kept(store.root, card.id)
    ]
    return sorted(free, key=lambda card: (last_use(store.root, card), card.id))


def usage(store: Store, cards: Iterable[RunCard]) -> Usage:
    """What takes how much, and what would go first."""
    parts = {words: folder_size(store.root / name) for name, words in PARTS.items()}
    used = folder_size(store.root)
    parts["Judgements and the rest"] = max(0, used - sum(parts.values()))
    sizes = {card.id: folder_size(store.root / "runs" / card.id) for card in cards}
    first = tuple(removable(store, cards))
    return Usage(used, store_limit(), _free(store.root), parts, sizes, first)


def make_room(store: Store, needed: int) -> list[RunCard]:
    """Remove results until so many bytes more fit into the limit and on the disk.

    What cannot be removed stays, and so may the store above its limit: a result that took hours
    is worth more than a round number. Returns what was removed.
    """
    gone: list[RunCard] = []
    try:
        if _lacking(store, needed) > 0:
            with store.lock():
                for card in removable(store, store.runs()):
                    if _lacking(store, needed) <= 0:
                        break
                    _remove(store, card)
                    gone.append(card)
    except (SwiftError, OSError) as error:
        logger.warning("No room was made: %s", error)
    return gone


def folder_size(folder: Path) -> int:
    """Bytes of all files below a folder; of one that is not there, none."""
    total = 0
    try:
        for entry in os.scandir(folder):
            if entry.is_dir(follow_symlinks=False):
                total += folder_size(Path(entry.path))
            else:
                total += entry.stat(follow_symlinks=False).st_size
    except (FileNotFoundError, NotADirectoryError):  # it went while we looked
        pass
    return total


def _lacking(store: Store, needed: int) -> int:
    over = folder_size(store.root) + needed - store_limit()
    return max(over, needed + SLACK - _free(store.root))


def _remove(store: Store, card: RunCard) -> None:
    """Take a result away; its job says when and why, and remembers what was asked."""
    job, day = store.job(card.id), time.strftime("%d %b %Y")
    if not job.exists:
        job.create(card.request, card.created, 1)
    job.note_end(
        RunState.REMOVED, f"Removed on {day} to make room. Computing it again gives it back."
    )
    for place in ("runs", "parts", USED):
        remove(store.root / place / card.id, store.temporary)


def _free(root: Path) -> int:
    disk = os.statvfs(root)
    return disk.f_bavail * disk.f_frsize

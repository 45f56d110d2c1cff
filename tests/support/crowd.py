"""Many people on one server: some in real Chromium pages, some by the bare protocol."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from browser.visitor import Visitor

from support.page_session import PageSession

PAGES = ("", "review", "patients", "prediction", "robustness", "data", "runs")
# Too many components to converge within the hour.
LONG_FIT = {"rank": 300, "max_iterations": 100_000, "tolerance": 0.0, "dtype": "float64"}
THINKING = (2.0, 8.0)  # seconds a person looks at a page before the next


@dataclass
class Walk:
    """What a crowd met: seconds of every page switch, and everything that went wrong."""

    switches: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def slowest(self, share: float = 0.95) -> float:
        """The time within which this share of the switches was done."""
        return float(np.quantile(self.switches, share))


def wander(
    sessions: Sequence[PageSession], visitors: Sequence[Visitor], seconds: float, seed: int = 0
) -> Walk:
    """Let everybody switch pages and think in between, all at the same time."""
    walk, until = Walk(), time.monotonic() + seconds
    people = [
        threading.Thread(target=_one_session, args=(session, walk, until, seed + number))
        for number, session in enumerate(sessions)
    ]
    for person in people:
        person.start()
    _visitors(visitors, walk, until, np.random.default_rng(seed))  # one thread drives Chromium
    for person in people:
        person.join()
    return walk


def _one_session(session: PageSession, walk: Walk, until: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    try:
        while time.monotonic() < until:
            walk.switches.append(session.open(str(rng.choice(PAGES))))
            session.idle(min(rng.uniform(*THINKING), max(0.1, until - time.monotonic())))
    except Exception as error:  # whatever it is, it goes into the list that the test reads
        walk.errors.append(f"{type(error).__name__}: {error}")
    walk.errors += session.errors


def _visitors(
    visitors: Sequence[Visitor], walk: Walk, until: float, rng: np.random.Generator
) -> None:
    due = dict.fromkeys(range(len(visitors)), 0.0)
    while due and (now := time.monotonic()) < until:
        number = min(due, key=due.__getitem__)
        time.sleep(max(0.0, min(due[number], until) - now))
        visitor = visitors[number]
        link = visitor.page.get_by_test_id("stTopNavLink")
        place = int(rng.integers(link.count()))
        title = link.nth(place).inner_text().strip()
        began = time.perf_counter()
        link.nth(place).click()
        visitor.page.wait_for_function(DRAWN, arg=title, polling=20)
        walk.switches.append(time.perf_counter() - began)
        due[number] = time.monotonic() + rng.uniform(*THINKING)
    for visitor in visitors:
        walk.errors += visitor.errors + visitor.outside


# The page of that title stands there, the script has ended, nothing of the page before is left.
DRAWN = """title => document.querySelector('h1')?.textContent.trim() === title
  && document.querySelector('[data-testid="stApp"]').dataset.testScriptState === 'notRunning'
  && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')"""

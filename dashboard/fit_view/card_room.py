"""How much a card lists at once, so that it stands whole beside the list on one screen.

What is left out is never lost: the card says how many features are not listed, tables and files
have them all, and further covariates unfold. Heights are those of the card's style sheet, in
pixels at the usual size of type, on a window of 1400 by 900.
"""

from __future__ import annotations

from collections.abc import Sequence

MAX_FEATURES, FEWEST_FEATURES = 8, 2  # of one mode
MAX_LINES, FEWEST_LINES = 10, 3  # of what is known of the carriers
WHOLE = 574  # below a short name and the facts
SHORT, LONGER, ABOUT = 48, 23, 21  # letters of such a name; a second line; a line about it
HEAD, LINE, NOTE, GAP = 22, 19, 50, 8
ENDING = 185  # outcome rates and the most similar phenotypes
FEATURE, SECOND_LINE = 28, 15.5
LETTERS = 27  # of a feature's name that certainly stands on one line
COVARIATE, DIGITS = 18, 13  # the same of what is known of the carriers, and of its numbers


def room_below(name: str, *, about: bool) -> int:
    """What the name of a phenotype, and the line about it, leave for all that stands below."""
    return WHOLE - LONGER * (len(name) > SHORT) - ABOUT * about


def features_listed(names: Sequence[Sequence[str]], whole: int) -> list[int]:
    """How many features each mode lists, for their names in the order of the card.

    ``whole`` is what :func:`room_below` leaves. Two modes stand side by side: the more pairs
    there are, the less room has each.
    """
    pairs = (len(names) + 1) // 2
    below = ENDING if len(names) % 2 == 0 else HEAD + FEWEST_LINES * LINE
    room = (whole - below - pairs * GAP) / max(1, pairs) - HEAD - NOTE
    return [_fitting(each, room) for each in names]


def lines_listed(heights: Sequence[int], names: Sequence[Sequence[str]], whole: int) -> int:
    """How many covariates stand at once, for the lines that each needs.

    ``names`` are the features that each mode lists: what they leave is for the covariates.
    """
    tall = max((sum(map(_height, each)) for each in names), default=0.0)
    pairs = (len(names) + 1) // 2
    left = whole - pairs * (tall + HEAD + NOTE + GAP) - 2 * HEAD - LINE
    lines = min(MAX_LINES, max(FEWEST_LINES, int(left / LINE)))
    total = count = 0
    for height in heights:
        total += height
        if total > lines:
            break
        count += 1
    return max(1, count)


def _fitting(names: Sequence[str], room: float) -> int:
    """How many of the first names stand within so much room."""
    total, count = 0.0, 0
    for name in names[:MAX_FEATURES]:
        total += _height(name)
        if total > room and count >= FEWEST_FEATURES:
            break
        count += 1
    return count


def _height(name: str) -> float:
    return FEATURE + SECOND_LINE * (len(name) > LETTERS)


def lines_of(name: str, *numbers: str) -> int:
    """How many lines a covariate takes: its name two at the most, its numbers what they need."""
    tall = 2 if len(name) > COVARIATE else 1
    return max(tall, *(-(-len(one) // DIGITS) for one in numbers), 1)

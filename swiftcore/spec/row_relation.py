"""Between which rows mass may move: asked for in a spec, decided by the number of rows."""

from __future__ import annotations

from typing import NamedTuple

RELATIONS = ("auto", "dense", "neighbourhoods", "none")
# Up to so many rows auto compares every two of them. There an iteration takes about twice as
# long as with neighbourhoods; beyond, it grows with the square.
DENSE_ROWS = 4_000
NEIGHBOURHOOD = 500  # rows of a neighbourhood at most; all of a cut have the same size within 1
_MEANING = {
    "dense": "mass moves between any two rows",
    "neighbourhoods": f"mass moves within neighbourhoods of at most {NEIGHBOURHOOD} similar rows",
    "none": "no mass moves between rows",
}


class RowRelation(NamedTuple):
    """Between which rows mass moves in a fit.

    Attributes
    ----------
    kind : {"dense", "neighbourhoods", "none"}
    why : str
        What that means and who chose it, in one sentence; empty where there was no choice.
    """

    kind: str
    why: str


def resolved(asked: str, rows: int) -> RowRelation:
    """The relation that a fit of so many rows has; it hangs on nothing else."""
    return explained(_of_auto(rows) if asked == "auto" else asked, asked, rows)


def explained(kind: str, asked: str, rows: int) -> RowRelation:
    """A relation that a fit had, with its sentence."""
    reason = "as chosen"
    if asked == "auto" and kind == _of_auto(rows):
        bound = "at most" if kind == "dense" else "more than"
        reason = f"because there are {rows:,} rows, {bound} {DENSE_ROWS:,} (auto)"
    elif asked != kind:
        reason = "as its costs have it"
    return RowRelation(kind, f"{_MEANING[kind][0].upper()}{_MEANING[kind][1:]}, {reason}.")


def _of_auto(rows: int) -> str:
    return "dense" if rows <= DENSE_ROWS else "neighbourhoods"


def neighbourhoods_of(rows: int) -> int:
    """Into how many neighbourhoods so many rows are cut."""
    return max(1, -(-rows // NEIGHBOURHOOD))

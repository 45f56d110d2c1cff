"""What can be wrong with the input, said so that a person can fix it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar, overload


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: what it is, where, what was found, how to fix it.

    Attributes
    ----------
    code : str
        A stable name for the kind of problem, fit for tests and log search.
    what, where, found, cure : str
        The sentence parts a person reads.
    """

    code: str
    what: str
    where: str
    found: str
    cure: str

    def __str__(self) -> str:
        return f"{self.what} ({self.where}): found {self.found}. {self.cure}"


class SwiftError(ValueError):
    """Base of every refusal; carries all problems found, not only the first."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class InvalidData(SwiftError):
    """A tensor, a table or a file that cannot be used as it is."""


class InvalidCost(SwiftError):
    """A cost matrix that does not describe how far features are apart."""


class InvalidSettings(SwiftError):
    """A setting of the model outside the range in which it means anything."""


class NotEnoughMemory(SwiftError):
    """A fit that would need more memory than there is; refused before it starts."""


Refusal = TypeVar("Refusal", bound=SwiftError)


@overload
def refuse(code: str, what: str, where: str, found: str, cure: str) -> InvalidData: ...
@overload
def refuse(
    code: str, what: str, where: str, found: str, cure: str, kind: type[Refusal]
) -> Refusal: ...
def refuse(
    code: str, what: str, where: str, found: str, cure: str, kind: type[SwiftError] = InvalidData
) -> SwiftError:
    """The error for one problem, to be raised; by default data that cannot be used."""
    return kind(Problem(code, what, where, found, cure))


def where_list(places: Iterable[object], shown: int = 5) -> str:
    """The first few places of a fault, and how many more there are."""
    listed = [str(place) for place in places]
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more

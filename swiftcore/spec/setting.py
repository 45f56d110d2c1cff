"""One setting of a model: its default, its range and the words for it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swiftcore.errors import Problem
from swiftcore.runtime.ranges import MAX_WHOLE, is_real, shortened


@dataclass(frozen=True)
class Setting:
    """One setting: what it may be and how people are asked for it.

    Attributes
    ----------
    default : object
        Its type is the type of every value.
    help : str
        What it does, in one sentence.
    clinician, scientist : str
        What it is called in the two wordings.
    minimum : float, optional
        The smallest number allowed; ``above`` leaves out the minimum itself.
    maximum : float, optional
        The largest number allowed.
    choices : tuple of str
        The only texts allowed.
    words : tuple of str
        Texts allowed beside numbers.
    offered : tuple of two floats, optional
        The range a form offers.
    items : type
        For names with values: what each value is, a number or a text.
    in_form : bool
        Whether the dashboard asks for it.
    flag : str
        Its name on the command line, if that is not its own.
    in_every_key : bool
        Whether request keys name it even at its default. Settings added later leave the keys
        of earlier results as they are.
    """

    default: Any
    help: str
    clinician: str
    scientist: str
    minimum: float | None = None
    above: bool = False
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    offered: tuple[float, float] | None = None
    items: type = float
    in_form: bool = True
    flag: str = ""
    in_every_key: bool = False
    name: str = ""

    @property
    def option(self) -> str:
        """The command-line flag."""
        return f"--{(self.flag or self.name).replace('_', '-')}"

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return " or ".join(repr(choice) for choice in self.choices)
        if isinstance(self.default, bool):
            return "yes or no (True or False)"
        if isinstance(self.default, Mapping):
            return "names with numbers" if self.items is float else "names with texts"
        if not isinstance(self.default, int | float):
            return "text"
        kind = "a whole number" if isinstance(self.default, int) else "a finite number"
        limit = f" {'above' if self.above else 'of at least'} {self.minimum:g}"
        return (
            kind
            + (limit if self.minimum is not None else "")
            + (f" and at most {self.maximum:g}" if self.maximum is not None else "")
            + "".join(f", or {word!r}" for word in self.words)
        )

    def allows(self, value: Any) -> bool:
        """Whether a value may stand here; 10 may stand for 10.0."""
        if self.choices:
            return value in self.choices
        if isinstance(self.default, bool) or isinstance(value, bool):
            return isinstance(self.default, bool) and isinstance(value, bool)
        if isinstance(self.default, Mapping):
            fits = is_real if self.items is float else lambda one: isinstance(one, str)
            return isinstance(value, Mapping) and all(map(fits, value.values()))
        if not isinstance(self.default, int | float):
            return isinstance(value, str)
        if isinstance(value, str):
            return value in self.words
        if not is_real(value):
            return False
        if isinstance(self.default, int) and (value != int(value) or abs(value) > MAX_WHOLE):
            return False
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return bool((value > low if self.above else value >= low) and value <= high)

    def as_stored(self, value: Any) -> Any:
        """An allowed value in its one form, so that 10 and 10.0 are the same."""
        if isinstance(self.default, Mapping):
            return {str(name): self.items(value[name]) for name in sorted(value)}
        if isinstance(value, str) or isinstance(self.default, bool | str):
            return value
        return type(self.default)(value)

    def problem(self, value: Any) -> Problem:
        """What is wrong with a value that is not allowed."""
        return Problem(
            f"setting-{self.name}",
            "A setting is out of range",
            self.name,
            shortened(value),
            f"Give {self.wanted}.",
        )


def setting(default: Any, help: str, clinician: str, scientist: str, **more: Any) -> Any:
    """A field of :class:`ModelSpec` with all that is known about it."""
    about = {"setting": Setting(default, help, clinician, scientist, **more)}
    if isinstance(default, Mapping):
        return field(default_factory=lambda: dict(default), metadata=about, hash=False)
    return field(default=default, metadata=about)

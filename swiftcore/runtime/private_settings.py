"""Settings that only their owner may read: addresses, passwords, places of certificates."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swiftcore.errors import InvalidSettings, refuse

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""What things in such a file may be called."""


@dataclass(frozen=True)
class PrivateSettings:
    """A TOML file with one table for each thing that has a name.

    Attributes
    ----------
    variable : str
        Of the environment, for another place than the usual one.
    usual : str
        The usual place.
    holds : str
        What is in it, for people.
    example : str
        A line of it.
    """

    variable: str
    usual: str
    holds: str
    example: str

    def read(self) -> dict[str, Any]:
        """All of it; nothing when there is no file.

        Raises
        ------
        InvalidSettings
            When others can read the file, or it is no TOML.
        """
        path = Path(os.environ.get(self.variable) or self.usual).expanduser()
        try:
            with path.open("rb") as file:
                self._check_private(os.fstat(file.fileno()))
                return tomllib.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "no TOML"  # no secret of it
            raise self._unusable(why or "an error") from None

    def _check_private(self, status: os.stat_result) -> None:
        others = stat.S_IMODE(status.st_mode) & 0o077
        if others or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
            raise refuse(
                "settings-open",
                f"Others may read or write the file with {self.holds}",
                self.variable,
                f"mode {stat.S_IMODE(status.st_mode):04o}" if others else "another owner",
                "Make it yours alone: chmod 600.",
                kind=InvalidSettings,
            )

    def _unusable(self, found: str) -> InvalidSettings:
        return refuse(
            "settings-unreadable",
            f"The file with {self.holds} cannot be read",
            self.variable,
            found,
            f"Write [name] and below it lines such as {self.example}.",
            kind=InvalidSettings,
        )

"""Where a database is: known to the environment or to a private file, told to nobody.

An address holds a host, a user and perhaps a password. It never comes from the command line,
which other users of the machine can read, and never goes into a message, a log or a result;
people see the name of a connection.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swiftcore.errors import InvalidSettings, Problem, refuse
from swiftcore.runtime.private_settings import NAME, PrivateSettings

URL = "SWIFT_DATABASE_URL"
SETTINGS = "SWIFT_DATABASES"
USUAL_SETTINGS = "~/.config/swift-phenotyping/databases.toml"
FILE = PrivateSettings(
    SETTINGS, USUAL_SETTINGS, "the addresses of databases", 'host = "...", user = "..."'
)
FROM_ENVIRONMENT = "the environment"
KEYS = (  # of a named connection; the first ones as libpq calls them
    *("host", "port", "dbname", "user", "password", "passfile", "service"),
    *("sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"),
    "schema",
)
CURE = (
    f"Write postgresql: and put the address into {URL}, PG* or .pgpass; or write "
    f"postgresql:NAME for a connection of {USUAL_SETTINGS} (mode 0600)."
)
_DATABASE = re.compile(r"postgres(ql)?:(?P<name>.*)", re.IGNORECASE | re.DOTALL)
_ADDRESS = re.compile(
    r"(jdbc:)?[a-z0-9+]+:/+[^/]*@|jdbc:|postgres(ql)?:|.*\b(password|dbname|user|host)=",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Address:
    """One database: what people call it, and what only the driver may know.

    Attributes
    ----------
    name : str
        Of the connection; the only part that is ever shown.
    parameters : mapping of str to str
        For libpq.
    schema : str
        Where the tables are, if the settings say so.
    """

    name: str
    parameters: Mapping[str, str] = field(repr=False, default_factory=dict)
    schema: str = ""


def is_database(text: str) -> bool:
    """Whether a path given to a command means a database, or its address, and no file."""
    return bool(_ADDRESS.match(text)) and not Path(text).exists()


def find_address(text: str) -> Address:
    """The database that ``postgresql:`` or ``postgresql:NAME`` means.

    Raises
    ------
    InvalidSettings
        When the text is an address itself, or means nothing that was configured.
    """
    found = _DATABASE.fullmatch(text)
    name = found["name"] if found else "/"
    if not name:
        return _from_environment()
    if not NAME.fullmatch(name):
        raise refuse(
            "address-shown",
            "An address of a database does not belong on a command line, where others can read it",
            "the data",
            "more than postgresql: and a name",
            CURE,
            kind=InvalidSettings,
        )
    known = named_addresses()
    if name not in known:
        raise refuse(
            "connection-unknown",
            "There is no connection of this name",
            f"postgresql:{name}",
            f"configured: {', '.join(known) or 'none'}",
            f"Add it to {USUAL_SETTINGS}, or name one that is there.",
            kind=InvalidSettings,
        )
    return known[name]


def _from_environment() -> Address:
    url = os.environ.get(URL, "").strip()
    if url:
        return Address(FROM_ENVIRONMENT, {"conninfo": url})
    if any(name in os.environ for name in ("PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE")):
        return Address(FROM_ENVIRONMENT)
    raise refuse(
        "address-missing",
        "Nothing says where the database is",
        "postgresql:",
        f"neither {URL} nor PGHOST, PGSERVICE or PGDATABASE",
        f"Set {URL}, or write postgresql:NAME for a connection of {USUAL_SETTINGS}.",
        kind=InvalidSettings,
    )


def named_addresses() -> dict[str, Address]:
    """The connections of the settings file by name; none when there is no file.

    Raises
    ------
    InvalidSettings
        When others can read the file, or with everything in it that cannot be understood.
    """
    plain = FILE.read()
    problems = [problem for name, one in plain.items() for problem in _faults(name, one)]
    if problems:
        raise InvalidSettings(problems)
    return {name: _address(name, one) for name, one in plain.items()}


def _faults(name: str, plain: Any) -> list[Problem]:
    """What is wrong with one connection; no value is repeated."""
    where = f"connection {name}" if NAME.fullmatch(name) else "a connection"
    if not NAME.fullmatch(name) or not isinstance(plain, dict):
        return [
            Problem(
                "connection-name",
                "A connection cannot be understood",
                SETTINGS,
                "a name with other signs than letters, digits, - and _, or no table",
                "Write [name] and its settings below it.",
            )
        ]
    unknown = [key for key in plain if key not in KEYS]
    wrong = [key for key in KEYS if key in plain and not isinstance(plain[key], str | int)]
    found = [f"{len(unknown)} unknown settings"] if unknown else []
    found += [f"{key} is no text" for key in wrong]
    if not found:
        return []
    cure = f"Known are {', '.join(KEYS)}."
    return [Problem("connection-setting", "A setting is not known", where, ", ".join(found), cure)]


def _address(name: str, plain: Mapping[str, Any]) -> Address:
    texts = {key: str(value) for key, value in plain.items()}
    return Address(name, {k: v for k, v in texts.items() if k != "schema"}, texts.get("schema", ""))

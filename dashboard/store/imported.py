"""Results from elsewhere: under an id of their own, with a note of where they came from.

A request is answered by the result under its key. An imported result has another id, made
from its files, so it never answers a request: whoever asks for the same fit gets it computed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dashboard.store.verified_folder import SEAL
from dashboard.text.display import clipped
from swiftcore.errors import refuse
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import FLAG, listed, real, record, record_faults, text

ORIGIN = "origin.json"
SOURCE = "source"  # the column of a saved table that tells of an import
MAX_NAME = 120
MAX_STEPS = 20  # of the way of a result from store to store; the newest are kept
LAST_TIME = 7.2e9  # seconds since 1970: no result is from the 23rd century
TIME = real(0, LAST_TIME)
RELEASE = text(40, r"[\w.+-]*")
ID = text(32, "[0-9a-f]{32}")
_STEP = {
    "file": text(2 * MAX_NAME),
    "when": TIME,
    "run": ID,
    "version": RELEASE,
    "with_data": FLAG,
}


@dataclass(frozen=True)
class Origin:
    """Where an imported result came from.

    Attributes
    ----------
    file : str
        The name of the file as the person gave it, made fit to be looked at.
    when : float
        When it was imported, in seconds since 1970.
    run : str
        The id it had where it was computed.
    version : str
        Of the program that computed it, as the file says.
    with_data : bool
        Whether its data set came in the same file.
    earlier : tuple of Origin
        The imports before, newest first, if it was handed on.
    """

    file: str
    when: float
    run: str
    version: str
    with_data: bool
    earlier: tuple[Origin, ...] = ()

    @property
    def words(self) -> str:
        """``imported from fit.zip on 2026-03-01``; the file name is user text."""
        day = time.strftime("%Y-%m-%d", time.localtime(self.when))
        return f"imported from {self.file or 'a file'} on {day}"

    def sentence(self, what: str = "This result") -> str:
        """The same as a warning, with the imports before."""
        before = "".join(f"; before that {one.words}" for one in self.earlier)
        return f"{what} was {self.words}{before}. It was not computed here."


def imported_id(files: Mapping[str, bytes]) -> str:
    """32 hex digits of the files, whatever way they came; never the key of a request."""
    sha = hashlib.sha256(b"imported run 1\n")
    for name in sorted(set(files) - {ORIGIN, SEAL}):
        sha.update(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n".encode())
    return sha.hexdigest()[:32]


def new_origin(
    files: Mapping[str, bytes], file: str, run: str, version: str, *, with_data: bool
) -> Origin:
    """The note on a result that comes in now; where it was imported before is kept."""
    before = read_origin(files)
    earlier = () if before is None else (replace(before, earlier=()), *before.earlier)
    name = clipped(file.replace("\\", "/").rpartition("/")[2], MAX_NAME)
    return Origin(name, time.time(), run, version, with_data, earlier[: MAX_STEPS - 1])


def origin_bytes(origin: Origin) -> bytes:
    """The content of ``origin.json``: one line of the way per import, newest first."""
    steps = [asdict(replace(one, earlier=())) for one in (origin, *origin.earlier)]
    for step in steps:
        del step["earlier"]
    return json.dumps(steps).encode()


def read_origin(files: Mapping[str, bytes]) -> Origin | None:
    """Where a result came from; None if it was computed here.

    Raises
    ------
    InvalidData
        If the note is none.
    """
    if ORIGIN not in files:
        return None
    try:
        plain: Any = read_json(files[ORIGIN])
        if not listed(record(_STEP), MAX_STEPS).fits(plain) or not plain:
            faults = [*record_faults(plain[0], _STEP), "a way that is too long or empty"]
            raise ValueError(faults[0])
        newest, *before = (Origin(**step) for step in plain)
    except (LookupError, TypeError, ValueError) as error:
        raise refuse(
            "origin-file",
            "The note of where a result came from cannot be read",
            ORIGIN,
            str(error)[:200],
            "Import the result again.",
        ) from error
    return replace(newest, earlier=tuple(before))

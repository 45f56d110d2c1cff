"""What is noted beside every result: the request, when, how long, by which version."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dashboard.store.cards import RunCard, RunState
from dashboard.store.imported import ID, LAST_TIME, ORIGIN, RELEASE, TIME, read_origin
from dashboard.store.job_state import Job
from dashboard.store.request import Request
from swiftcore import __version__
from swiftcore.errors import InvalidData, refuse
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import Range, real, record_faults, text

RUN = "run.json"
DAMAGED = "The stored result was changed after it was written. Compute it again."
DAMAGED_IMPORT = "The stored result was changed after it was written. Import it again."
_FACTS = {
    "request": Range(lambda value: isinstance(value, dict), "a request"),
    "created": TIME,
    "ended": TIME,
    "seconds": real(0, LAST_TIME),
    "algorithm": RELEASE,
    "version": RELEASE,
}
_REQUEST = {
    "kind": text(40),
    "dataset": ID,
    "settings": Range(lambda value: isinstance(value, dict), "settings by name"),
    "run": Range(lambda value: value == "" or ID.fits(value), f"nothing, or {ID.words}"),
    "guidance": Range(lambda value: isinstance(value, list), "a list of steps"),
}
_LATER = ("guidance",)  # only refits have it


@dataclass(frozen=True)
class Facts:
    """When a result was asked for and done, how long it took, and by which versions."""

    created: float
    ended: float | None
    seconds: float
    algorithm: str
    version: str


NOTHING = Facts(0.0, None, 0.0, "", "")


def facts(request: Request, created: float, ended: float, seconds: float) -> dict[str, Any]:
    """The content of ``run.json``."""
    return {
        "request": request.plain(),
        "created": created,
        "ended": ended,
        "seconds": seconds,
        "algorithm": request.version,
        "version": __version__,
    }


def read_facts(content: bytes) -> tuple[Request, Facts]:
    """Request and facts from ``run.json``; raises InvalidData if it is none."""
    try:
        plain = read_json(content)
        asked = record_faults(plain["request"], _REQUEST, _LATER)
        faults = [*record_faults(plain, _FACTS), *asked]
        if faults:
            raise ValueError("; ".join(faults))
        created, ended, seconds = (float(plain[name]) for name in ("created", "ended", "seconds"))
        known = Facts(created, ended, seconds, plain["algorithm"], plain["version"])
        return Request.from_plain(plain["request"]), known
    except (LookupError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, InvalidData):
            raise
        raise refuse(
            "run-file",
            "The notes of a run cannot be read",
            RUN,
            f"{type(error).__name__}: {error}"[:300],
            "Compute it again.",
        ) from error


def done_card(folder: Path, *, damaged: bool) -> RunCard:
    """The card of a finished run; of a damaged one, as much as can still be read."""
    files = {
        name: (folder / name).read_bytes() for name in (RUN, ORIGIN) if (folder / name).is_file()
    }
    try:
        request, known = read_facts(files.get(RUN, b""))
        origin = read_origin(files)
    except InvalidData:
        request, known, origin, damaged = Request("fit", ""), NOTHING, None, True
    spoilt = DAMAGED if origin is None else DAMAGED_IMPORT
    return RunCard(
        folder.name,
        request.kind,
        request.dataset,
        request,
        RunState.DONE,
        known.created,
        known.ended,
        known.seconds,
        request.title,
        None,
        spoilt if damaged else RunState.DONE.value,
        damaged,
        origin,
    )


def job_card(run_id: str, job: Job) -> RunCard | None:
    """The card of a run without a result; None if its job cannot be read."""
    about = job.about()
    try:
        request, created = Request.from_plain(about["request"]), float(about["created"])
    except (InvalidData, KeyError, TypeError, ValueError):
        return None
    state, progress = job.state(), job.progress()
    seconds = float((progress or {}).get("seconds", 0.0))
    if state.state is RunState.RUNNING and progress:
        seconds = max(seconds, time.time() - float(progress["started"]))
    return RunCard(
        run_id,
        request.kind,
        request.dataset,
        request,
        state.state,
        created,
        state.ended,
        seconds,
        request.title,
        progress,
        state.message,
        False,
    )

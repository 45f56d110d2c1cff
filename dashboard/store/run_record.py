"""What is noted beside every result: the request, when, how long, by which version."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.store import results
from dashboard.store.cards import RunCard, RunState
from dashboard.store.job_state import Job
from dashboard.store.request import EXPERIMENTS, Request
from swiftcore import __version__
from swiftcore.errors import InvalidData, refuse

RUN = "run.json"
DAMAGED = "The stored result was changed after it was written. Compute it again."


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


def read_facts(content: bytes) -> tuple[Request, dict[str, Any]]:
    """Request and facts from ``run.json``; raises InvalidData if it is none."""
    try:
        plain = json.loads(content)
        times = {name: float(plain[name]) for name in ("created", "ended", "seconds")}
        return Request.from_plain(plain["request"]), {**times, "algorithm": plain["algorithm"]}
    except (LookupError, TypeError, ValueError) as error:
        if isinstance(error, InvalidData):
            raise
        raise refuse(
            "run-file",
            "The notes of a run cannot be read",
            RUN,
            f"{type(error).__name__}: {error}",
            "Compute it again.",
        ) from error


def done_card(folder: Path, *, damaged: bool) -> RunCard:
    """The card of a finished run; of a damaged one, as much as can still be read."""
    try:
        request, times = read_facts((folder / RUN).read_bytes())
    except (OSError, InvalidData):
        request, times, damaged = Request("fit", ""), {}, True
    return RunCard(
        folder.name,
        request.kind,
        request.dataset,
        request,
        RunState.DONE,
        times.get("created", 0.0),
        times.get("ended"),
        times.get("seconds", 0.0),
        request.title,
        None,
        DAMAGED if damaged else RunState.DONE.value,
        damaged,
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


def check_bundle(files: Mapping[str, bytes]) -> Request:
    """The request of a run from elsewhere, once its result can be read.

    Raises
    ------
    InvalidData
        If parts are missing, do not fit, or come from another version of the algorithm.
    """
    request, about = read_facts(files.get(RUN, b""))
    if about["algorithm"] != request.version:
        raise refuse(
            "bundle-version",
            "The run was made by another version of the algorithm",
            "the run bundle",
            f"version {str(about['algorithm'])[:20]!r}",
            "Compute it again with this version.",
        )
    if request.kind == "fit":
        results.read_fit(files, request.settings)
    elif request.kind in EXPERIMENTS:
        kind = results.read_experiment(files).kind
        if kind != request.kind:
            raise refuse(
                "bundle-kind",
                "The result is not what was asked for",
                "the run bundle",
                repr(kind)[:40],
                "Export the run again.",
            )
    else:
        results.read_projection(files)
    return request

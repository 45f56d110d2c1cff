"""``--data-dir``: the one name of the dashboard's store for every command that knows it."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from swiftcore.errors import InvalidSettings, refuse

USUAL_PLACE = ""  # --data-dir without a folder
USUAL = "$SWIFT_HOME, or ~/.swift-phenotyping"


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Where the store is, for a command that works on one."""
    where = f"the data folder of the dashboard (default {USUAL})"
    parser.add_argument("--data-dir", default=USUAL_PLACE, metavar="DIR", help=where)


def add_store_of_run(parser: argparse.ArgumentParser) -> None:
    """Where the store is, for a command that works on a folder or on a run."""
    words = f"the store with the run; without a folder: {USUAL}"
    parser.add_argument(
        "--data-dir", nargs="?", const=USUAL_PLACE, default=None, metavar="DIR", help=words
    )


def add_results(parser: argparse.ArgumentParser) -> None:
    """Where results go: files in a folder, the store of the dashboard, or both."""
    parser.add_argument("--out", type=Path, default=None, metavar="DIR", help="folder for files")
    parser.add_argument(
        "--data-dir",
        nargs="?",
        const=USUAL_PLACE,
        default=None,
        metavar="DIR",
        help="keep the result where the dashboard finds it, and take it from there if it is "
        f"known; without a folder: {USUAL}",
    )


def check_results(chosen: argparse.Namespace) -> None:
    """Raise :class:`InvalidSettings` if a result would be lost."""
    if chosen.out is None and chosen.data_dir is None:
        raise refuse(
            "no-place",
            "Say where the result shall go",
            "--out, --data-dir",
            "neither",
            "Give --out FOLDER for files, --data-dir for the dashboard, or both.",
            kind=InvalidSettings,
        )


def store_root(chosen: argparse.Namespace) -> Path:
    """The folder that ``--data-dir`` names."""
    from dashboard.store.store import default_root  # late: it is an extra

    given: str = chosen.data_dir
    return Path(given).expanduser().resolve() if given else Path(default_root())


def way_to_open(run: str, chosen: argparse.Namespace) -> str:
    """The command that shows a result of the store."""
    where = f" --data-dir {shlex.quote(chosen.data_dir)}" if chosen.data_dir else ""
    return f"swift open {run[:8]}{where}"

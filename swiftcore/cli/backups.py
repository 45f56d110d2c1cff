"""``swift backup`` and ``swift restore``: everything the dashboard keeps, as one file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.store_argument import add_data_dir, store_root

BACKUP = (
    "Write data sets, results and judgements of the dashboard into one private file. A running "
    "dashboard does not mind. The file holds patient data: keep it as safe as the data."
)
RESTORE = (
    "Bring a backup back. The whole file is checked first; what is in the data folder stays, and "
    "judgements are added where they are missing. Restore only backups of your own: a file from "
    "others can hold results that nobody computed."
)


def add_commands(commands: Any) -> None:
    """Both commands, each with a file and the data folder."""
    backup = commands.add_parser(
        "backup", help="all that the dashboard keeps, as one file", description=BACKUP
    )
    restore = commands.add_parser("restore", help="bring a backup back", description=RESTORE)
    backup.add_argument("file", type=Path, help="the backup to write; an older one is replaced")
    restore.add_argument("file", type=Path, help="a file written by swift backup")
    for command, run in ((backup, _backup), (restore, _restore)):
        add_data_dir(command)
        command.set_defaults(run=run)


def _backup(chosen: argparse.Namespace) -> int:
    check_dashboard()
    from dashboard.store.backup import write_backup  # late: it is an extra

    done = write_backup(store_root(chosen), chosen.file)
    size = chosen.file.stat().st_size / 1e6
    _print([f"Saved to {chosen.file} ({size:,.1f} MB): {_counts(done)}."])
    _print(f"Left out: {one}." for one in done.left_out)
    return 2 if done.left_out else 0


def _restore(chosen: argparse.Namespace) -> int:
    check_dashboard()
    from dashboard.store.restore import restore_backup  # late: it is an extra

    root = store_root(chosen)
    done = restore_backup(root, chosen.file)
    _print([f"Restored into {root}: {_counts(done)}."])
    if done.there:
        _print([f"{done.there:,} data sets and results were there already and stayed."])
    _print(done.notes)
    return 0


def _counts(done: Any) -> str:
    return f"{done.datasets:,} data sets, {done.runs:,} results, {done.judgements:,} judgements"


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")

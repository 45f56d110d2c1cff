"""The ``swift`` command: from data to phenotypes without writing a program."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from rich.markup import escape

from swiftcore.cli.data_argument import screen
from swiftcore.cli.extras import check_dashboard
from swiftcore.errors import SwiftError

# Which file has which commands: only that of the one asked for is loaded, so that reading tables
# neither waits for the compiler nor holds its memory.
MODULES = {
    "fit": ("fit",),
    "refit": ("refit",),
    "project": ("project",),
    "define": ("define", "match"),
    "experiments": ("evaluate", "noise", "ablate", "stability", "ranks"),
    "tune": ("tune",),
    "data_commands": ("data",),
    "open_run": ("open",),
    "backups": ("backup", "restore"),
}
ALL = frozenset(name for names in MODULES.values() for name in names)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 2 with the reasons on the screen, or 130 after Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["dashboard"]:
        return _dashboard(words[1:])
    try:
        chosen = _parser(next(iter(words), "")).parse_args(words)
        return int(chosen.run(chosen))
    except SwiftError as error:
        _show_problems(error)
    except OSError as error:
        where = escape(str(error.filename or "a file"))
        screen.print(f"[bold red]Cannot use {where}:[/] {escape(error.strerror or str(error))}.")
    except MemoryError:
        screen.print("[bold red]The memory ran out.[/] Use fewer rows or features.")
    except KeyboardInterrupt:
        screen.print("Left at once; finished parts of an experiment are kept.")
        return 130
    return 2


def _parser(asked: str) -> argparse.ArgumentParser:
    """With the one command that is asked for; with all of them if there is none of that name."""
    parser = argparse.ArgumentParser(
        prog="swift", description="Find phenotypes or topics in sparse nonnegative tensors."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module, names in MODULES.items():
        if asked in names or asked not in ALL:
            import_module(f"swiftcore.cli.{module}").add_commands(commands)
    commands.add_parser("dashboard", help="explore and judge phenotypes in the browser")
    return parser


def _dashboard(arguments: Sequence[str]) -> int:
    try:
        check_dashboard()
    except SwiftError as error:
        _show_problems(error)
        return 2
    from dashboard.launch import main as launch  # late: only this command needs its packages

    return int(launch(arguments) or 0)


def _show_problems(error: SwiftError) -> None:
    count = len(error.problems)
    screen.print(f"[bold red]{count} problem{'s' if count > 1 else ''}:[/]")
    for problem in error.problems:
        screen.print(f"  [bold]{problem.code}[/] {escape(str(problem))}", highlight=False)

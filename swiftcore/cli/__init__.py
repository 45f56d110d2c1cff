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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns 0, 2 with the reasons on the screen, or 130 after Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["dashboard"]:
        return _dashboard(words[1:])
    try:
        chosen = _parser().parse_args(words)
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="swift", description="Find phenotypes or topics in sparse nonnegative tensors."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    # late: the dashboard, which has a parser of its own, need not wait for the compiler
    fit, refit, project, define, experiments, tune, data, open_run, backups = (
        import_module(f"swiftcore.cli.{name}")
        for name in (
            *("fit", "refit", "project", "define", "experiments"),
            *("tune", "data_commands", "open_run", "backups"),
        )
    )
    fit.add_fit(commands.add_parser("fit", help="factorize a data set and describe its phenotypes"))
    refit.add_refit(commands)
    project.add_project(
        commands.add_parser("project", help="describe new rows by the phenotypes of a model")
    )
    define.add_define(commands.add_parser("define", help="a phenotype as a rule for other systems"))
    define.add_match(commands.add_parser("match", help="the rows that a definition finds"))
    experiments.add_experiments(commands)
    tune.add_tune(commands.add_parser("tune", help="choose the settings of a model for me"))
    data.add_data_commands(
        commands.add_parser("data", help="look at or build data sets from files")
    )
    commands.add_parser("dashboard", help="explore and judge phenotypes in the browser")
    open_run.add_open(commands)
    backups.add_backups(commands)
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

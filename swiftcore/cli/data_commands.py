"""``swift data inspect`` and ``swift data build``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from swiftcore.cli.data_argument import add_set, is_sample
from swiftcore.data.from_path.report import build_bundle, describe
from swiftcore.data.from_path.sandbox import inspect_path
from swiftcore.data.options import options_from_text
from swiftcore.data.samples import sample_folder


def add_data_commands(parser: argparse.ArgumentParser) -> None:
    """What can be done with files before any fit."""
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    inspect = actions.add_parser("inspect", help="what a file or folder is, and its problems")
    build = actions.add_parser("build", help="build a data set and save it as a bundle")
    for action in (inspect, build):
        action.add_argument("path", type=Path, help="file or folder")
        add_set(action)
    build.add_argument("--out", type=Path, required=True, help="the bundle to write")
    inspect.set_defaults(run=_inspect)
    build.set_defaults(run=_build)


def _inspect(chosen: argparse.Namespace) -> int:
    path = sample_folder(str(chosen.path)) if is_sample(str(chosen.path)) else chosen.path
    inspection = inspect_path(path, options_from_text(chosen.settings))
    sys.stdout.write(describe(inspection) + "\n")
    return 2 if inspection.problems else 0


def _build(chosen: argparse.Namespace) -> int:
    dataset, seal = build_bundle(chosen.path, chosen.out, options_from_text(chosen.settings))
    sys.stdout.write(f"{dataset!r}\nSaved to {chosen.out}, SHA-256 {seal}\n")
    return 0

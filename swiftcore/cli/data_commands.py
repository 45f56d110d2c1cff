"""``swift data inspect``, ``build``, ``options`` and ``generate``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.markup import escape

from swiftcore.cli.data_argument import add_set, is_sample, screen
from swiftcore.data.bundle import write_bundle
from swiftcore.data.databases.addresses import is_database
from swiftcore.data.databases.build import build_from_database
from swiftcore.data.databases.inspect_database import inspect_database
from swiftcore.data.from_path.report import as_json, build_bundle, describe, describe_rows
from swiftcore.data.from_path.sandbox import first_rows, inspect_path
from swiftcore.data.option_help import options_as_text
from swiftcore.data.options import BuildOptions, options_from_text
from swiftcore.data.out_of_core.build import build_shards
from swiftcore.data.out_of_core.database import MIN_MEMORY
from swiftcore.data.reading.findings import Findings
from swiftcore.data.samples import sample_folder
from swiftcore.data.shards.manifest import ENDING
from swiftcore.data.summary import DatasetSummary
from swiftcore.data.synthetic.ehr_shards import Request, generate_file
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.byte_size import byte_size

USUAL_MEMORY = "2GB"


def add_commands(commands: Any) -> None:
    """What can be done with files before any fit."""
    parser = commands.add_parser("data", help="look at or build data sets from files")
    actions = parser.add_subparsers(required=True, metavar="ACTION")
    inspect = actions.add_parser("inspect", help="what a file or folder is, and its problems")
    build = actions.add_parser("build", help="build a data set and save it as a bundle")
    for action in (inspect, build):
        action.add_argument("path", type=Path, help="file or folder, or postgresql: for a database")
        action.add_argument(
            "--schema", default="", help="of the tables, when the path is postgresql:"
        )
        add_set(action)
    build.add_argument(
        "--out",
        type=Path,
        required=True,
        help=f"the bundle to write; NAME{ENDING} counts tables of any size into row shards",
    )
    build.add_argument(
        "--memory",
        metavar="AMOUNT",
        help=f"keep to so much memory while counting into NAME{ENDING} ({USUAL_MEMORY})",
    )
    inspect.add_argument("--json", action="store_true", help="print the report as JSON")
    inspect.set_defaults(run=_inspect)
    build.set_defaults(run=_build)
    options = actions.add_parser("options", help="every setting of how files are read and built")
    options.set_defaults(run=_options)
    _add_generate(actions.add_parser("generate", help="make synthetic health records"))


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--patients", type=int, required=True, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--diagnoses", type=int, default=100, metavar="N", help="of them (100)")
    parser.add_argument("--medications", type=int, default=100, metavar="N", help="of them (100)")
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help=f"NAME{ENDING} (row shards, any size) or NAME.npz (one file)",
    )
    parser.add_argument(
        "--tables", type=Path, metavar="DIR", help="write the records as Parquet tables, too"
    )
    parser.set_defaults(run=_generate)


def _inspect(chosen: argparse.Namespace) -> int:
    path = sample_folder(str(chosen.path)) if is_sample(str(chosen.path)) else chosen.path
    options = options_from_text(chosen.settings)
    if is_database(str(path)):
        inspection = inspect_database(str(path), chosen.schema, options, _show_rows)
    else:
        early = () if chosen.json else first_rows(path, options)
        for preview in early:
            sys.stdout.write("\n".join(describe_rows(preview)) + "\n\n")
            sys.stdout.flush()
        inspection = inspect_path(path, options)
        inspection = replace(inspection, previews=()) if early else inspection
    shown = json.dumps(as_json(inspection), indent=1) if chosen.json else describe(inspection)
    sys.stdout.write(shown + "\n")
    return 2 if inspection.problems else 0


def _options(chosen: argparse.Namespace) -> int:
    sys.stdout.write(options_as_text() + "\n")
    return 0


def _build(chosen: argparse.Namespace) -> int:
    options = options_from_text(chosen.settings)
    if is_database(str(chosen.path)):
        return _build_from_database(chosen, options)
    if chosen.out.name.endswith(ENDING):
        return _build_shards(chosen, options)
    if chosen.memory:
        raise refuse(
            "memory-whole",
            "Only counting into shards keeps to an amount of memory",
            "--memory",
            f"--out {chosen.out.name}",
            f"Write NAME{ENDING}, or leave out --memory (--set limits.memory_mb=4096).",
            kind=InvalidSettings,
        )
    dataset, seal = build_bundle(chosen.path, chosen.out, options)
    sys.stdout.write(f"{dataset!r}\nSaved to {chosen.out}, SHA-256 {seal}\n")
    return 0


def _build_shards(chosen: argparse.Namespace, options: BuildOptions) -> int:
    memory = byte_size(chosen.memory or USUAL_MEMORY, MIN_MEMORY, "--memory")
    try:
        with screen.status("Looking at the tables") as status:

            def tell(words: str) -> None:
                status.update(escape(words))

            built = build_shards(chosen.path, chosen.out, options, memory, say=tell)
    except KeyboardInterrupt:
        screen.print("Stopped; nothing was written.")
        return 130
    return _saved(chosen.out, *built)


def _build_from_database(chosen: argparse.Namespace, options: BuildOptions) -> int:
    if chosen.out.name.endswith(ENDING):
        raise refuse(
            "database-shards",
            "A database is built into one file",
            "--out",
            chosen.out.name,
            "Write NAME.swift.npz.",
            kind=InvalidSettings,
        )
    dataset = build_from_database(str(chosen.path), chosen.schema, options, Findings(), _show_rows)
    seal = write_bundle(dataset, chosen.out)
    sys.stdout.write(f"{dataset!r}\nSaved to {chosen.out}, SHA-256 {seal}\n")
    return 0


def _show_rows(what: str, rows: int) -> bool:
    if screen.is_terminal:
        screen.print(f"{what}: {rows:,} rows read", end="   \r", highlight=False)
    return False


def _generate(chosen: argparse.Namespace) -> int:
    request = Request(chosen.patients, chosen.seed, chosen.diagnoses, chosen.medications)
    return _saved(chosen.out, *generate_file(request, chosen.out, chosen.tables))


def _saved(out: Path, summary: DatasetSummary, seal: str) -> int:
    sys.stdout.write("\n".join([*summary.sentences(), f"Saved to {out}, SHA-256 {seal}\n"]))
    return 0

"""What all commands share: the screen, where data come from, how they are named."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.option_help import settings_of_file
from swiftcore.data.options import options_from_text
from swiftcore.data.samples import load_sample, sample_folder, sample_names
from swiftcore.data.shards.reader import is_sharded
from swiftcore.errors import InvalidSettings, refuse

screen = Console(stderr=True)


def add_data(parser: argparse.ArgumentParser) -> None:
    """The data a command works on, and how to read them."""
    samples = " or ".join(sample_names())
    parser.add_argument("data", help=f"a sample ({samples}), a file or a folder")
    add_set(parser)


def add_set(parser: argparse.ArgumentParser) -> None:
    """How files are read."""
    parser.epilog = "swift data options lists every NAME with its values, default and an example."
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="how to read and build",
    )
    parser.add_argument(
        "--options",
        dest="settings",
        action=_FromFile,
        type=Path,
        metavar="FILE",
        help="a file of such settings (TOML); what is set after it goes before it",
    )
    parser.add_argument(
        "--yes",
        dest="settings",
        action="append_const",
        const="yes=yes",
        help="build also what looks doubtful",
    )


class _FromFile(argparse.Action):
    """Takes the settings of a file as if they had been typed."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        _flag: str | None = None,
    ) -> None:
        namespace.settings = [*namespace.settings, *settings_of_file(values)]


def load_data(name: str, settings: Sequence[str], *, new_rows: bool = False) -> Dataset:
    """A sample by its name, or the data set built from a path.

    Parameters
    ----------
    new_rows : bool
        Whether a finished model shall describe the rows.
    """
    if is_sample(name):
        if settings:
            raise refuse(
                "sample-settings",
                "A sample is built in one way only",
                name,
                f"--set {settings[0]}",
                f"Leave out --set, or read the files in {sample_folder(name)}.",
                kind=InvalidSettings,
            )
        return load_sample(name)
    if settings and is_sharded(Path(name)):
        raise refuse(
            "shards-settings",
            "A data set in shards is there as it was built",
            name,
            f"--set {settings[0]}",
            "Leave out --set, or build other shards from the tables: swift data build.",
            kind=InvalidSettings,
        )
    options = options_from_text(settings)
    return build_path(Path(name), options.for_new_rows() if new_rows else options)


def is_sample(name: str) -> bool:
    """Whether the name means a sample; a file of the same name goes first."""
    return name in sample_names() and not Path(name).exists()

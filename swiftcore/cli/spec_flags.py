"""Command-line flags for the settings of a model, derived from the spec."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from swiftcore.cli.cost_flags import read_cost_flags
from swiftcore.cli.data_argument import screen
from swiftcore.cost.outside.table_folder import read_tables
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import CATALOGUE, factorization, spec_for
from swiftcore.runtime.plain_json import read_json
from swiftcore.spec import SETTINGS, SPEC_VERSION, SPEC_VERSIONS, ModelSpec, Setting, renamed

REQUIRED = ("rank",)  # by a flag or in a file
COSTS = "costs"  # the folder beside a spec for the tables that it names


def add_spec(parser: argparse._ActionsContainer, without: Sequence[str] = ()) -> None:
    """A file with settings and one flag per setting; what neither says is as usual."""
    parser.add_argument(
        "--spec",
        type=Path,
        default=None,
        metavar="FILE",
        help="settings as JSON, as in spec.json of a fit; flags go before it",
    )
    for name, setting in SETTINGS.items():
        if name not in without:
            parser.add_argument(setting.option, dest=name, default=None, **_kind(setting))


def read_spec(chosen: argparse.Namespace) -> ModelSpec:
    """The spec that file and flags ask for; raises with everything that is wrong."""
    given = given_settings(chosen)
    for name in REQUIRED:
        if name not in given:
            raise refuse(
                f"{name}-missing",
                "A setting is missing that has no usual value",
                SETTINGS[name].option,
                "nothing",
                f"Give {SETTINGS[name].option}, or --spec with a file that names it.",
                kind=InvalidSettings,
            )
    return spec_for(given.pop("method", SETTINGS["method"].default), **given)


def given_settings(chosen: argparse.Namespace, without: Sequence[str] = ()) -> dict[str, Any]:
    """The settings that the file or flags name; their cost tables are then in ``cost_tables``.

    Parameters
    ----------
    without : sequence of str
        Settings that have no flag here.
    """
    names = [name for name in SETTINGS if name not in without]
    given = {name: getattr(chosen, name) for name in names if getattr(chosen, name) is not None}
    for name in given:
        if isinstance(SETTINGS[name].default, Mapping):
            given[name] = _read_pairs(given[name], SETTINGS[name])
    chosen.cost_tables = []
    if "mode_costs" in given:
        given["mode_costs"], chosen.cost_tables = read_cost_flags(given["mode_costs"])
    if chosen.spec is not None:
        given = {**_read_file(chosen.spec), **given}
        chosen.cost_tables += read_tables(chosen.spec.parent / COSTS)
    return given


def say_unused(chosen: argparse.Namespace, spec: ModelSpec) -> None:
    """Which of the flags that were given change nothing, and why; nothing if all of them do."""
    idle: dict[str, list[str]] = {}
    for name, setting in SETTINGS.items():
        if getattr(chosen, name, None) is not None and (why := _why_unused(name, spec)):
            idle.setdefault(why, []).append(setting.option)
    if idle:
        told = "; ".join(f"{', '.join(flags)} ({why})" for why, flags in idle.items())
        screen.print(f"Without effect here: {told}.", highlight=False, markup=False)


def _why_unused(name: str, spec: ModelSpec) -> str:
    """Why a setting changes nothing in a fit of a spec; empty if it does."""
    method = factorization(spec.method)
    if not method.uses(name) and name != "consensus":  # that one is refused
        return f"{method.title} has no use for this"
    if name == "consensus_rows" and spec.consensus == 1:
        return "there is one fit, without --consensus"
    if name == "outcome_power" and "outcome" not in spec.feature_weighting:
        return "no feature is weighed by the outcome"
    return ""


def _read_file(path: Path) -> dict[str, Any]:
    """Settings by name from a spec file, which need not name all."""
    try:
        named = dict(read_json(path.read_bytes()))
        if (version := named.pop("version", SPEC_VERSION)) not in SPEC_VERSIONS:
            raise ValueError(f"version {version!r}")
    except (TypeError, ValueError) as error:
        raise refuse(
            "spec-file",
            "This is not the spec of a model, or of another version",
            str(path),
            str(error)[:200],
            "Give a spec.json that swift fit wrote, or settings by name as JSON.",
            kind=InvalidSettings,
        ) from error
    known = ModelSpec.of(named).plain()  # refuses unknown names and what is out of range
    return {name: known[name] for name in renamed(named)}


def _kind(setting: Setting) -> dict[str, Any]:
    """How argparse reads a setting."""
    usual = f"{setting.help} (default {setting.default})"
    if setting.name == "method":
        keys = [key for key, method in CATALOGUE.items() if method.is_factorization]
        return {"choices": keys, "help": usual}
    if setting.choices:
        return {"choices": setting.choices, "help": usual}
    if isinstance(setting.default, bool):
        return {"action": argparse.BooleanOptionalAction, "help": setting.help}
    if isinstance(setting.default, int | float):
        shown = setting.help if setting.name in REQUIRED else usual
        return {"type": _number(setting), "help": shown, "metavar": "N"}
    return {"action": "append", "metavar": _pair(setting), "help": setting.help}


def _pair(setting: Setting) -> str:
    if setting.name == "mode_costs":
        return "MODE=COST"
    return "NAME=NUMBER" if setting.items is float else "NAME=TEXT"


def _number(setting: Setting) -> Any:
    """Reads a number, or one of the words that may stand for it."""
    kind = type(setting.default)

    def read(text: str) -> Any:
        return text if text in setting.words else kind(text)

    read.__name__ = "number"
    return read


def _read_pairs(lines: list[str], setting: Setting) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for line in lines:
        name, equals, text = (part.strip() for part in line.partition("="))
        if name in pairs:
            raise refuse(
                "option-twice",
                "An option is given twice for one name",
                f"{setting.option} {name}",
                f"{str(pairs[name])!r} and {text!r}",
                "Give one of them; a blend is one cost: 0.5*icd+0.5*cosine."
                if setting.name == "mode_costs"
                else "Give one of them.",
                kind=InvalidSettings,
            )
        try:
            pairs[name] = setting.items(text)
        except ValueError:
            equals = ""
        if not (name and equals and text):
            raise refuse(
                "option-unknown",
                "An option cannot be understood",
                setting.option,
                repr(line),
                f"Write {_pair(setting)}.",
                kind=InvalidSettings,
            )
    return pairs

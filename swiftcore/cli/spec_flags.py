"""Command-line flags for the settings of a model, derived from the spec."""

from __future__ import annotations

import argparse
from typing import Any

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for
from swiftcore.spec import SETTINGS, ModelSpec, Setting

REQUIRED = ("rank",)


def add_spec(parser: argparse.ArgumentParser) -> None:
    """One flag per setting; what is left out is as usual for the method."""
    for name, setting in SETTINGS.items():
        parser.add_argument(
            setting.option, dest=name, default=None, required=name in REQUIRED, **_kind(setting)
        )


def read_spec(chosen: argparse.Namespace) -> ModelSpec:
    """The spec that the flags ask for; raises InvalidSettings with everything that is wrong."""
    given = {name: getattr(chosen, name) for name in SETTINGS if getattr(chosen, name) is not None}
    if "options" in given:
        given["options"] = _read_options(given["options"])
    return spec_for(given.pop("method", SETTINGS["method"].default), **given)


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
    return {"action": "append", "metavar": "NAME=NUMBER", "help": setting.help}


def _number(setting: Setting) -> Any:
    """Reads a number, or one of the words that may stand for it."""
    kind = type(setting.default)

    def read(text: str) -> Any:
        return text if text in setting.words else kind(text)

    read.__name__ = "number"
    return read


def _read_options(lines: list[str]) -> dict[str, float]:
    options = {}
    for line in lines:
        name, equals, text = line.partition("=")
        try:
            options[name.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            raise refuse(
                "option-unknown",
                "An option cannot be understood",
                SETTINGS["options"].option,
                repr(line),
                "Write name=number.",
                kind=InvalidSettings,
            )
    return options

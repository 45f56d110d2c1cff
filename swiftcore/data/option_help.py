"""Every option of a build with its values, default and an example, read from its definition."""

from __future__ import annotations

import dataclasses
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swiftcore.data.options import CHOICES, MINIMA, BuildOptions
from swiftcore.errors import InvalidSettings, refuse

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "yes or no",
    "tuple[str, ...]": "texts with commas between them",
    "Mapping[str, str]": "columns by role",
    "Limits": "numbers by name",
}
MAX_SETTINGS_FILE = 1_000_000


@dataclass(frozen=True)
class OptionHelp:
    """One option as a person reads it."""

    name: str
    values: str
    default: str
    about: str
    example: str


def option_help() -> list[OptionHelp]:
    """All options in the order of their definitions."""
    return [_help(one) for one in dataclasses.fields(BuildOptions)]


def _help(option: dataclasses.Field[Any]) -> OptionHelp:
    name = option.name
    if name in CHOICES:
        values = ", ".join(choice or "(empty)" for choice in CHOICES[name])
    else:
        least = f", {MINIMA[name]} or more" if name in MINIMA else ""
        values = _KINDS[str(option.type)] + least
    example = option.metadata["example"]
    setting = example if "=" in example else f"{name}={example}"
    return OptionHelp(name, values, _shown(option.default), option.metadata["about"], setting)


def _shown(default: object) -> str:
    if isinstance(default, bool):
        return "yes" if default else "no"
    if default is dataclasses.MISSING or default in ("", ()):
        return "empty"
    return f"{default:g}" if isinstance(default, float) else str(default)


def options_as_text() -> str:
    """For a terminal."""
    lines = ["How files are read and built: --set NAME=VALUE, or a file of them (--options FILE)."]
    for one in option_help():
        lines += ["", f"{one.name} ({one.values}; {one.default} unless set)"]
        lines += textwrap.wrap(one.about, 96, initial_indent="    ", subsequent_indent="    ")
        quoted = f"'{one.example}'" if set(one.example) & set(" *") else one.example
        lines.append(f"    --set {quoted}")
    return "\n".join(lines)


def options_as_table() -> str:
    """For the documentation: a table in Markdown."""
    lines = ["| option | values | unless set | what it does | example |", "|---|---|---|---|---|"]
    lines += [
        f"| `{one.name}` | {one.values} | {one.default} | {one.about} | `{one.example}` |".replace(
            "*", "\\*"
        )
        for one in option_help()
    ]
    return "\n".join(lines)


def settings_of_file(path: Path) -> list[str]:
    """The lines of a settings file (TOML) as ``--set`` takes them.

    Raises
    ------
    InvalidSettings
        When the file cannot be read or is no TOML.
    """
    try:
        content = path.read_bytes()
        if len(content) > MAX_SETTINGS_FILE:
            raise ValueError("a file of more than 1 MB")
        plain = tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError) as error:
        raise refuse(
            "options-file",
            "The settings file cannot be read",
            path.name,
            str(error)[:200],
            'Write it in TOML: values = "binary", and [columns] with row = "mrn".',
            kind=InvalidSettings,
        ) from error
    return _lines(plain)


def _lines(plain: Mapping[str, Any], prefix: str = "") -> list[str]:
    lines = []
    for name, value in plain.items():
        if isinstance(value, dict) and not prefix:
            lines += _lines(value, f"{name}.")
        else:
            lines.append(f"{prefix}{name}={_as_text(value)}")
    return lines


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def as_toml(options: Mapping[str, Any]) -> str:
    """Options as a settings file that builds the same again."""
    flat = [(name, value) for name, value in options.items() if not isinstance(value, dict)]
    lines = [f"{name} = {_toml(value)}" for name, value in flat]
    for name, value in options.items():
        if isinstance(value, dict) and value:
            lines += [
                "",
                f"[{name}]",
                *(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()),
            ]
    return "\n".join(lines)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, (int, float)):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    marks = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(marks.get(mark, mark) for mark in escaped) + '"'

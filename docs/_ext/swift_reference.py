"""Directives for the parts of the documentation that are read from the code when it is built.

``{settings}``
    The table of all settings of a fit.
``{methods}``
    The table of all methods that can be compared.
``{command-help} fit``
    What ``swift fit --help`` prints.
``{layers}``
    The picture of who may import whom.
``{public-names} swiftcore.cost``
    A summary of the public names of one or more modules, then each of them.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from docutils import nodes
from layer_picture import layer_picture
from settings_table import settings_table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import swiftcore
from swiftcore.data.option_help import options_as_table
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.spec import SETTINGS

HELP_COLUMNS = "88"


class Settings(SphinxDirective):
    """One line per setting, from the one place that states them."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        return self.parse_text_to_nodes("\n".join(settings_table(SETTINGS)))


class BuildOptionsTable(SphinxDirective):
    """One line per option of a build, from their definitions."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        return self.parse_text_to_nodes(options_as_table())


class Methods(SphinxDirective):
    """One line per method of the catalogue."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        lines = ["| key | method | needs labels | costs used | settings |", "|---|---|---|---|---|"]
        for key, method in CATALOGUE.items():
            labels = "yes" if method.needs_labels or not method.is_factorization else "no"
            sizes = f"{len(method.quick_grid)}, {len(method.grid)}"
            lines.append(f"| `{key}` | {method.title} | {labels} | {method.costs} | {sizes} |")
        return self.parse_text_to_nodes("\n".join(lines))


class CommandHelp(SphinxDirective):
    """The help of one command, as the command prints it."""

    optional_arguments = 5

    def run(self) -> list[nodes.Node]:
        """Ask the command line itself."""
        text = command_help(self.arguments)
        return [nodes.literal_block(text, text, language="text")]


class Layers(SphinxDirective):
    """The layers of the code as a picture."""

    def run(self) -> list[nodes.Node]:
        """Draw them; the picture is part of the page."""
        return [nodes.raw("", layer_picture(), format="html")]


class PublicNames(SphinxDirective):
    """The public names of modules that are not already public in ``swiftcore`` itself."""

    optional_arguments = 1
    has_content = True  # further modules, one per line

    def run(self) -> list[nodes.Node]:
        """A summary table first, then every name with its docstring."""
        modules = [*self.arguments, *self.content]
        names = [f"{one}.{name}" for one in modules for name in public_names(import_module(one))]
        if not names:
            raise self.error(f"no public names in {modules}")
        lines = ["```{eval-rst}", ".. autosummary::", "", *(f"   {name}" for name in names), ""]
        lines += [f".. {_directive(name)}:: {name}\n" for name in names]
        return self.parse_text_to_nodes("\n".join([*lines, "```"]))


def command_help(words: list[str]) -> str:
    """What ``swift WORDS --help`` prints, at a width that fits a page."""
    os.environ["COLUMNS"] = HELP_COLUMNS
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        import_module("swiftcore.cli").main([*words, "--help"])
    return printed.getvalue().strip()


def public_names(module: ModuleType) -> Iterator[str]:
    """Names listed in ``__all__``, else classes and functions defined in the module."""
    listed = getattr(module, "__all__", None)
    for name in listed or vars(module):
        value = getattr(module, name)
        if listed is None:
            own = getattr(value, "__module__", "") == module.__name__
            if name.startswith("_") or not own or not _documentable(value):
                continue
        if module is swiftcore or getattr(swiftcore, name, None) is not value:
            yield name


def _documentable(value: object) -> bool:
    return inspect.isclass(value) or inspect.isfunction(value)


def _directive(path: str) -> str:
    module, _, name = path.rpartition(".")
    value = getattr(import_module(module), name)
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if inspect.isfunction(value) else "autodata"


def setup(app: Sphinx) -> dict[str, bool]:
    """Make the directives known."""
    app.add_directive("settings", Settings)
    app.add_directive("build-options", BuildOptionsTable)
    app.add_directive("methods", Methods)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("layers", Layers)
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True}

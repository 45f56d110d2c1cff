"""The layers of the code as an SVG, drawn from the list that the architecture test enforces."""

from __future__ import annotations

import ast
from html import escape
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIST = ROOT / "tests" / "test_architecture.py"
WIDTH, NAME_WIDTH, LINE, GAP, PAD = 820, 256, 25, 9, 12
COLOURS = {"swiftcore": "#0072b2", "dashboard": "#d55e00"}


def layers() -> tuple[str, ...]:
    """The names in ``LAYERS``, lowest first; read, not imported."""
    for node in ast.parse(LIST.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYERS":
            return tuple(ast.literal_eval(node.value))
    raise LookupError(f"{LIST.name} has no list LAYERS")


def layer_picture() -> str:
    """One box per package, the highest on top; inside it, its layers in the same order."""
    top_down = [name for name in reversed(layers()) if "." in name]
    boxes, y = [], PAD
    for package, names in groupby(top_down, key=lambda name: ".".join(name.split(".")[:2])):
        rows = list(names)
        height = LINE * len(rows)
        boxes.append(_box(package, rows, y, height))
        y += height + GAP
    return (
        f'<svg class="layers" viewBox="0 0 {WIDTH} {y + PAD - GAP}" role="img" '
        'xmlns="http://www.w3.org/2000/svg" aria-label="Layers of the code: a layer imports '
        f'only those drawn below it.">{"".join(boxes)}</svg>'
    )


def _box(package: str, rows: list[str], y: int, height: int) -> str:
    colour = COLOURS[package.split(".")[0]]
    lines = [
        f'<rect x="{PAD}" y="{y}" width="{WIDTH - 2 * PAD}" height="{height}" rx="4" '
        f'fill="{colour}" fill-opacity="0.09" stroke="{colour}"/>'
    ]
    for number, name in enumerate(rows):
        base = y + LINE * number + 17
        strong = ' font-weight="600"' if name == package else ""
        lines.append(f'<text x="{2 * PAD}" y="{base}"{strong}>{escape(name)}</text>')
        lines.append(
            f'<text x="{2 * PAD + NAME_WIDTH}" y="{base}" class="what">{escape(what(name))}</text>'
        )
    return "".join(lines)


def what(name: str) -> str:
    """The first sentence of a module's docstring."""
    path = ROOT.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.split("\n\n")[0].replace("\n", " ").replace("``", "").rstrip(".")

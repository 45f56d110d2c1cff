"""Every text that a screen shows to a person: words, labels, helps, headings of tables, charts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

# fields of Streamlit's messages that people read; ids, keys, styles and addresses are none
READ = {"body", "label", "help", "alt", "placeholder", "caption", "options", "content", "text"}
MARKUP = re.compile(r"<style>.*?</style>|</?[a-z][^>]*>", re.DOTALL)  # of our own templates
IN_A_CHART = {"text", "title", "name", "ticktext", "hovertemplate"}


def screen_texts(page: AppTest) -> list[str]:
    """All of them, as a person reads them: escapes of Markdown are gone."""
    found = [MARKUP.sub(" ", text) for node in _nodes(page) for text in _texts(node)]
    return [re.sub(r"\\(?=[!-/:-@\[-`{-~])", "", text).replace("\u2060", "") for text in found]


def _nodes(page: AppTest) -> Iterator[Any]:
    waiting = [page._tree]
    while waiting:
        node = waiting.pop(0)
        waiting.extend(getattr(node, "children", {}).values())
        yield node


def _texts(node: Any) -> Iterator[str]:
    proto = getattr(node, "proto", None)
    if proto is None:
        return
    kind = getattr(node, "type", "")
    if kind == "arrow_data_frame":
        table = node.value
        yield from (str(column) for column in table.columns)
        yield getattr(proto, "alt", "")
    elif kind == "plotly_chart":
        yield from _in_chart(json.loads(proto.spec or "{}"))
    if hasattr(proto, "DESCRIPTOR"):
        yield from _fields(proto)


def _fields(proto: Any) -> Iterator[str]:
    for field, value in proto.ListFields():
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            inner = value if _repeated(value) else [value]
            yield from (text for one in inner for text in _fields(one))
        elif field.name in READ:
            yield from (str(one) for one in (value if _repeated(value) else [value]))


def _repeated(value: Any) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__len__")


def _in_chart(part: Any, name: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _in_chart(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from _in_chart(value, name)
    elif isinstance(part, str) and name in IN_A_CHART:
        yield part

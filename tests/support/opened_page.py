"""Open one screen on a store, as the app does, without a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import launch
from dashboard.store.request import Request
from dashboard.store.store import Store
from dashboard.store.verified_folder import SEAL, seal
from swiftcore.evaluation.experiments.result import Experiment

LIST = "w.phenotype.list"  # the key of the list of phenotypes
APP = Path(launch.__file__).with_name("app.py")


def _screen(name: str) -> None:
    from importlib import import_module

    from dashboard.session import cache, selection, state
    from dashboard.widgets.guard import guarded
    from dashboard.widgets.origin import draw_page

    state.read_url()
    with cache.one_listing():
        guarded(selection.resolve)
        draw_page(name, lambda: guarded(import_module(f"dashboard.views.{name}").show))


def open_page(name: str, store: Store, monkeypatch: pytest.MonkeyPatch, **link: str) -> AppTest:
    """The screen, drawn once; ``link`` is what the URL names."""
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    page = AppTest.from_function(_screen, args=(name,), default_timeout=30)
    for key, value in link.items():
        page.query_params[key] = value
    return drawn(page.run())


def open_app(store: Store, monkeypatch: pytest.MonkeyPatch, **link: str) -> AppTest:
    """The whole app, drawn twice: the charts come with the second drawing."""
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    app = AppTest.from_file(str(APP), default_timeout=60)
    for key, value in link.items():
        app.query_params[key] = value
    return drawn(drawn(app.run()).run())


def drawn(page: AppTest) -> AppTest:
    """The page, if no exception reached the screen."""
    assert not page.exception, page.exception[0].stack_trace
    return page


def words(page: AppTest) -> str:
    """Everything a person can read on the page outside of tables and charts."""
    kinds = (
        "title",
        "header",
        "subheader",
        "markdown",
        "caption",
        "info",
        "warning",
        "error",
        "success",
    )
    said = "\n".join(str(one.value) for kind in kinds for one in page.get(kind))
    return said.replace("\\", "").replace("\u2060", "")


def card_words(page: AppTest) -> str:
    """What the list and the card say, without their markup."""
    bodies = " ".join(re.sub(r"<style>.*?</style>", "", one.value, flags=re.S) for one in page.html)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", bodies)).split())


def choose_listed(page: AppTest, phenotype: str) -> AppTest:
    """Choose a phenotype in the list of the page Phenotypes."""
    return drawn(widget(page, "radio", LIST).set_value(phenotype).run())


def sent(page: AppTest) -> bytes:
    """All that a browser would be sent for the page."""

    def parts(node: Any) -> Iterator[bytes]:
        if getattr(node, "proto", None) is not None:
            yield node.proto.SerializeToString()
        for child in getattr(node, "children", {}).values():
            yield from parts(child)

    return b"\n".join(parts(page._tree))


def tab(page: AppTest, key: str, name: str) -> AppTest:
    """Open one of the lazily drawn tabs."""
    page.session_state[key] = name
    return drawn(page.run())


def for_scientists(page: AppTest) -> AppTest:
    """The same page in the wording of data scientists."""
    page.session_state["swift.wording"] = "scientist"
    return drawn(page.run())


def widget(page: AppTest, kind: str, key: str) -> Any:
    """The widget of a key, or a failure that names those there are."""
    found = [one for one in page.get(kind) if one.key == key]
    assert found, [one.key for one in page.get(kind)]
    return found[0]


def add_experiment(store: Store, experiment: Experiment, run: str = "", **settings: Any) -> str:
    """Put a made-up experiment into the store as if a worker had computed it."""
    dataset = store.datasets()[0].id
    request = Request(experiment.kind, dataset, settings, run)
    files = {"experiment.json": experiment.to_json().encode()}
    return store.publish_run(request, files, 1e9 + len(store.runs()), 12.0)  # the newest


def add_foreign_links(store: Store, run: str, column: str) -> None:
    """Take a column from the links of a stored fit, as a program that seals folders would."""
    folder = store.root / "runs" / run
    plain = json.loads((folder / "links.json").read_bytes())
    del plain["tables"]["links"][column]
    (folder / "links.json").write_text(json.dumps(plain))
    (folder / SEAL).unlink()
    seal(folder)


def damage(store: Store, run: str) -> None:
    """Flip one byte of a stored result."""
    path = max((store.root / "runs" / run).iterdir(), key=lambda one: one.stat().st_size)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(bytes(content))

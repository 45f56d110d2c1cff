"""``swift open``: a result on the screen, in the dashboard that runs or in a new one."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from swiftcore.cli.data_argument import screen
from swiftcore.cli.extras import check_dashboard
from swiftcore.cli.store_argument import add_data_dir, store_root
from swiftcore.errors import InvalidSettings, refuse, where_list

if TYPE_CHECKING:
    from dashboard.store.cards import RunCard
    from dashboard.store.store import Store
    from dashboard.text.link import Link

UNFINISHED = "runs"  # the page for whatever has no result yet


def add_commands(commands: Any) -> None:
    """Which result, and where it is."""
    parser = commands.add_parser(
        "open",
        help="show a result in the dashboard",
        description="Show a result in the dashboard that runs on the data folder, or in a new one.",
    )
    what = "id of a run or its beginning, or a folder of swift fit --out, which is imported"
    parser.add_argument("run_id", metavar="RUN", help=what)
    add_data_dir(parser)
    parser.add_argument(
        "--no-browser", dest="browser", action="store_false", help="only print the address"
    )
    parser.set_defaults(run=_open)


def _open(chosen: argparse.Namespace) -> int:
    check_dashboard()
    from dashboard.launch import PORT, is_free, open_browser  # late: they are an extra
    from dashboard.launch import main as launch
    from dashboard.server.folder import running_address
    from dashboard.store.store import Store
    from dashboard.text.wording import PAGES

    store = Store(store_root(chosen))
    card = _find(store, chosen.run_id)
    link = link_to(store, card)
    told = f"{card.title}: {card.message} It is on the page {PAGES[link.page]}."
    screen.print(escape(told), highlight=False)
    if address := running_address(store.root):
        sys.stdout.write(f"{link.at(address)}\n")
        if chosen.browser:
            open_browser(link.at(address))
        return 0
    port = next(one for one in count(PORT) if is_free(one))
    words = ["--port", str(port), "--data-dir", str(store.root)]
    return launch([*words, *([] if chosen.browser else ["--no-browser"])], link)


def _find(store: Store, given: str) -> RunCard:
    """The run of a folder or of the beginning of an id; raises in words if there is not one."""
    path = Path(given).expanduser()
    if path.exists():
        # late: it loads what computes
        folder = import_module("swiftcore.cli.fit_folder")
        return store.run(folder.add_folder(store, path if path.is_dir() else path.parent))
    found = [card for card in store.runs() if card.id.startswith(given.lower())]
    if len(found) != 1:
        several = f"{len(found)} that begin so: {where_list(card.id for card in found)}"
        raise refuse(
            "run-unknown",
            "There is not one run of this name",
            given,
            several if found else f"no such run in {store.root}, and no such folder",
            "Give more of the id; the page Runs lists them." if found else "Check --data-dir.",
            kind=InvalidSettings,
        )
    return found[0]


def link_to(store: Store, card: RunCard) -> Link:
    """The page that shows a run, with its data set and its fit chosen."""
    from dashboard.store.cards import RunState, belongs  # late: they are an extra
    from dashboard.text.link import DATASET, PAGE_OF, RUN, Link

    fits = store.runs(kind="fit")
    fit = card if card.kind == "fit" else None
    if fit is None and card.request.run:
        fit = next((one for one in fits if belongs(card, one.id, one.imported)), None)
    done = card.state is RunState.DONE
    chosen = {DATASET: fit.dataset if fit else card.dataset, RUN: fit.id if fit else ""}
    if not done and card.kind == "fit":
        chosen[RUN] = ""  # there is nothing to choose yet
    return Link(PAGE_OF[card.kind] if done else UNFINISHED, chosen)

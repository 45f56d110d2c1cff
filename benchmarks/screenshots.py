"""Pictures of every page for the documents, taken from the running dashboard on the samples."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from rich.console import Console

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(REPOSITORY / "tests"))  # the same server and browser as the tests
from browser.server import Server, seeded_store  # noqa: E402
from browser.visitor import PAGES, Visitor, launch  # noqa: E402

FOLDER = REPOSITORY / "docs" / "screenshots"
WIDE, NARROW, HEIGHT = 1400, 390, 1000
HEIGHTS = {"Phenotypes": 1500}  # down to the bars
MAX_BYTES = 1.5e6


def main() -> int:
    """Take them all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        server = Server(seeded_store(Path(folder) / "store")).start()
        try:
            browser = launch(playwright)
            wide = Visitor(browser, server.address, WIDE, HEIGHT).open()
            for name in PAGES:
                wide.go_to(name)
                wide.page.set_viewport_size({"width": WIDE, "height": HEIGHTS.get(name, HEIGHT)})
                wide.still().page.screenshot(
                    path=FOLDER / f"{name.lower()}.png", animations="disabled"
                )
            narrow = Visitor(browser, server.address, NARROW, 2 * HEIGHT).open()
            narrow.page.screenshot(path=FOLDER / "phenotypes_phone.png")
            browser.close()
        finally:
            server.stop()
    size = sum(path.stat().st_size for path in FOLDER.glob("*.png"))
    Console().print(f"{len(PAGES) + 1} pictures, {size / 1e6:.2f} MB, in {FOLDER}")
    return 0 if size < MAX_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())

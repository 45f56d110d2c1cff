"""A person with a browser: opens pages, waits until they are still, remembers what went wrong."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Download, Locator, Page, Playwright, expect

PATIENCE = 120_000  # milliseconds; the machine may be busy
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PAGES = ("Phenotypes", "Review", "Patients", "Prediction", "Robustness", "Data", "Runs", "Help")
# Drawn to the last line, connected, not computing, no part of an earlier drawing left, charts
# there, nothing moving, no change for a while: only then is there something to judge. A fault on
# the screen ends a drawing too: nothing is waited for that it left out.
STILL = """
() => new Promise(resolve => {
  const drawn = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    const words = document.querySelector('[data-testid="stMain"]')?.textContent ?? '';
    const charts = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')];
    if (document.querySelector('[data-testid="stException"]')) return true;
    return app && app.dataset.testScriptState === 'notRunning'
      && app.dataset.testConnectionState === 'CONNECTED'
      && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')
      && !document.querySelector('[data-testid="stSpinner"]')
      && words.includes('Found by an algorithm') && !words.includes('The charts follow.')
      && charts.every(chart => chart.querySelector('.main-svg'))
      && document.getAnimations().every(each => each.playState !== 'running');
  };
  let quiet = performance.now();
  const watch = new MutationObserver(() => { quiet = performance.now(); });
  watch.observe(document, {subtree: true, childList: true, attributes: true,
                           characterData: true});
  const look = () => {
    if (!drawn()) quiet = performance.now();
    if (performance.now() - quiet > 400) { watch.disconnect(); resolve(true); }
    else setTimeout(look, 50);
  };
  look();
})
"""
# The drop zone of st.file_uploader is a focusable element inside role=presentation; that is
# Streamlit's own markup and nothing a page can change. Every other element keeps the rule.
NOT_OURS = ("presentation-role-conflict", "stFileUploader")


def launch(playwright: Playwright) -> Browser:
    """The Chromium of this system."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    assert found, "There is no Chromium here; make test installs it."
    return playwright.chromium.launch(executable_path=found, args=FLAGS)


class Visitor:
    """One tab in a context of its own, let in by the address that opens the server."""

    def __init__(
        self, browser: Browser, address: str, width: int = 1400, height: int = 1000
    ) -> None:
        self.url = address.partition("/?")[0]
        self.context = browser.new_context(
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            accept_downloads=True,
        )
        self.enter(address)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.set_default_navigation_timeout(PATIENCE)
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.on("websocket", lambda socket: self._note_request(socket.url))
        self.page.on("console", lambda said: self._note_console(said.type, said.text))
        self.page.on("pageerror", lambda error: self.errors.append(f"page error: {error}"))
        self.page.on("dialog", lambda dialog: (self.errors.append("a dialog"), dialog.dismiss()))

    def _note_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.netloc != urlsplit(self.url).netloc:
            self.outside.append(url)

    def _note_console(self, kind: str, text: str) -> None:
        if kind == "error":
            self.errors.append(text)

    # ---- moving

    def enter(self, address: str) -> None:
        """Get the cookie of a server that was just started, without drawing a page."""
        answer = self.context.request.get(address, max_redirects=0)
        assert answer.status == 303, answer.text()

    def open(self, path: str = "/", **ids: str) -> Visitor:
        """Open a page by its address."""
        query = "&".join(f"{key}={value}" for key, value in ids.items())
        self.page.goto(f"{self.url}{path}{'?' + query if query else ''}")
        return self.still()

    def still(self) -> Visitor:
        """Wait until the screen has stopped changing."""
        self.page.wait_for_selector('[data-testid="stApp"]', state="attached")
        self.page.wait_for_function(STILL, timeout=PATIENCE)
        assert self.page.get_by_test_id("stException").count() == 0, self.words()
        return self

    def go_to(self, title: str) -> Visitor:
        """Follow the navigation on top."""
        link = self.page.get_by_test_id("stTopNavLink").filter(
            has_text=re.compile(rf"^\s*{re.escape(title)}\s*$")
        )
        link.first.click()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(title, timeout=PATIENCE)
        return self.still()

    def reload(self) -> Visitor:
        """As with F5."""
        self.page.reload()
        return self.still()

    def choose(self, label: str, option: str | re.Pattern[str]) -> Visitor:
        """Choose from a list by its label."""
        box = self.page.get_by_role("combobox", name=label, exact=True).last
        box.scroll_into_view_if_needed()
        self.still()  # a list that opens while the page scrolls closes again
        box.click()
        self.page.get_by_role("option", name=option).first.click()
        return self.still()

    def press(self, name: str, exact: bool = True) -> Visitor:
        """Press a button."""
        self.page.get_by_role("button", name=name, exact=exact).first.click()
        return self.still()

    def press_choice(self, name: str) -> Visitor:
        """Press one of the buttons that stand side by side to choose from."""
        self.page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).last.click()
        return self.still()

    def open_tab(self, name: str) -> Visitor:
        """Open a tab of the page."""
        tab = self.page.get_by_role("tab", name=name, exact=True)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true", timeout=PATIENCE)
        content = self.page.locator("[role=tabpanel]").filter(
            has_text=re.compile(r"\w"), visible=True
        )
        expect(content.first).to_be_visible(timeout=PATIENCE)  # drawn only once it is opened
        return self.still()

    def type(self, label: str, text: str) -> Visitor:
        """Fill a field and leave it."""
        field = self.page.get_by_label(label, exact=True).last
        field.fill(text)
        field.press("Tab")
        return self.still()

    def pick(self, phenotype: str) -> Visitor:
        """Choose a phenotype in the list beside the card."""
        line = self.page.get_by_test_id("stRadioOption").filter(has_text=f"{phenotype}:")
        line.click()
        return self.shows_card(phenotype).still()

    def upload(self, *files: Path) -> Visitor:
        """Hand over files."""
        self.page.locator('input[type="file"]').last.set_input_files([str(one) for one in files])
        return self.still()

    def download(self, name: str, target: Path) -> Path:
        """Press a download button; the file that came."""
        with self.page.expect_download(timeout=PATIENCE) as waiting:
            self.page.get_by_role("button", name=name, exact=True).first.click()
        got: Download = waiting.value
        got.save_as(target)
        return target

    # ---- looking

    @property
    def main(self) -> Locator:
        """What is not sidebar and not navigation."""
        return self.page.get_by_test_id("stMain")

    def sees(self, text: str | re.Pattern[str]) -> Visitor:
        """Wait until a text stands on the screen."""
        found = self.page.get_by_test_id("stApp").get_by_text(text).first
        expect(found).to_be_visible(timeout=PATIENCE)
        return self

    def words(self) -> str:
        """All text of the screen."""
        return str(self.page.get_by_test_id("stApp").inner_text())

    def shows_charts(self, least: int) -> Visitor:
        """Wait until so many charts are drawn."""
        drawn = """least => [...document.querySelectorAll('[data-testid="stPlotlyChart"]')]
            .filter(chart => chart.querySelector('.main-svg')).length >= least"""
        self.page.wait_for_function(drawn, arg=least, timeout=PATIENCE)
        return self

    def shows_chosen(self, label: str, value: str | re.Pattern[str]) -> Visitor:
        """Wait until this is what is chosen in a list."""
        box = self.page.get_by_role("combobox", name=label, exact=True).last
        expect(box).to_have_value(value, timeout=PATIENCE)
        return self

    def lists(self, *texts: str) -> Visitor:
        """Wait until the list of phenotypes says each of these."""
        for text in texts:
            expect(self.page.locator(".phenotype-list")).to_contain_text(text, timeout=PATIENCE)
        return self

    def shows_card(self, phenotype: str) -> Visitor:
        """Wait until the card of a phenotype is there."""
        title = self.page.locator(".phenotype-card .title")
        expect(title).to_contain_text(phenotype, timeout=PATIENCE)
        return self

    def shows_cells(self, *texts: str) -> Visitor:
        """Wait until each of these texts is, or is part of, a cell of a table."""
        there = """texts => {
            const cells = [...document.querySelectorAll('canvas [role=gridcell]')];
            return texts.every(text => cells.some(cell => cell.textContent.includes(text))) }"""
        self.page.wait_for_function(there, arg=list(texts), timeout=PATIENCE)
        return self

    def cells(self) -> list[str]:
        """The texts of all cells of all tables that are drawn."""
        return [
            str(text) for text in self.page.locator("canvas [role=gridcell]").all_text_contents()
        ]

    def sideways(self) -> int:
        """By how many pixels the page or its main column is wider than the window."""
        wider = """() => Math.max(...[document.documentElement,
            document.querySelector('[data-testid="stMain"]')].map(
              each => each.scrollWidth - each.clientWidth))"""
        return int(self.page.evaluate(wider))

    def is_well(self) -> None:
        """Nothing asked elsewhere, nothing in the console, no trace of a fault on the screen."""
        assert self.outside == []
        assert self.errors == []
        assert self.page.get_by_test_id("stException").count() == 0
        words = self.words()
        assert "Traceback" not in words and "error has been encountered" not in words

    def axe(self, *rules: str) -> list[str]:
        """What axe-core finds on the settled screen, by all its rules or by these, as texts.

        A finding counts if it stays: text that fades while a part is drawn anew has no contrast.
        """
        for _ in range(3):
            if not (found := self._axe_once(rules)):
                break
            self.still()
        return found

    def _axe_once(self, rules: Sequence[str]) -> list[str]:
        asked = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
        found = Axe().run(self.page, options=asked).response["violations"]
        return [
            f"{one['id']}: {_target(node)}\n{node['html'][:300]}"
            for one in found
            for node in one["nodes"]
            if not (one["id"] == NOT_OURS[0] and self._is_in(NOT_OURS[1], node["target"]))
        ]

    def _is_in(self, test_id: str, target: Sequence[str]) -> bool:
        inside = "([target, id]) => !!document.querySelector(target)?.closest(id)"
        return bool(self.page.evaluate(inside, [target[0], f'[data-testid="{test_id}"]']))


def _target(node: dict[str, list[str]]) -> str:
    return " ".join(map(str, node["target"]))

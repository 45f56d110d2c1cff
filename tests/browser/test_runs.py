"""A fit started in the browser: seen, outliving page and server, asked for again, stopped."""

from __future__ import annotations

import re
import time
from pathlib import Path

from playwright.sync_api import expect

from browser.conftest import Visit
from browser.server import Server
from browser.tables import ask_for_fit, build, newest_fit, write_events
from browser.visitor import PATIENCE
from dashboard.store.cards import RunState


def test_a_fit_outlives_page_reload_and_server_and_is_computed_once(
    server: Server, visit: Visit, tmp_path: Path
) -> None:
    visitor = visit(server)
    build(visitor, write_events(tmp_path / "own.csv", rows=300, size=40)).go_to("Runs")
    before = len(server.store.runs())
    ask_for_fit(visitor, 20, "Standard")
    visitor.sees(re.compile(r"\d+%, .*left"))
    run = newest_fit(server)
    dataset = server.store.run(run).dataset

    server.kill()
    assert server.store.run(run).state.active  # the worker does not need the server
    server.start()
    visitor.enter(server.address)
    visitor.page.goto(f"{server.url}/runs?data={dataset}")
    visitor.page.get_by_test_id("stTopNavLink").filter(has_text="Review").click()
    visitor.page.reload()
    server.wait_for(RunState.DONE, run)
    print(f"computed for {server.store.run(run).seconds:.1f} s")
    visitor.open("/", data=dataset, run=run)
    visitor.lists("P01").shows_charts(1)

    visitor.go_to("Runs")
    ask_for_fit(visitor, 20, "Standard").sees(re.compile(r" is done \("))
    visitor.sees(re.compile("in the store already"))
    assert newest_fit(server) == run and len(server.store.runs()) == before + 1
    visitor.page.get_by_role("button", name="Look at the result", exact=True).click()
    visitor.page.wait_for_url(re.compile(f"run={run}"), timeout=PATIENCE)


def test_a_long_fit_is_stopped(server: Server, visit: Visit) -> None:
    visitor = visit(server).open("/runs")
    ask_for_fit(visitor, 20, "Thorough")
    stop = visitor.main.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible(timeout=PATIENCE)
    visitor.sees(re.compile(r"\d+%, .*left"))
    run, began = newest_fit(server), time.monotonic()
    stop.click()
    visitor.sees(re.compile("Cancelled on request"))
    print(f"stopped and said so after {time.monotonic() - began:.1f} s")
    assert server.store.run(run).state is RunState.CANCELLED
    visitor.still().open_tab("History").shows_cells("Cancelled on request")
    visitor.is_well()

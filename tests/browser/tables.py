"""Small tables to hand over, and the way from a file to phenotypes through the screens."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import expect

from browser.server import Server
from browser.visitor import PATIENCE, Visitor

HEADING = ("patient", "diagnosis", "medication", "outcome")


def write_events(
    path: Path, rows: int = 60, size: int = 8, names: Sequence[str] = (), seed: int = 0
) -> Path:
    """A table of events with two planted groups; names replace the first features."""
    draw = random.Random(seed)
    diagnoses = [*names, *(f"diagnosis {number}" for number in range(size))][:size]
    medications = [f"medication {number}" for number in range(size)]
    half = size // 2
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(HEADING)
        for row in range(rows):
            group = row % 2
            for _ in range(8):
                writer.writerow(
                    [
                        f"p{row:04}",
                        diagnoses[draw.randrange(half) + half * group],
                        medications[draw.randrange(half) + half * group],
                        group,
                    ]
                )
    return path


def build(visitor: Visitor, *files: Path) -> Visitor:
    """Hand over files on the page Data and build the data set from them."""
    visitor.open("/data").open_tab("Add data").upload(*files)
    visitor.press("Build the data set").sees(re.compile("The data set is built and kept"))
    return visitor.still()


def ask_for_fit(visitor: Visitor, rank: int, effort: str) -> Visitor:
    """Fill the form on the page Runs and press the button; does not wait for the end."""
    rank_field = visitor.page.get_by_role("spinbutton", name="Number of phenotypes")
    rank_field.fill(str(rank))
    rank_field.press("Enter")
    visitor.still().press_choice(effort)
    visitor.page.get_by_role("button", name="Find phenotypes", exact=True).click()
    return visitor


def open_result(visitor: Visitor) -> Visitor:
    """Wait until the run is done and follow the button to its phenotypes."""
    visitor.sees(re.compile(r" is done \("))
    visitor.page.get_by_role("button", name="Look at the result", exact=True).first.click()
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Phenotypes", timeout=PATIENCE)
    return visitor.still()


def from_files_to_phenotypes(visitor: Visitor, rank: int, *files: Path) -> Visitor:
    """The whole way, with little effort."""
    build(visitor, *files)
    visitor.page.get_by_role("button", name="Find its phenotypes", exact=True).click()
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Runs", timeout=PATIENCE)
    visitor.still()
    return open_result(ask_for_fit(visitor, rank, "Quick"))


def newest_fit(server: Server) -> str:
    """The id of the fit that was asked for last."""
    return server.store.runs(kind="fit")[0].id

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


def write_german_export(path: Path, rows: int = 60, seed: int = 0) -> Path:
    """A sheet as a hospital saves it: a title, semicolons, Windows letters, names of its own."""
    draw = random.Random(seed)
    codes = [f"{letter}{number}" for letter in "EIJK" for number in ("10.0", "11.9", "25.1")]
    drugs = ["Metformin", "Ramipril", "Aspirin", "Insulin", "Torasemid", "Digitoxin", "Bisoprolol"]
    lines = ["Abfrage KIS, Stand 01.02.2024;;;;", ""]
    lines.append("Fallkennung;Größe;Befund;Präparat;verlegt")
    for row in range(rows):
        half, cured = row % 2, draw.choice(["ja", "nein"])
        for _ in range(6):
            code, drug = draw.choice(codes[6 * half :][:6]), draw.choice(drugs[3 * half :][:4])
            lines.append(f"{70012 + 13 * row};{150 + row % 40},5;{code};{drug};{cured}")
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
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

"""Tables: written block by block they are the same file; shading says how much, not what."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from dashboard.widgets import tables

TABLE = pd.DataFrame({"who": [f"=P{n}" for n in range(25)], "P01": [n / 25 for n in range(25)]})


def test_a_file_written_in_blocks_is_the_file_written_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "BLOCK", 10)
    monkeypatch.setattr(tables, "said_of_it", lambda: {"source": "here"})
    written: list[Any] = []
    monkeypatch.setattr(tables.st, "download_button", lambda label, data, **_: written.append(data))
    asked: list[int] = []

    def lines(chosen: slice) -> pd.DataFrame:
        asked.append(len(TABLE.iloc[chosen]))
        return TABLE.iloc[chosen]

    tables.download_rows(lines, len(TABLE), "all", "Download")
    assert asked == []  # nothing is made before the button is pressed
    assert written[0]() == tables.csv_bytes(TABLE.assign(source="here"))
    assert asked == [10, 10, 5]
    tables.download_rows(lambda chosen: TABLE.iloc[:0][chosen], 0, "none", "Download")
    assert written[1]() == b"who,P01,source\n"


def test_a_cell_is_the_darker_the_larger_its_share() -> None:
    strengths = [
        float(tables._ground(share).rpartition(", ")[2][:-1]) for share in (0.01, 0.3, 1.0)
    ]
    assert strengths == sorted(strengths) and strengths[-1] <= 0.6
    assert tables._ground(-0.3) == tables._ground(0.3)
    assert (tables._ground(0.004), tables._percent(0.004), tables._percent(0.12)) == ("", "", "12%")

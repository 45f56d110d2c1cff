"""The figure of the paper's scalability: every method that is measured has a line and a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import scaling


def test_every_method_is_drawn_under_its_name(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    axes = {
        "by_rows": "rows",
        "by_rank": "rank",
        "by_sweeps": "sweeps",
        "by_iterations": "iterations",
    }
    places = {
        section: {
            "rows": [
                {"method": key, axis: place, "seconds": float(place)}
                for key in (*scaling.METHODS, "paper")
                for place in (1, 2)
            ]
        }
        for section, axis in axes.items()
    }
    picture = tmp_path / "scaling.svg"
    scaling.draw(places, picture)
    drawn = picture.read_text()
    for name in ("SWIFT", "Direct Wasserstein", "SWIFT as printed", "CP-APR"):
        assert f"<!-- {name}" in drawn


def test_every_method_is_measured() -> None:
    clock = scaling.Clock(1.0)
    for key in scaling.METHODS:
        found = scaling.measured(key, 40, 2, clock)
        assert found["seconds"] > 0, found

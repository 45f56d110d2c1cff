"""Opponents and measurements: what the speed of SWIFT is compared with."""

from pathlib import Path

RESULTS = Path(__file__).with_name("results")

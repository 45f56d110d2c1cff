"""Opponents and measurements: what the speed of SWIFT is compared with."""

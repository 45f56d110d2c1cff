"""Experiments: how well phenotypes predict, against what, how stable, what they stand up to."""

"""Numeric parts that several baselines share."""

"""Whole experiments: run, kept in parts, given as tables."""

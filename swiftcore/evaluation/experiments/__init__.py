"""Whole experiments: run, kept in parts, handed on as tables."""

"""Generators of the sample data, and the words they draw from."""

"""Costs from outside the data: files of one's own, hierarchies of codes, vectors, blends."""

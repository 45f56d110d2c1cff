"""Unbalanced optimal transport between the columns of sparse unfoldings and their model."""

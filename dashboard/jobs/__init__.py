"""Computations in processes of their own."""

"""Stored data sets, runs and reviews, and the processes that compute them; no screen."""

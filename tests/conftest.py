"""Puts ``tests`` on the import path, so that every test finds the referee in ``reference``."""

"""Data, stores and pages that several tests share."""

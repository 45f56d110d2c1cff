"""A safety net: results recorded once, which no rearrangement of the code may change."""

"""A fit whose rows come in parts: one after another on this machine, or over a cluster."""

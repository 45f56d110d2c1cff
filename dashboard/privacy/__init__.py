"""What must not get out: small counts, and files that people hand over."""

"""One file per screen, each with ``show()``; no screen knows another."""

"""The browser dashboard (to come); numbers come from ``swiftcore``."""

"""The browser dashboard: screens over stored results; numbers come from ``swiftcore``."""

"""From bytes to tables and arrays; bytes are never trusted."""

"""Workers, memory, and files that are written whole: what the machine gives and takes."""

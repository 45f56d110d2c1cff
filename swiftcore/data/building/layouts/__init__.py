"""How a table is laid out, told by its content, and its long form."""

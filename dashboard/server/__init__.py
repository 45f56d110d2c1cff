"""What stands between a browser and the pages: who is let in, and how files come in."""

"""What one visitor has chosen, and what the server keeps in memory."""

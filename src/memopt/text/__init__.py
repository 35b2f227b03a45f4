"""IR as text, read and written quickly, and errors with their place."""

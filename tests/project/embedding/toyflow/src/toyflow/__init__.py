"""A small compiler that embeds memopt: its own dialect, its own passes, memopt's plan."""

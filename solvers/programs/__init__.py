"""Integer programs: how they are stated, and the one process that solves them."""

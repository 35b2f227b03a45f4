"""Strategies of papers and tools to place buffers. One file per strategy, by name."""

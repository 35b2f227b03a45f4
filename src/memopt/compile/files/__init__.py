"""Folders that a command writes: staged, then published whole or not at all."""

"""Producers that their reader makes itself, so that they need no buffer."""

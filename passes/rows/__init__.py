"""Rows: how operators are cut into them, and which operators are."""

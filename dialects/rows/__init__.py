"""Rows of operators and of tensors, and rows that stay as state."""

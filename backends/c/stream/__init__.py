"""Inputs that arrive row by row, whole or as a sliding window."""

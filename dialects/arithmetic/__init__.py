"""Arithmetic of stored numbers: fixed point, rounding, tables."""

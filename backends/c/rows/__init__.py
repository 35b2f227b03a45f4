"""Operators in rows: tables in flash and the loop that runs them."""

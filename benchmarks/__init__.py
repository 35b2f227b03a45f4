"""Measurements, of the checkout and not of the wheel: `python -m benchmarks --help`."""

"""What only measures, of the checkout and not of the wheel: `python -m benchmarks --help`."""

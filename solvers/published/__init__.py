"""The papers' methods that only serve comparison."""

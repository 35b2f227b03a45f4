"""Lowering to memref and the standard dialects."""

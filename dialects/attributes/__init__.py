"""Attributes of tensors, operators and plans."""

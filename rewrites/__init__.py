"""One file per rule; the before and after of its docstring is its test."""

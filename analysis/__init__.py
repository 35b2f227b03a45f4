"""Analyses of a function: facts derived from its IR once and read by passes, targets and
backends."""

"""Weights in the order in which fast kernels read them."""

"""CMSIS-NN: Arm's kernels for integers, which TensorFlow Lite Micro or generated C calls."""

CALLED = "cmsis-nn-calls"
"""`scratch` of a memory model whose generated C calls the library."""

CMSIS_NN = "cmsis-nn"
CMSIS_NN_MVE = "cmsis-nn-mve"
"""Instruction sets, as it were, of kernels that call the library, with the vector extension too."""

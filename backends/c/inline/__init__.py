"""Inlined producers: a reader makes their results, virtual tensors, itself."""

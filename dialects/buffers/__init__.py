"""Buffers of standard MLIR: what operations do with memrefs, and where these flow."""

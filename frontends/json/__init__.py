"""The JSON frontend: a graph of sized tensors in, a module of `memgraph.opaque` operations out."""

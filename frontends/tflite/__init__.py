"""The .tflite frontend: LiteRT's schema in, a module of `memgraph` functions out."""

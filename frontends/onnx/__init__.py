"""The ONNX frontend: an .onnx file in, a module with one `memgraph` function out."""

"""Training steps that PyTorch runs by their plans, beside itself."""

"""The way of planning passes into numbers, and back into the IR."""

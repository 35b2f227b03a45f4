"""The `memgraph` dialect: structure, plan, and what the compiler asks of an operation."""

"""What is proven of every order: bounds, ideals, fusion, certificates."""

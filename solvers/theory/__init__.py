"""Proofs about all orders: bounds, ideals, fusion, certificates."""

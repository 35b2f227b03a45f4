"""Loops of searches, and small graphs as a whole, in C++; `library.py` loads them where built."""

"""The inner loops of two searches in C++, where a compiler was there; `library.py` loads them."""

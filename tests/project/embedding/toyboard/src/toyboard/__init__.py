"""A board for memopt: each file lies where memopt would have it, and is found there."""

"""Ranges of products of a matrix, against the products of all vectors in a range."""

from itertools import product

import numpy as np

from memopt.dialects.operators.products import products_between

CASES = 300


def test_products_between_are_the_least_and_the_greatest(fuzz: float) -> None:
    """Bound those of vectors of one range, which is looked at once, and of vectors of several."""
    for seed in range(max(30, int(CASES * fuzz))):
        rng = np.random.default_rng(seed)
        vectors, length, results = rng.integers(1, 4, 3)
        matrix = rng.integers(-128, 128, (results, length)).astype(np.int8)
        low = rng.integers(-128, 125, (vectors, length))
        if seed & 1:
            low[:] = low[0]
        high = low + rng.integers(0, 3, (vectors, length))
        if seed & 2:
            high[:] = high.max(0)
        least, greatest = products_between(matrix, low, high)
        assert least.shape == greatest.shape == (vectors, results)
        for k in range(vectors):
            # a product is least and greatest at an end of each element's range
            ends = np.array(list(product(*zip(low[k], high[k], strict=True))))
            sums = ends @ matrix.astype(np.int64).T
            assert (least[k] == sums.min(0)).all() and (greatest[k] == sums.max(0)).all(), seed

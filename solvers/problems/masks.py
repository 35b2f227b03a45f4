"""Sets of operators as masks: bit `i` is operator `i`."""

from collections.abc import Collection, Iterable, Iterator

# Bits of a mask that Python handles about as fast as a small number.
SHORT = 256
MANY = 16  # operators whose mask is made of bytes, all at once


def bits(mask: int) -> Iterable[int]:
    """Return the indices of the set bits of `mask`, ascending; those of a long one as they are
    asked for."""
    if not mask:
        return ()
    at = (mask & -mask).bit_length() - 1
    mask >>= at
    if mask.bit_length() > SHORT:
        return _long_bits(mask, at)
    indices: list[int] = []
    while mask:
        low = mask & -mask
        indices.append(at + low.bit_length() - 1)
        mask ^= low
    return indices


def _long_bits(mask: int, at: int) -> Iterator[int]:
    text = bin(mask)[:1:-1]  # of the lowest bit first: to find the next costs no copy of the mask
    position = 0
    while position >= 0:
        yield at + position
        position = text.find("1", position + 1)


def mask_of(indices: Collection[int]) -> int:
    """The mask with these bits set."""
    if len(indices) > MANY:  # each bit alone would copy the mask
        octets = bytearray((max(indices) >> 3) + 1)
        for i in indices:
            octets[i >> 3] |= 1 << (i & 7)
        return int.from_bytes(octets, "little")
    mask = 0
    for i in indices:
        mask |= 1 << i
    return mask


def key_of(mask: int, *others: int) -> tuple[int, ...]:
    """Return what masks are looked up by, which they stand at the end of.

    The hash of a mask alone is its remainder by 2^61 - 1: masks of a chain, such as all before one
    operator, have only 61, and to find one of n among them takes n / 61 comparisons.
    """
    return mask.bit_length(), mask, *others

"""Arithmetic of sliding windows and slices that all formats share."""


def same_padding(size: int, out: int, kernel: int, stride: int, dilation: int) -> tuple[int, int]:
    """(smaller, larger) half of what `out` windows reach beyond `size` elements: SAME padding."""
    span = dilation * (kernel - 1) + 1
    total = max((out - 1) * stride + span - size, 0)
    return total // 2, total - total // 2


def start_of(start: int, size: int, step: int = 1) -> int:
    """Return where a slice of a dimension begins: negative starts count from the end, what is
    outside begins at the edge."""
    return min(max(start + size if start < 0 else start, 0), size if step > 0 else size - 1)

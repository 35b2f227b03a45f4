"""Operators of `.tflite` that pick stretches along each dimension: pads, blocks, zeros."""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation

from memopt.dialects.operators.picked import Term
from memopt.frontends.core.picks import along, picked, terms_of
from memopt.frontends.core.typed import need
from memopt.frontends.core.types import is_quantized
from memopt.frontends.tflite.node import Kind, Node


def _pairs(values: Sequence[int], count: int) -> list[tuple[int, int]]:
    """Before and after of each dimension."""
    need(len(values) == 2 * count, f"{len(values)} numbers for {count} dimensions")
    need(min(values, default=0) >= 0, f"numbers below 0: {list(values)}")
    return list(zip(values[0::2], values[1::2], strict=True))


def pad(node: Node, kind: Kind) -> Operation:
    shape = node.shape(0)
    pairs = _pairs(node.constant(1), len(shape))
    places = [range(-b, n + a) for (b, a), n in zip(pairs, shape, strict=True)]
    return along(node, kind, places, node.operand(2) if node.kind == "PADV2" else None)


def mirror_pad(node: Node, kind: Kind) -> Operation:
    """Build a pad that reflects, with `SYMMETRIC` (1) at the edge, else at its last element."""
    edge, shape, places = int(node.options["mode"] == 1), node.shape(0), list[list[int]]()
    for (before, after), size in zip(_pairs(node.constant(1), len(shape)), shape, strict=True):
        need(max(before, after) <= size - 1 + edge, f"paddings of {size} beyond it")
        first = range(before - edge, -edge, -1)
        last = range(size - 2 + edge, size - 2 + edge - after, -1)
        places.append([*first, *range(size), *last])
    return along(node, kind, places)


def _blocks(node: Node) -> tuple[list[int], list[tuple[int, int]], int]:
    """Sizes of a block, what is padded or cut off, and elements behind its dimensions."""
    blocks, shape = node.constant(1), node.shape(0)
    need(0 < len(blocks) < len(shape) and min(blocks) > 0, f"blocks of {blocks}")
    return blocks, _pairs(node.constant(2), len(blocks)), prod(shape[1 + len(blocks) :])


def space_to_batch(node: Node, kind: Kind) -> Operation:
    """Ways: the place in a block, the image, the block; with padding."""
    (blocks, pairs, _), shape, m = _blocks(node), node.shape(0), len(node.constant(1))
    wide = [n + b + a for n, (b, a) in zip(shape[1:], pairs, strict=False)]
    divisible = not any(n % block for n, block in zip(wide, blocks, strict=True))
    need(divisible, f"blocks of {blocks} in {wide}")
    counts = [n // block for n, block in zip(wide, blocks, strict=True)]
    terms = [Term(m, 0, tuple(range(shape[0])))]
    for i, (block, (before, _), count) in enumerate(zip(blocks, pairs, counts, strict=True)):
        terms.append(Term(i, i + 1, tuple(range(-before, block - before))))
        terms.append(Term(m + 1 + i, i + 1, tuple(range(0, count * block, block))))
    return picked(node, kind, terms_of(shape[: m + 1], [*blocks, shape[0], *counts], terms))


def batch_to_space(node: Node, kind: Kind) -> Operation:
    """Ways: the image, each index of the result; dimensions: the place in a block, the image, the
    block. What is cut off has no way."""
    (blocks, pairs, _), shape, m = _blocks(node), node.shape(0), len(node.constant(1))
    need(shape[0] % prod(blocks) == 0, f"blocks of {blocks} in {shape[0]} images")
    images = shape[0] // prod(blocks)
    sizes, terms = [images], [Term(0, m, tuple(range(images)))]
    for i, (block, (before, after)) in enumerate(zip(blocks, pairs, strict=True)):
        uncropped = range(before, shape[1 + i] * block - after)
        need(len(uncropped) > 0, "all is cut off")
        terms.append(Term(i + 1, i, tuple(at % block for at in uncropped)))
        terms.append(Term(i + 1, m + 1 + i, tuple(at // block for at in uncropped)))
        sizes.append(len(uncropped))
    return picked(node, kind, terms_of([*blocks, images, *shape[1 : m + 1]], sizes, terms))


def zeros(node: Node, kind: Kind) -> Operation:
    """One stretch, which is nowhere; of what is not quantized, where zero is another number."""
    need(not is_quantized(node.result), "integers with a scale (plain ones have one)")
    return picked(node, kind, terms_of([1], [1], [Term(0, 0, (-1,))]))

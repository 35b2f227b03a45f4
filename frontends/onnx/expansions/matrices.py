"""Products of matrices."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import INT64, Scope

DOTS = "..."  # of an equation: dimensions without letters


@expands("Gemm")
def gemm(s: Scope) -> bool:
    """Expand the forms that no fully connected layer has: a first operand that is transposed,
    factors, a matrix that only the run time knows, a bias of another shape."""
    if not s.is_float or (s.is_stored and s.is_constant(1)):
        return False
    alpha, beta = s.get("alpha", 1.0), s.get("beta", 1.0)
    columns = s.out_shape()[1]
    plain_bias = not s.has(2) or (beta == 1 and s.shape(2) == (columns,) and s.is_constant(2))
    if alpha == 1 and not s.get("transA", 0) and plain_bias and s.is_constant(1):
        return False
    first, second = s.x, s.input(1)
    if s.get("transA", 0):
        first = s.add("Transpose", first, perm=[1, 0])
    if s.get("transB", 0):
        second = s.add("Transpose", second, perm=[1, 0])
    name = s.add("MatMul", first, second)
    if alpha != 1:
        name = s.add("Mul", name, s.like(alpha))
    if s.has(2) and beta != 0:
        bias = s.input(2) if beta == 1 else s.add("Mul", s.input(2), s.like(beta))
        return s.done("Add", name, bias)
    return s.done("Identity", name)


@expands("MatMul")
def matmul(s: Scope) -> bool:
    """Multiply vectors as matrices of one row or one column."""
    a, b = s.shape(), s.shape(1)
    if not s.is_float or 0 in s.out_shape() or (len(a) >= 2 and len(b) >= 2):
        return False
    first = s.reshaped(s.x, (1, *a)) if len(a) == 1 else s.x
    second = s.reshaped(s.input(1), (*b, 1)) if len(b) == 1 else s.input(1)
    return s.done("Reshape", s.add("MatMul", first, second), s.const(list(s.out_shape()), INT64))


@dataclass(frozen=True)
class _Factor:
    """A tensor, and the letters of its dimensions."""

    name: str
    letters: str


def _terms(equation: str, ranks: Sequence[int]) -> tuple[list[str], str] | None:
    """Return the letters of each operand, and of the result: without an arrow those that stand
    once. Dots are letters of their own, as many as the operand of most dimensions has behind them.
    None where operands do not have as many dimensions as letters, or the result has others."""
    operands, arrow, out = equation.partition("->")
    terms = operands.split(",")
    if len(terms) != len(ranks):
        return None
    once = "".join(sorted(c for c in set(operands) - {",", "."} if operands.count(c) == 1))
    out = out if arrow else DOTS * (DOTS in operands) + once
    named = [len(term.replace(DOTS, "")) for term in terms]
    widths = [rank - n for rank, n in zip(ranks, named, strict=True)]
    if any(n < 0 or (n > 0 and DOTS not in t) for n, t in zip(widths, terms, strict=True)):
        return None
    free = [c for c in ascii_letters if c not in equation][: max(widths)]
    if len(free) < max(widths):
        return None
    wide = [
        t.replace(DOTS, "".join(free[len(free) - n :])) for n, t in zip(widths, terms, strict=True)
    ]
    out = out.replace(DOTS, "".join(free))
    return (wide, out) if set(out) <= set("".join(wide)) else None


@expands("Einsum")
def einsum(s: Scope) -> bool:
    """Expand one without diagonals into a product after the other: of matrices where letters are
    summed, of elements where none are."""
    if not s.is_float:
        return False
    text = str(s.get("equation", "")).replace(" ", "")
    count = len(s.node.input)
    parsed = _terms(text, [len(s.shape(i)) for i in range(count)])
    if parsed is None or any(len(set(t)) != len(t) for t in (*parsed[0], parsed[1])):
        return s.lacks(f"equation = {text} (without diagonals it has one)")
    terms, out = parsed
    sizes = dict[str, int]()
    for i, term in enumerate(terms):
        for letter, n in zip(term, s.shape(i), strict=True):
            if sizes.setdefault(letter, n) != n:
                return s.lacks(f"equation = {text} (of dimensions that are alike it has one)")
    product = _Factor(s.input(0), terms[0])
    for i in range(1, count):
        later = out + "".join(terms[i + 1 :])
        product = _multiplied(s, product, _Factor(s.input(i), terms[i]), later, out, sizes)
    last = _summed(s, product, out)
    order = [last.letters.index(c) for c in out]
    if order == sorted(order):
        return s.done("Identity", last.name)
    return s.done("Transpose", last.name, perm=order)


def _multiplied(
    s: Scope, left: _Factor, right: _Factor, later: str, out: str, sizes: Mapping[str, int]
) -> _Factor:
    """Return the product of two tensors, summed over letters that do not stand in `later`."""
    first = _summed(s, left, later + right.letters)
    second = _summed(s, right, later + left.letters)
    both = [c for c in first.letters if c in second.letters]
    inner = [c for c in both if c not in later]
    if not inner:
        return _by_elements(s, first, second, out, sizes)
    batch = [c for c in both if c in later]
    rows, columns = ([c for c in f.letters if c not in both] for f in (first, second))

    def matrix(factor: _Factor, *groups: list[str]) -> str:
        """Dimensions in this order, those of a group as one."""
        order = [factor.letters.index(c) for group in groups for c in group]
        sides = [prod(sizes[c] for c in group) for group in groups]
        return s.reshaped(s.transposed(factor.name, order), sides)

    product = s.add(
        "MatMul", matrix(first, batch, rows, inner), matrix(second, batch, inner, columns)
    )
    letters = "".join([*batch, *rows, *columns])
    return _Factor(s.reshaped(product, [sizes[c] for c in letters]), letters)


def _by_elements(
    s: Scope, left: _Factor, right: _Factor, out: str, sizes: Mapping[str, int]
) -> _Factor:
    """Return the product of two tensors of which each dimension stays, in the order of the result
    as far as that has it."""
    known = {*left.letters, *right.letters}
    letters = [c for c in out if c in known] + sorted(known.difference(out))

    def wide(factor: _Factor) -> str:
        order = [factor.letters.index(c) for c in letters if c in factor.letters]
        in_order = factor.name if order == sorted(order) else s.transposed(factor.name, order)
        shape = [sizes[c] if c in factor.letters else 1 for c in letters]
        return in_order if len(order) == len(shape) else s.reshaped(in_order, shape)

    return _Factor(s.add("Mul", wide(left), wide(right)), "".join(letters))


def _summed(s: Scope, factor: _Factor, wanted: str) -> _Factor:
    """Return a tensor summed over the letters that are not wanted."""
    axes = [i for i, c in enumerate(factor.letters) if c not in wanted]
    if not axes:
        return factor
    name = s.add("ReduceSum", factor.name, s.const(axes, INT64), keepdims=0)
    return _Factor(name, "".join(c for c in factor.letters if c in wanted))

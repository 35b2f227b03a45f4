"""Products of matrices."""

from math import prod

from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.scope import INT64, Scope


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


def _terms(equation: str) -> tuple[list[str], str]:
    """The letters of each operand, and of the result: without an arrow those that stand once."""
    operands, arrow, out = equation.partition("->")
    once = sorted(c for c in set(operands) - {","} if operands.count(c) == 1)
    return operands.split(","), out if arrow else "".join(once)


@expands("Einsum")
def einsum(s: Scope) -> bool:
    """Expand one of one or two operands without dots or diagonals into one product of matrices."""
    text = str(s.get("equation", "")).replace(" ", "")
    if not s.is_float:
        return False
    if "." in text or len(s.node.input) > 2:
        return s.lacks(f"equation = {text} (one or two operands without dots have one)")
    terms, out = _terms(text)
    if any(len(set(t)) != len(t) for t in (*terms, out)) or len(terms) != len(s.node.input):
        return s.lacks(f"equation = {text} (without diagonals it has one)")
    sizes = {c: n for i, t in enumerate(terms) for c, n in zip(t, s.shape(i), strict=True)}
    names = [_summed(s, s.input(i), terms, i, out) for i in range(len(terms))]
    used = [[c for c in t if c in out or _is_elsewhere(c, t, terms)] for t in terms]
    if len(terms) == 1:
        return _in_order(s, names[0], used[0], out)
    both = [c for c in used[0] if c in used[1]]
    batch, inner = [c for c in both if c in out], [c for c in both if c not in out]
    rows, columns = ([c for c in k if c not in both] for k in used)

    def matrix(name: str, letters: list[str], *groups: list[str]) -> str:
        """Dimensions in this order, those of a group as one."""
        order = [letters.index(c) for group in groups for c in group]
        sides = [prod(sizes[c] for c in group) for group in groups]
        return s.reshaped(s.transposed(name, order), sides)

    product = s.add(
        "MatMul",
        matrix(names[0], used[0], batch, rows, inner),
        matrix(names[1], used[1], batch, inner, columns),
    )
    letters = [*batch, *rows, *columns]
    return _in_order(s, s.reshaped(product, [sizes[c] for c in letters]), letters, out)


def _is_elsewhere(letter: str, term: str, terms: list[str]) -> bool:
    """Return whether another term than this one has the letter."""
    return any(letter in other for other in terms if other is not term)


def _in_order(s: Scope, name: str, letters: list[str], out: str) -> bool:
    """End with a tensor of the dimensions `letters`, in the order `out`."""
    order = [letters.index(c) for c in out]
    return s.done("Transpose", name, perm=order) if order else s.done("Identity", name)


def _summed(s: Scope, name: str, terms: list[str], index: int, out: str) -> str:
    """An operand without what nobody else names."""
    others = out + "".join(t for k, t in enumerate(terms) if k != index)
    axes = [i for i, c in enumerate(terms[index]) if c not in others]
    return s.add("ReduceSum", name, s.const(axes, INT64), keepdims=0) if axes else name

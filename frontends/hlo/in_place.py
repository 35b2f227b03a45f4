"""Operands of HLO instructions that a result may overwrite, element by element.

    %fusion = f32[8] fusion(%x, %y), kind=kLoop, calls=%f      f: ROOT add(param 0, slice(param 1))

Element k of the result reads element k of x and of nothing else of it, so it may lie there; not in
y. A `dynamic-update-slice` may lie where what it updates does, if nothing else reads that.
"""

from collections.abc import Sequence

from memopt.frontends.hlo.instructions import Instruction, Leaf
from memopt.frontends.hlo.operators import ELEMENT_WISE


def overwritable(instruction: Instruction, fused: Sequence[Instruction]) -> tuple[int, ...]:
    """Return the operands that the only result of an instruction may overwrite; `fused` are the
    instructions of the computation that a fusion runs."""
    if instruction.opcode != "fusion":
        return _of_one(instruction, instruction.operands)  # if they lie as the result does
    root = next((i for i in fused if i.is_root), None)
    if root is None:
        return ()
    parameters = {i.name: int(i.text) for i in fused if i.opcode == "parameter"}
    readers: dict[str, list[Instruction]] = {}
    for reader in fused:
        for name in reader.operands:
            readers.setdefault(name, []).append(reader)
    known = {i.name: i for i in fused}
    aligned = {root.name}  # element k of these goes into element k of the result alone
    for inner in reversed(fused):
        if inner is not root and readers.get(inner.name):
            first = all(
                reader.name in aligned and inner.name in _first(reader, known)
                for reader in readers[inner.name]
            )
            if first and _alike(inner, root):
                aligned.add(inner.name)
    return tuple(
        sorted(n for name, n in parameters.items() if name in aligned and name != root.name)
    )


def _first(reader: Instruction, known: dict[str, Instruction]) -> tuple[str, ...]:
    """Return the operands of a fused instruction of which it reads element k for its element k."""
    return tuple(reader.operands[k] for k in _of_one(reader, reader.operands))


def _of_one(instruction: Instruction, operands: Sequence[str]) -> tuple[int, ...]:
    """Return the operands of which an instruction reads element k for its element k alone."""
    if instruction.opcode in ELEMENT_WISE:
        return tuple(range(len(operands)))
    updates = instruction.opcode == "dynamic-update-slice"
    return (0,) if updates and operands.count(operands[0]) == 1 else ()


def _alike(one: Instruction, other: Instruction) -> bool:
    """Return whether two arrays have the same shape and lie alike, element by element."""
    a, b = one.shape, other.shape
    if not isinstance(a, Leaf) or not isinstance(b, Leaf):
        return False
    return a.type.get_shape() == b.type.get_shape() and a.layout == b.layout

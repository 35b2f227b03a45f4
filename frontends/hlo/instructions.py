"""HLO text as plain data: computations of instructions, with shapes as leaves or tuples of them.

    HloModule jit_f, is_scheduled=true, input_output_alias={ {0}: (1, {}, may-alias) }, ...

    ENTRY %main.2 (x.1: f32[8,4]) -> f32[8,4] {
      %x.1 = f32[8,4]{1,0} parameter(0), metadata={op_name="x"}
      ROOT %fusion = f32[8,4]{1,0} fusion(%x.1), kind=kLoop, calls=%fused_computation
    }

Whatever is not needed to plan (metadata, layouts other than whether they are row-major, backend
configurations) is left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute

from memopt.dialects.attributes.quick import plain_tensor
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.types import ELEMENTS

_WORDS: Final = {"pred": "bool", "bf16": "bfloat16", "c64": "complex64", "c128": "complex128"}
_HEADER: Final = re.compile(r"\s*(ENTRY\s+)?%?([\w.\-]+)\s+\(.*\)\s*->\s*.*\{\s*$")
_INSTRUCTION: Final = re.compile(r"\s+(ROOT\s+)?%?([\w.\-]+)\s*=\s*")
_NAME: Final = re.compile(r"%([\w.\-]+)")
_LEAF: Final = re.compile(r"(\w+)\[([\d,<=\s]*)\](\{[^}]*\})?")
_ALIAS: Final = re.compile(r"\{([\d,\s]*)\}:\s*\((\d+),\s*\{([\d,\s]*)\}")
_TILE: Final = re.compile(r"T\(([\d,]+)\)")
_SPACE: Final = re.compile(r"S\((\d+)\)")
_COMMENT: Final = re.compile(r"/\*.*?\*/")
_CALLED: Final = re.compile(
    r"\b(calls|to_apply|body|condition|true_computation|false_computation|branch_computations)"
    r"=(?:\{([^}]*)\}|(%[\w.\-]+))"
)


@dataclass(frozen=True)
class Leaf:
    """An array: its type, and its dimensions from the one whose elements lie next to each other."""

    type: TensorType[Attribute]
    layout: tuple[int, ...]

    @property
    def row_major(self) -> bool:
        return list(self.layout) == sorted(self.layout, reverse=True)


Shape = Leaf | tuple["Shape", ...]


@dataclass(frozen=True)
class Instruction:
    """One line of a computation. `called` are the computations that it runs, by what for."""

    name: str
    opcode: str
    shape: Shape
    operands: tuple[str, ...]
    text: str  # in the parentheses
    attributes: str
    called: dict[str, tuple[str, ...]]
    is_root: bool
    number: int
    place: str


@dataclass
class Module:
    """`aliases` are (leaf of the result, parameter, leaf of that), each leaf by its path."""

    name: str
    entry: str = ""
    aliases: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = field(
        default_factory=list[tuple[tuple[int, ...], int, tuple[int, ...]]]
    )
    computations: dict[str, list[Instruction]] = field(default_factory=dict[str, list[Instruction]])


def leaves(shape: Shape) -> list[Leaf]:
    """Return the arrays of a shape, in order."""
    return [shape] if isinstance(shape, Leaf) else [leaf for part in shape for leaf in leaves(part)]


def first_leaf(shape: Shape, path: Sequence[int]) -> int | None:
    """Return the number of the first leaf of what a path of indices leads to, None if it leads
    nowhere."""
    number = 0
    for index in path:
        if isinstance(shape, Leaf) or index >= len(shape):
            return None
        number += sum(len(leaves(part)) for part in shape[:index])
        shape = shape[index]
    return number


def parse(text: str, file: str) -> Module:
    """Return a module of its text. Raises MemoptError with the line."""
    module: Module | None = None
    body: list[Instruction] | None = None
    for number, line in _lines(text):
        place = f"{file}:{number}:1"
        if line.startswith("HloModule"):
            module = Module(line.split()[1].rstrip(","), aliases=_aliases(line))
        elif module is not None and body is None and (header := _HEADER.match(line)):
            body = module.computations.setdefault(header[2], [])
            module.entry = header[2] if header[1] else module.entry
        elif line.strip() == "}":
            body = None
        elif body is not None:
            body.append(_instruction(line, place, len(body)))
    if module is None or not module.entry:
        raise MemoptError("no HloModule with an ENTRY computation", file)
    return module


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Return the instructions and what is around them, each with the number of its first line:
    literals go over several."""
    pending, start = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not pending:
            start = number
        pending = f"{pending} {line}" if pending else line
        is_open = " = " in pending and pending.count("(") > pending.count(")")
        if not is_open or '"' in pending:
            yield start, _COMMENT.sub("", pending)
            pending = ""
    if pending:
        yield start, _COMMENT.sub("", pending)


def _aliases(line: str) -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    listed = re.search(r"input_output_alias=\{(.*?\)\s*)\}", line)
    entries = _ALIAS.findall(listed[1]) if listed else []
    return [(_indices(out), int(parameter), _indices(path)) for out, parameter, path in entries]


def _indices(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n.strip())


def _instruction(line: str, place: str, number: int) -> Instruction:
    begin = _INSTRUCTION.match(line)
    if begin is None:
        raise MemoptError("no instruction of HLO", place)
    shape, at = _shape(line, begin.end(), place)
    opcode, bracket, rest = line[at:].strip().partition("(")
    if not bracket:
        raise MemoptError("an instruction without operands in parentheses", place)
    end = _closing(rest)
    inside, attributes = rest[:end], rest[end + 1 :]
    if opcode.strip() == "parameter" and not (inside.isascii() and inside.isdigit()):
        raise MemoptError(f"a parameter without a number: {inside[:20]}", place)
    called = {
        key: tuple(_NAME.findall(several or one))
        for key, several, one in _CALLED.findall(attributes)
    }
    return Instruction(
        name=begin[2],
        opcode=opcode.strip(),
        shape=shape,
        operands=() if opcode.strip() in ("constant", "parameter") else _operands(inside),
        text=inside,
        attributes=attributes,
        called=called,
        is_root=begin[1] is not None,
        number=number,
        place=place,
    )


def _operands(inside: str) -> tuple[str, ...]:
    """Return the names of operands, with or without their shapes before them."""
    return tuple(_NAME.findall(inside))


def _closing(rest: str) -> int:
    """Return where the parenthesis closes that is open before `rest`."""
    depth = 1
    for at, character in enumerate(rest):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if not depth:
            return at
    return len(rest)


def _shape(line: str, at: int, place: str) -> tuple[Shape, int]:
    """Return the shape that stands at a place of a line, and where it ends."""
    at = _behind(line, at, " ")
    if line[at : at + 1] != "(":
        leaf = _LEAF.match(line, at)
        if leaf is None:
            raise MemoptError(f"no shape of HLO: {line[at : at + 20].strip()}", place)
        return _leaf(leaf, place), leaf.end()
    parts, at = list[Shape](), _behind(line, at + 1, " ")
    while line[at : at + 1] != ")":
        part, at = _shape(line, at, place)
        parts.append(part)
        at = _behind(line, at, ", ")
    return tuple(parts), at + 1


def _behind(line: str, at: int, characters: str) -> int:
    """Return the place behind all of these characters that stand next."""
    while line[at : at + 1] and line[at] in characters:
        at += 1
    return at


def _leaf(match: re.Match[str], place: str) -> Leaf:
    """Return an array; a token is one of no bytes, and a bounded dimension as long as it may be."""
    word, dimensions, layout = match[1], match[2].replace("<=", ""), match[3] or ""
    listed = [n.strip() for n in dimensions.split(",") if n.strip()]
    if not all(n.isascii() and n.isdigit() for n in listed):
        raise MemoptError(f"no dimensions of HLO: [{match[2]}]", place)
    shape = [int(n) for n in listed]
    if word in ("token", "opaque"):
        return Leaf(plain_tensor(ELEMENTS["int8"], (0,)), (0,))
    kind = re.fullmatch(r"([suf])(\d+)(\w*)", word)
    base = {"s": "int", "u": "uint", "f": "float"}[kind[1]] if kind else ""
    name = _WORDS.get(word) or (
        f"{base}{kind[2]}{'_' + kind[3] if kind[3] else ''}" if kind else ""
    )
    if name not in ELEMENTS:
        raise MemoptError(f"element type {word} of HLO has no size in bytes", place)
    order = re.match(r"\{([\d,]+)", layout)
    minor = tuple(int(n) for n in order[1].split(",") if n) if order else ()
    minor = minor or tuple(reversed(range(len(shape))))
    if sorted(minor) != list(range(len(shape))):
        raise MemoptError(f"layout {layout} is none of [{match[2]}]", place)
    _check_memory([shape[d] for d in reversed(minor)], layout, place)
    if kind and int(kind[2]) < 8 and "E(" not in layout:
        name = "int8"  # XLA packs them only where the layout says the bits of an element
    return Leaf(plain_tensor(ELEMENTS[name], tuple(shape)), minor)


def _check_memory(dimensions: Sequence[int], layout: str, place: str) -> None:
    """Raise MemoptError for an array that tiles pad, or that is in another memory than the first;
    dimensions as they lie, the outermost first."""
    space, tile = _SPACE.search(layout), _TILE.search(layout)
    if space is not None and int(space[1]):
        raise MemoptError(f"layout {layout} is in another memory, which no plan has", place)
    sizes = [int(n) for n in tile[1].split(",") if n] if tile is not None else []
    padded = [1] * (len(sizes) - len(dimensions)) + list(dimensions)
    inner = padded[len(padded) - len(sizes) :]
    if any(size % step for size, step in zip(inner, sizes, strict=True) if step):
        raise MemoptError(f"layout {layout} pads [{', '.join(map(str, dimensions))}]", place)

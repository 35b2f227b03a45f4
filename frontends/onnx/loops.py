"""Expansion of loops of a known number of steps, step by step."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from onnx import GraphProto, NodeProto, helper

from memopt.frontends.onnx.attributes import read_attributes
from memopt.frontends.onnx.checks import DEFAULT_DOMAINS
from memopt.frontends.onnx.functions import renamed
from memopt.frontends.onnx.known import Known
from memopt.frontends.onnx.ordering import captured

NODES: Final = 4096  # that a loop may become
Steps = Iterator[tuple[list[NodeProto], bool]]
"""Nodes, and whether they are the file's own: others are of the newest opset."""


def steps(known: Known, node: NodeProto) -> Steps | None:
    """Return the nodes of each step of a `Loop` or `Scan`, to be read before the next is asked for;
    None for any other operator, and where only the run time knows how many steps there are."""
    if node.domain not in DEFAULT_DOMAINS or node.op_type not in ("Loop", "Scan"):
        return None
    attributes = read_attributes(node)
    body: GraphProto = attributes["body"]
    if node.op_type == "Scan":
        return _scan_steps(known, node, body, attributes)
    if len(body.input) != len(node.input) or not _is_foreseen(known, body):
        return _none(known, node, "its condition is computed at run time")
    count, goes_on = (known.array(name) if name else None for name in node.input[:2])
    if (node.input[0] and count is None) or (node.input[1] and goes_on is None):
        return _none(known, node, "its trip count or condition is computed at run time")
    limit = NODES // max(1, len(body.node))
    number = limit + 1 if count is None else int(count.reshape(-1)[0])
    first = goes_on is None or bool(goes_on.reshape(-1)[0])
    if (count is not None and number > limit) or number < 1 or not first:
        return _none(known, node, f"{number} steps (1 to {limit} have one)")
    return _loop_steps(known, node, body, number)


def _none(known: Known, node: NodeProto, why: str) -> None:
    known.reasons[next((o for o in node.output if o), "")] = f"{why} (known ones have one)"


def _is_foreseen(known: Known, body: GraphProto) -> bool:
    """Return whether the condition of a body follows from its number and known values."""
    makers = {o: n for n in body.node for o in n.output}
    given = {t.name for t in body.initializer} | {v.name for v in body.input[:2]}
    waiting, seen = [body.output[0].name], set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name in given or not name:
            continue
        seen.add(name)
        if name in makers:
            waiting += [*makers[name].input, *captured(makers[name])]
        elif name in {v.name for v in body.input} or known.array(name) is None:
            return False
    return True


def _loop_steps(known: Known, node: NodeProto, body: GraphProto, count: int) -> Steps:
    """Yield the steps of a `Loop`: its number, the condition, and the loop-carried values."""
    round_, rows = list(node.input[2:]), list[list[str]]()
    for number in range(count):
        index = known.made_constant(np.array(number, np.int64), known.fresh(node.output[0]))
        goes_on = known.made_constant(np.array(True), known.fresh(node.output[0]))
        nodes, results = _one(known, node, body, [index, goes_on, *round_])
        yield nodes, True
        round_ = results[1 : 1 + len(round_)]
        rows.append(results[1 + len(round_) :])
        condition = known.array(results[0])
        if condition is not None and not bool(condition.reshape(-1)[0]):
            break
    yield _results(known, node, round_, rows, [0] * len(rows[0])), False


def _scan_steps(
    known: Known, node: NodeProto, body: GraphProto, attributes: dict[str, Any]
) -> Steps | None:
    """Return the steps of a `Scan`: the loop-carried values, and a slice of each sequence."""
    taken = int(attributes.get("num_scan_inputs", 0))
    carried = len(node.input) - taken
    if taken < 1 or carried < 0 or len(body.input) != len(node.input) or "directions" in attributes:
        return _none(known, node, "a sequence is missing, or it is one of opset 8")
    shapes = [known.graph.types[name].fixed or () for name in node.input[carried:]]
    axes = [int(a) for a in attributes.get("scan_input_axes", [0] * taken)]
    ways = [int(d) for d in attributes.get("scan_input_directions", [0] * taken)]
    made_axes = [int(a) for a in attributes.get("scan_output_axes", [0] * len(body.output))]
    back = [bool(d) for d in attributes.get("scan_output_directions", [])]
    lengths = {shape[axis] for shape, axis in zip(shapes, axes, strict=True) if shape}
    if len(lengths) != 1 or len(shapes) != sum(map(bool, shapes)):
        return _none(known, node, "the length of its sequences is not known")
    (count,) = lengths
    if not 0 < count * len(body.node) <= NODES:
        return _none(known, node, f"{count} steps of {len(body.node)} operators ({NODES} have one)")

    def every() -> Steps:
        round_, rows = list(node.input[:carried]), list[list[str]]()
        for number in range(count):
            slices, picks = list[str](), list[NodeProto]()
            for name, axis, way in zip(node.input[carried:], axes, ways, strict=True):
                at = count - 1 - number if way else number
                index = np.array(at, np.int64)
                place = known.made_constant(index, known.fresh(node.output[0]))
                slices.append(known.fresh(node.output[0]))
                picks.append(helper.make_node("Gather", [name, place], [slices[-1]], axis=axis))
            nodes, results = _one(known, node, body, [*round_, *slices])
            yield [*picks, *nodes], True
            round_ = results[:carried]
            rows.append(results[carried:])
        yield _results(known, node, round_, rows, made_axes, back), False

    return every()


def _one(
    known: Known, node: NodeProto, body: GraphProto, given: list[str]
) -> tuple[list[NodeProto], list[str]]:
    """Return the nodes of one step and the names of its results."""
    names = {v.name: name for v, name in zip(body.input, given, strict=True)}
    for tensor in body.initializer:
        names[tensor.name] = known.fresh(node.output[0])
        known.made_constant(known.elements(tensor, tensor.name), names[tensor.name])
    nodes = renamed(known, list(body.node), names, node.output[0])
    return nodes, [names.get(v.name, v.name) for v in body.output]


def _results(
    known: Known,
    node: NodeProto,
    round_: list[str],
    rows: list[list[str]],
    axes: list[int],
    back: list[bool] | None = None,
) -> list[NodeProto]:
    """Return the nodes of the loop's results: the last carried values, and all elements of each
    sequence."""
    nodes: list[NodeProto] = []
    for name, result in zip(round_, node.output, strict=False):
        if result:
            nodes.append(helper.make_node("Identity", [name], [result]))
    for k, result in enumerate(node.output[len(round_) :]):
        if not result:
            continue
        axis = known.made_constant(np.array([axes[k]], np.int64), known.fresh(result))
        each = [known.fresh(result) for _ in rows]
        for row, name in zip(rows, each, strict=True):
            nodes.append(helper.make_node("Unsqueeze", [row[k], axis], [name]))
        order = each[::-1] if back and back[k] else each
        nodes.append(helper.make_node("Concat", order, [result], axis=axes[k]))
    return nodes

"""The first tensor in which a program differs from what its operators should write.

A tensor that the reference has too, with the same elements, is compared with that; any other, such
as the result of a rewriting, with what the definition of its operator says of the file's tensors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.c_text import plain
from memopt.compile.plan import Built
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.names import name_of, operator_kind
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp
from memopt.validate.differences import is_different
from memopt.validate.job import REFERENCES, Answer, Job, answer_of
from memopt.validate.program import Traced
from memopt.validate.stored import stored_of

NONE = 0xFFFFFFFF
EVALUATE = "evaluate"  # the reference of every file: what its operators are defined to be


@dataclass(frozen=True)
class Layer:
    """A tensor that the program wrote: how many elements differ from those of `against`, and by how
    much at most, in steps of the stored type. `against` is None where nothing is known of it. Of
    the first that differs `agree` are other references that have what the program wrote."""

    tensor: str
    operator: str
    against: str | None
    elements: int
    different: int = 0
    max_abs: float = 0.0
    agree: tuple[str, ...] = ()


def layers_of(
    built: Built,
    traced: Sequence[Traced],
    stored: Sequence[Array],
    given: Sequence[Array],
    reference: str,
    others: Sequence[str],
    not_run: dict[str, str],
) -> list[Layer]:
    """Return the tensors that were traced in an inference on one sample, `stored` as the file and
    `given` as the program has it, as they were first written; of the first that differs from
    `reference` the `others` are asked too; of one that fails `not_run` has why. Raises
    MemoptError."""
    written = _written(traced)
    values = _values(only_function(built.planned.after))
    keys = {name: _key(value, built) for name, value in values.items() if name in written}
    answer = _answer(built, stored, reference, list(keys.values()))
    layers = [
        _compared(values[name], written[name], reference, answer.tensors.get(key))
        for name, key in keys.items()
    ]
    if any(one.against is None for one in layers):
        defined = _evaluated(built, given)
        layers = [
            one
            if one.against is not None
            else _compared(values[name], written[name], EVALUATE, defined.get(name))
            for one, name in zip(layers, keys, strict=True)
        ]
    first = next((k for k, one in enumerate(layers) if one.different), None)
    if first is not None:
        name, key = list(keys.items())[first]

        def theirs_of(other: str) -> Array | None:
            return _tensor(other, name, key, built, stored, given, not_run)

        theirs = [
            _compared(values[name], written[name], n, theirs_of(n))
            for n in others
            if n != layers[first].against
        ]
        agree = tuple(one.against for one in theirs if one.against and not one.different)
        layers[first] = replace(layers[first], agree=agree)
    return layers


def _tensor(
    reference: str,
    name: str,
    key: str,
    built: Built,
    stored: Sequence[Array],
    given: Sequence[Array],
    not_run: dict[str, str],
) -> Array | None:
    """Return what a reference has of the tensor with that name in C and that key in the file; None
    if it does not run, of which `not_run` has why, or has no such tensor."""
    if reference == EVALUATE:
        return _evaluated(built, given).get(name)
    try:
        return _answer(built, stored, reference, [key]).tensors.get(key)
    except MemoptError as error:
        not_run[reference] = error.text
        return None


def _compared(value: SSAValue, written: bytes, against: str, theirs: Array | None) -> Layer:
    """Return the layer, against `theirs` if that has such elements, in its layout or in that of
    the program: channels may be last in one of them."""
    tensor = stored_of(value)
    ours = np.frombuffer(written, tensor.dtype)
    layer = Layer(name_of(value), _kind(value), None, ours.size)
    if theirs is None or theirs.dtype != ours.dtype or theirs.size != ours.size:
        return layer
    return min(
        (_against(layer, ours, array.ravel(), against) for array in _layouts(theirs)),
        key=lambda one: one.different,
    )


def _against(layer: Layer, ours: Array, theirs: Array, against: str) -> Layer:
    apart = np.abs(ours.astype(np.float64) - theirs.astype(np.float64))
    return replace(
        layer,
        against=against,
        different=int(is_different(ours, theirs).sum()),
        max_abs=float(np.nan_to_num(apart).max(initial=0)),
    )


def _layouts(array: Array) -> Iterator[Array]:
    """Yield a tensor as it is and, if it has channels, with these at the end."""
    yield array
    if array.ndim > 3:  # samples, batch, channels, places
        yield np.moveaxis(array, 2, -1)


def _written(traced: Sequence[Traced]) -> dict[str, bytes]:
    """Return the bytes of each tensor, of rows one after the other."""
    parts: dict[str, list[bytes]] = {}
    for one in traced:
        parts.setdefault(one.name, []).append(one.data)
    return {name: b"".join(data) for name, data in parts.items()}


def _values(func: FuncOp) -> dict[str, SSAValue]:
    """Return the results of operators by their names in C; of two that share one, neither."""
    values: dict[str, SSAValue] = {}
    doubled: set[str] = set()
    for op in func.walk():
        for value in op.results if isinstance(op, ComputeOp) else ():
            name = plain(name_of(value))
            doubled |= {name} & values.keys()
            values[name] = value
    return {name: value for name, value in values.items() if name not in doubled}


def _kind(value: SSAValue) -> str:
    owner = value.owner
    return operator_kind(owner) if isinstance(owner, Operation) else "input"


def first_key(built: Built, layer: Layer) -> str:
    """Return what the reference calls the tensor of a layer, "" if it has none."""
    values = _values(only_function(built.planned.after)).values()
    return next((_key(v, built) for v in values if name_of(v) == layer.tensor), "")


def _key(value: SSAValue, built: Built) -> str:
    """Return what the reference calls a tensor: its number in a .tflite, else its name."""
    if built.planned.imported.request.path.suffix != ".tflite":
        return name_of(value)
    source: Any = getattr(value.owner, "attributes", {}).get("memgraph.source")
    index = getattr(value, "index", 0)
    ids = source.tensor_ids if isinstance(source, SourceAttr) else ()
    return str(ids[index]) if index < len(ids) and ids[index] != NONE else ""


def _answer(built: Built, stored: Sequence[Array], reference: str, keys: Sequence[str]) -> Answer:
    """Return the tensors that the reference has of those."""
    if reference not in REFERENCES:
        return Answer(())
    path = built.planned.imported.request.path
    return answer_of(reference, Job(path, stored, [key for key in keys if key]))


def _evaluated(built: Built, given: Sequence[Array]) -> dict[str, Array]:
    """Return what the planned function's operators are defined to write, by their names in C;
    nothing where one of them cannot be evaluated."""
    module = built.planned.after
    func = only_function(module)
    try:
        values = evaluate(func, Weights.of(module), [array[0] for array in given])
    except MemoptError:
        return {}
    parts: dict[str, list[Array]] = {}
    for op in body_of(func).ops:
        if isinstance(op, RowOp):
            operator, results = op.whole, op.outputs
        elif isinstance(op, ComputeOp):
            operator, results = op, op.results
        else:
            continue
        for value, result in zip(results, operator.results, strict=True):
            rows = parts.setdefault(plain(name_of(result)), [])
            if operator is not op and operator.rows_mode == "part":
                rows.clear()  # sums, of which the last alone is a result
            rows.append(values[value].ravel())
    return {name: np.concatenate(rows) for name, rows in parts.items()}

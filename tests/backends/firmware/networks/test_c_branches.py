"""IF and WHILE of `.tflite` files as C, whose branches are other subgraphs, against LiteRT."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import BOOL, FLOAT32, INT32, Forge, flatbuffer_utils, schema
from quick_options import QUICK

from memopt.cli import main
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.tflite.branches import without_branches
from memopt.frontends.tflite.known_shapes import with_known_shapes

BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions


def subgraph(forge: Forge, name: str) -> Any:
    """A new one, which grows from here on."""
    graph: Any = schema.SubGraphT()
    graph.name, graph.tensors, graph.operators, graph.inputs = name, [], [], []
    graph.outputs = []
    forge.model.subgraphs.append(graph)
    forge.graph = graph
    return graph


def plain(forge: Forge, name: str, inputs: Sequence[int], result: int, **options: Any) -> int:
    made: Any = getattr(schema, f"{name}OptionsT")()
    made.fusedActivationFunction = 0
    for key, value in options.items():
        setattr(made, key, value)
    code = getattr(BUILTIN, name.upper())
    forge.operator(code, inputs, result, made, getattr(KINDS, f"{name}Options"))
    return result


def branch(forge: Forge, name: str, shape: list[int]) -> None:
    """x * x or x + x, and what is captured as it is."""
    graph = subgraph(forge, name)
    x, y = forge.tensor(shape, FLOAT32), forge.tensor(shape, FLOAT32)
    made = plain(forge, name, [x, x], forge.tensor(shape, FLOAT32))
    graph.inputs, graph.outputs = [x, y], [made, y]


def with_if(path: Path, condition: bool | None) -> Path:
    """Of a condition that only run time knows, or of a constant one."""
    forge, shape = Forge(np.random.default_rng(0), False), [1, 5]
    known = None if condition is None else np.array([condition])
    at = forge.tensor([1], BOOL, known)
    x, y = forge.tensor(shape, FLOAT32), forge.tensor(shape, FLOAT32)
    results = [forge.tensor(shape, FLOAT32) for _ in range(2)]
    options: Any = schema.IfOptionsT()
    options.thenSubgraphIndex, options.elseSubgraphIndex = 1, 2
    forge.operator(BUILTIN.IF, [at, x, y], results, options, KINDS.IfOptions)
    graph = forge.graph
    graph.inputs = [x, y] if condition is not None else [at, x, y]
    for name in ("Mul", "Add"):
        branch(forge, name, shape)
    forge.graph = graph
    total = plain(forge, "Add", results, forge.tensor(shape, FLOAT32))
    graph.outputs = [total]
    return saved(forge, path)


def with_while(path: Path, turns: int | None) -> Path:
    """x doubled in each turn, of which row `i` of a list is added; in as many turns as an input
    says, if no number is given."""
    forge, shape = Forge(np.random.default_rng(0), False), [1, 3]
    first = forge.tensor([], INT32, np.array(0))
    last = forge.tensor([], INT32, None if turns is None else np.array(turns))
    x, rows = forge.tensor(shape, FLOAT32), forge.tensor([6, 3], FLOAT32)
    types: list[tuple[list[int], int]] = [
        *(([], INT32), ([], INT32)),
        *((shape, FLOAT32), ([6, 3], FLOAT32)),
    ]
    results = [forge.tensor(*t) for t in types]
    options: Any = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    forge.operator(BUILTIN.WHILE, [first, last, x, rows], results, options, KINDS.WhileOptions)
    main_graph = forge.graph
    main_graph.inputs = [x, rows] if turns is not None else [last, x, rows]
    main_graph.outputs = results[2:3]
    graph = subgraph(forge, "cond")
    graph.inputs = [forge.tensor(*t) for t in types]
    goes_on = forge.tensor([], BOOL)
    less: Any = schema.LessOptionsT()
    forge.operator(BUILTIN.LESS, graph.inputs[:2], goes_on, less, KINDS.LessOptions)
    graph.outputs = [goes_on]
    graph = subgraph(forge, "body")
    i, n, y, source = graph.inputs = [forge.tensor(*t) for t in types]
    one = forge.tensor([], INT32, np.array(1))
    after = plain(forge, "Add", [i, one], forge.tensor([], INT32))
    twice = plain(forge, "Add", [y, y], forge.tensor(shape, FLOAT32))
    row = forge.tensor([1, 3], FLOAT32)
    where = forge.tensor([1], INT32)
    reshape: Any = schema.ReshapeOptionsT()
    wanted = forge.tensor([1], INT32, [1])
    forge.operator(BUILTIN.RESHAPE, [i, wanted], where, reshape, KINDS.ReshapeOptions)
    plain(forge, "Gather", [source, where], row, axis=0)
    graph.outputs = [
        after,
        n,
        plain(forge, "Add", [twice, row], forge.tensor(shape, FLOAT32)),
        source,
    ]
    forge.graph = main_graph
    return saved(forge, path)


def with_known_end(path: Path) -> Path:
    """x added to each row of a list, as many times as the list has rows: in the loop the end is
    computed again, of the list's shape."""
    forge = Forge(np.random.default_rng(0), False)
    x, rows = forge.tensor([1, 3], FLOAT32), forge.tensor([4, 3], FLOAT32)
    first, made = forge.tensor([], INT32, np.array(0)), forge.tensor([1, 3], FLOAT32)
    types: list[tuple[list[int], int]] = [([], INT32), ([1, 3], FLOAT32), ([4, 3], FLOAT32)]
    results = [forge.tensor([], INT32), made, forge.tensor([4, 3], FLOAT32)]
    options: Any = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    forge.operator(BUILTIN.WHILE, [first, x, rows], results, options, KINDS.WhileOptions)
    main_graph = forge.graph
    main_graph.inputs, main_graph.outputs = [x, rows], [made]
    graph = subgraph(forge, "cond")
    graph.inputs = [forge.tensor(*t) for t in types]
    shape, count = forge.tensor([2], INT32), forge.tensor([], INT32)
    wanted: Any = schema.ShapeOptionsT()
    wanted.outType = INT32
    forge.operator(BUILTIN.SHAPE, graph.inputs[2:], shape, wanted, KINDS.ShapeOptions)
    plain(forge, "Gather", [shape, forge.tensor([], INT32, np.array(0))], count, axis=0)
    goes_on = forge.tensor([], BOOL)
    less: Any = schema.LessOptionsT()
    forge.operator(BUILTIN.LESS, [graph.inputs[0], count], goes_on, less, KINDS.LessOptions)
    graph.outputs = [goes_on]
    graph = subgraph(forge, "body")
    i, y, source = graph.inputs = [forge.tensor(*t) for t in types]
    after = plain(forge, "Add", [i, forge.tensor([], INT32, np.array(1))], forge.tensor([], INT32))
    row = plain(forge, "Gather", [source, i], forge.tensor([3], FLOAT32), axis=0)
    graph.outputs = [after, plain(forge, "Add", [y, row], forge.tensor([1, 3], FLOAT32)), source]
    forge.graph = main_graph
    return saved(forge, path)


def with_list(path: Path) -> Path:
    """A list of three rows, of which each turn replaces one, as converters write a TensorArray:
    what stands before it, the row, what stands behind it; its length is open, and said to be 1."""
    forge = Forge(np.random.default_rng(0), False)
    types: list[tuple[list[int], int]] = [([], INT32), ([1, 2], FLOAT32), ([3, 2], FLOAT32)]
    first = forge.tensor([], INT32, np.array(0))
    empty = forge.tensor([3, 2], FLOAT32, np.zeros((3, 2)))
    x = forge.tensor([3, 2], FLOAT32)
    results = [forge.tensor(*t) for t in types]
    forge.graph.tensors[results[1]].shapeSignature = [-1, 2]
    options: Any = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
    forge.operator(BUILTIN.WHILE, [first, empty, x], results, options, KINDS.WhileOptions)
    shape, made = forge.tensor([2], INT32), forge.tensor([3, 2], FLOAT32)
    wanted: Any = schema.ShapeOptionsT()
    wanted.outType = INT32
    forge.operator(BUILTIN.SHAPE, [results[1]], shape, wanted, KINDS.ShapeOptions)
    reshape: Any = schema.ReshapeOptionsT()
    forge.operator(BUILTIN.RESHAPE, [results[1], shape], made, reshape, KINDS.ReshapeOptions)
    main_graph = forge.graph
    main_graph.inputs, main_graph.outputs = [x], [made]
    graph = subgraph(forge, "cond")
    graph.inputs = [forge.tensor(*t) for t in types]
    goes_on, last = forge.tensor([], BOOL), forge.tensor([], INT32, np.array(3))
    less: Any = schema.LessOptionsT()
    forge.operator(BUILTIN.LESS, [graph.inputs[0], last], goes_on, less, KINDS.LessOptions)
    graph.outputs = [goes_on]
    graph = subgraph(forge, "body")
    i, old, source = graph.inputs = [forge.tensor(*t) for t in types]
    after = plain(forge, "Add", [i, forge.tensor([], INT32, np.array(1))], forge.tensor([], INT32))
    row = plain(forge, "Gather", [source, i], forge.tensor([2], FLOAT32), axis=0)
    twice = plain(forge, "Add", [row, row], forge.tensor([2], FLOAT32))
    item = forge.tensor([1, 2], FLOAT32)
    size = forge.tensor([2], INT32, [1, 2])
    forge.operator(BUILTIN.RESHAPE, [twice, size], item, reshape, KINDS.ReshapeOptions)
    zero, rest = forge.tensor([], INT32, np.array(0)), forge.tensor([], INT32, np.array(-1))
    before = plain(forge, "Pack", [i, rest], forge.tensor([2], INT32), valuesCount=2, axis=0)
    behind = plain(forge, "Pack", [after, zero], forge.tensor([2], INT32), valuesCount=2, axis=0)
    from_start = forge.tensor([2], INT32, [0, 0])
    to_end = forge.tensor([2], INT32, [-1, -1])
    parts = [forge.tensor([1, 2], FLOAT32) for _ in range(2)]
    slices: Any = schema.SliceOptionsT()
    forge.operator(BUILTIN.SLICE, [old, from_start, before], parts[0], slices, KINDS.SliceOptions)
    forge.operator(BUILTIN.SLICE, [old, behind, to_end], parts[1], slices, KINDS.SliceOptions)
    new = forge.tensor([1, 2], FLOAT32)
    plain(forge, "Concatenation", [parts[0], item, parts[1]], new, axis=0)
    for index in (old, *parts, new):
        graph.tensors[index].shapeSignature = [-1, 2]
    graph.outputs = [after, new, source]
    forge.graph = main_graph
    return saved(forge, path)


def test_a_loop_that_fills_a_list(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    names = runs_as_litert(lab, with_list(tmp_path / "list.tflite"), tmp_path)
    assert names.count("memgraph.concat") == 3


def test_a_loop_whose_end_follows_from_a_shape(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    names = runs_as_litert(lab, with_known_end(tmp_path / "while.tflite"), tmp_path)
    assert names.count("memgraph.gather_along") == 4


def saved(forge: Forge, path: Path) -> Path:
    flatbuffer_utils.write_model(forge.model, str(path))
    return path


def runs_as_litert(lab: Any, path: Path, work: Path) -> Any:
    """The module without branches, whose C makes LiteRT's numbers; the operators that it has."""
    whole = lab.read_model(path)
    module = with_known_shapes(without_branches(whole))
    assert module is not whole
    lab.plan(module, schedule="source", target="host")
    inputs = lab.random_inputs(module, 4, 3)
    project = lab.write(module, work / "c", "net", "host")
    run = lab.run_project(project, inputs, lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    wanted = int(flatbuffer_utils.read_model(str(path)).subgraphs[0].outputs[0])
    want = lab.golden("litert_ref", path, inputs, [wanted], work / "golden")[wanted]
    got = np.frombuffer(run.output, np.float32).reshape(want.shape)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()
    return [op.name for op in lab.main_of(module).body.block.ops]


@pytest.mark.parametrize("condition", [None, True, False])
def test_if(condition: bool | None, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    names = runs_as_litert(lab, with_if(tmp_path / "if.tflite", condition), tmp_path)
    assert ("memgraph.choose" in names) == (condition is None)
    assert ("memgraph.mul" in names) == (condition is not False)


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_while(turns: int, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    names = runs_as_litert(lab, with_while(tmp_path / "while.tflite", turns), tmp_path)
    assert names.count("memgraph.gather_along") == turns


def test_a_loop_that_nobody_knows_is_refused_by_name(tmp_path: Path, lab: Any, capsys: Any) -> None:
    path = with_while(tmp_path / "while.tflite", None)
    with pytest.raises(MemoptError, match="nothing computes WHILE"):
        without_branches(lab.read_model(path))
    assert main(["compile", str(path), "--target=host", "-o", str(tmp_path / "out")]) == 1
    assert "WHILE" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def endless(path: Path, name: str) -> Path:
    """A loop whose body is empty and goes on; a branch that is itself again."""
    forge, shape = Forge(np.random.default_rng(0), False), [1, 3]
    x, y = forge.tensor(shape, FLOAT32), forge.tensor(shape, FLOAT32)
    main_graph = forge.graph
    main_graph.inputs, main_graph.outputs = [x], [y]

    def operator(inputs: list[int], result: int) -> None:
        options: Any = getattr(schema, f"{name}OptionsT")()
        if name == "If":
            options.thenSubgraphIndex = options.elseSubgraphIndex = 1
            inputs = [forge.tensor([1], BOOL, np.array([True])), *inputs]
        else:
            options.condSubgraphIndex, options.bodySubgraphIndex = 1, 2
        kind = getattr(KINDS, f"{name}Options")
        forge.operator(getattr(BUILTIN, name.upper()), inputs, [result], options, kind)

    operator([x], y)
    graph = subgraph(forge, "again")
    graph.inputs = [forge.tensor(shape, FLOAT32)]
    if name == "If":
        graph.outputs = [forge.tensor(shape, FLOAT32)]
        operator(graph.inputs, graph.outputs[0])
    else:
        graph.outputs = [forge.tensor([], BOOL, np.array(True))]
        graph = subgraph(forge, "same")
        graph.inputs = graph.outputs = [forge.tensor(shape, FLOAT32)]
    forge.graph = main_graph
    return saved(forge, path)


@pytest.mark.parametrize("name", ["If", "While"])
def test_what_never_ends_is_refused_by_name(name: str, tmp_path: Path, lab: Any) -> None:
    module = lab.read_model(endless(tmp_path / "endless.tflite", name))
    with pytest.raises(MemoptError, match=f"nothing computes {name.upper()}"):
        without_branches(module)


def test_the_command_takes_a_branch(tmp_path: Path) -> None:
    path = with_if(tmp_path / "if.tflite", None)
    assert main(["compile", str(path), *QUICK, "-o", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out/if.c").exists()

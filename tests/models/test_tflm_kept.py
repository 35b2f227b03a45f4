"""Bytes that TFLM keeps for operators, to the byte as the wheel reports them: of a small model of
each, and of a file with variables that another subgraph sets."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_tflm_kernels import one
from tflite_builder import Graph, Op, T, build
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Answer, Job, random_inputs, run

from memopt.backends.tflm.interpreter import interpreter_arena
from memopt.backends.tflm.structs import WHEEL
from memopt.dialects.memgraph.plan import plan_of
from memopt.formats.tflite import read_model

SHAPE = [1, 4, 4, 2]


def flat(name: str, shape: list[int] = SHAPE) -> T:
    return T(name, shape, "FLOAT32")


def stored(name: str, shape: list[int] = SHAPE) -> T:
    return T(name, shape, "INT8", scale=(0.1,), zero=(0,))


def ints(name: str, values: Any) -> T:
    array = np.array(values, np.int32)
    return T(name, list(array.shape), "INT32", array)


def product(adj_x: bool, adj_y: bool, kind: Any) -> bytes:
    options = ("BatchMatMul", {"adjX": adj_x, "adjY": adj_y})
    left, right = ([1, 5, 3] if adj_x else [1, 3, 5]), ([1, 6, 5] if adj_y else [1, 5, 6])
    data = np.ones(right, np.int8 if kind is stored else np.float32)
    other = kind("w", right)
    other = T("w", right, other.type, data, scale=other.scale, zero=other.zero)
    return one(
        Op("BATCH_MATMUL", [0, 1], [2], options), kind("x", left), other, kind("y", [1, 3, 6])
    )


def same(name: str, options: Any = None, kind: Any = flat) -> bytes:
    return one(Op(name, [0], [1], options), kind("x"), kind("y"))


BLOCKS = (ints("blocks", [2, 2]), ints("crops", [[0, 0], [0, 0]]))
MODELS = {
    "ADD_N": one(Op("ADD_N", [0, 0], [1]), stored("x"), stored("y")),
    "BATCH_MATMUL": product(False, False, flat),
    "BATCH_MATMUL, transposed": product(False, True, flat),
    "BATCH_MATMUL, both": product(True, True, flat),
    "BATCH_MATMUL of int8": product(True, False, stored),
    "BATCH_TO_SPACE_ND": one(
        Op("BATCH_TO_SPACE_ND", [0, 1, 2], [3]), flat("x", [4, 2, 2, 2]), *BLOCKS, flat("y")
    ),
    "BROADCAST_ARGS": one(
        Op("BROADCAST_ARGS", [1, 2], [3]),
        flat("x"),
        ints("a", [1, 3]),
        ints("b", [2, 1]),
        T("y", [2], "INT32"),
    ),
    "BROADCAST_TO": one(
        Op("BROADCAST_TO", [0, 1], [2]),
        flat("x", [1, 4]),
        ints("shape", [3, 4]),
        flat("y", [3, 4]),
    ),
    "CUMSUM": one(Op("CUMSUM", [0, 1], [2], ("Cumsum", {})), flat("x"), ints("axis", 1), flat("y")),
    "CUMSUM of int8": one(
        Op("CUMSUM", [0, 1], [2], ("Cumsum", {})), stored("x"), ints("axis", 1), stored("y")
    ),
    "DYNAMIC_UPDATE_SLICE": one(
        Op("DYNAMIC_UPDATE_SLICE", [0, 1, 2], [3]),
        flat("x"),
        T("piece", [1, 2, 4, 2], "FLOAT32", np.ones((1, 2, 4, 2), np.float32)),
        ints("start", [0, 1, 0, 0]),
        flat("y"),
    ),
    "EMBEDDING_LOOKUP": one(
        Op("EMBEDDING_LOOKUP", [1, 0], [2]), flat("x", [5, 3]), ints("i", [1, 4]), flat("y", [2, 3])
    ),
    "EMBEDDING_LOOKUP, hybrid": one(
        Op("EMBEDDING_LOOKUP", [1, 2], [3]),
        flat("x", [5, 3]),
        ints("i", [1, 4]),
        T("table", [5, 3], "INT8", np.ones((5, 3), np.int8), scale=(0.1,), zero=(0,)),
        flat("y", [2, 3]),
    ),
    "FILL": one(Op("FILL", [1, 0], [2]), flat("x", []), ints("shape", [2, 3]), flat("y", [2, 3])),
    "FLOOR_DIV": one(Op("FLOOR_DIV", [0, 0], [1]), flat("x"), flat("y")),
    "FLOOR_MOD": one(Op("FLOOR_MOD", [0, 0], [1]), flat("x"), flat("y")),
    "GATHER_ND": one(
        Op("GATHER_ND", [0, 1], [2]), flat("x", [4, 3]), ints("i", [[0], [2]]), flat("y", [2, 3])
    ),
    "L2_NORMALIZATION": same("L2_NORMALIZATION", ("L2Norm", {})),
    "L2_NORMALIZATION of int8": one(
        Op("L2_NORMALIZATION", [0], [1], ("L2Norm", {})),
        stored("x"),
        T("y", SHAPE, "INT8", scale=(1 / 128,), zero=(0,)),
    ),
    "L2_POOL_2D": one(
        Op(
            "L2_POOL_2D",
            [0],
            [1],
            ("Pool2D", dict.fromkeys(("strideW", "strideH", "filterWidth", "filterHeight"), 2)),
        ),
        flat("x"),
        flat("y", [1, 2, 2, 2]),
    ),
    "LOG_SOFTMAX": same("LOG_SOFTMAX"),
    "LOG_SOFTMAX of int8": one(
        Op("LOG_SOFTMAX", [0], [1]),
        stored("x"),
        T("y", SHAPE, "INT8", scale=(16 / 256,), zero=(127,)),
    ),
    "REDUCE_ALL": one(
        Op("REDUCE_ALL", [1, 2], [3], ("Reducer", {})),
        flat("x"),
        T("c", [2, 3], "BOOL", np.ones((2, 3), np.bool_)),
        ints("axis", [1]),
        T("y", [2], "BOOL"),
    ),
    "REVERSE_V2": one(Op("REVERSE_V2", [0, 1], [2]), flat("x"), ints("axis", [1]), flat("y")),
    "SELECT_V2": one(
        Op("SELECT_V2", [1, 0, 0], [2]),
        flat("x", [4]),
        T("c", [4], "BOOL", np.array([1, 0, 1, 0], np.bool_)),
        flat("y", [4]),
    ),
    "SPACE_TO_BATCH_ND": one(
        Op("SPACE_TO_BATCH_ND", [0, 1, 2], [3]), flat("x"), *BLOCKS, flat("y", [4, 2, 2, 2])
    ),
    "SQUARED_DIFFERENCE": one(Op("SQUARED_DIFFERENCE", [0, 0], [1]), flat("x"), flat("y")),
    "SQUARED_DIFFERENCE of int8": one(
        Op("SQUARED_DIFFERENCE", [0, 0], [1]), stored("x"), stored("y")
    ),
    "ZEROS_LIKE": same("ZEROS_LIKE"),
}


def with_variables(wide: int = 64) -> bytes:
    """y = relu(state + x) of a state that begins with ones, and is x then; beside it a branch whose
    best order is not the file's, and a second handle of the same variable."""
    handle = ("VarHandle", {"container": "", "sharedName": "state"})
    main = Graph(
        [
            T("handle", [], "RESOURCE"),
            flat("x", [1, 8]),
            flat("held", [1, 8]),
            flat("sum", [1, 8]),
            flat("y", [1, 8]),
            T("again", [], "RESOURCE"),
            flat("unused"),
            flat("unused too"),
            flat("c", [1, 8]),
            flat("d", [1, 8]),
            ints("unused as well", [1, wide]),
            ints("axis", [0]),
            ints("shape", [wide, 8]),
            flat("e", [wide, 8]),
            flat("f", [wide, 8]),
            flat("g", [8]),
            flat("h", [8]),
            ints("row", [1, 8]),
        ],
        [
            Op("CALL_ONCE", [], [], ("CallOnce", {"initSubgraphIndex": 1})),
            Op("VAR_HANDLE", [], [0], handle),
            Op("READ_VARIABLE", [0], [2]),
            Op("ADD", [2, 1], [3], ("Add", {})),
            Op("BROADCAST_TO", [3, 12], [13]),
            Op("BROADCAST_TO", [1, 12], [14]),
            Op("SUM", [13, 11], [15], ("Reducer", {})),
            Op("SUM", [14, 11], [16], ("Reducer", {})),
            Op("RESHAPE", [15, 17], [8], ("Reshape", {})),
            Op("RESHAPE", [16, 17], [9], ("Reshape", {})),
            Op("VAR_HANDLE", [], [5], handle),
            Op("ASSIGN_VARIABLE", [5, 1], []),
            Op("ADD", [8, 9], [4], ("Add", {})),
        ],
        [1],
        [4],
    )
    first = Graph(
        [
            T("handle", [], "RESOURCE"),
            T("ones", [1, 8], "FLOAT32", np.ones((1, 8), np.float32)),
        ],
        [Op("VAR_HANDLE", [], [0], handle), Op("ASSIGN_VARIABLE", [0, 1], [])],
        [],
        [],
        "init",
    )
    return build(main, first)


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    jobs = [Job("tflm", data, random_inputs(data, 1, 0)) for data in MODELS.values()]
    return dict(zip(MODELS, run(jobs, tmp_path_factory.mktemp("kept")), strict=True))


@pytest.mark.parametrize("name", MODELS)
def test_the_wheel_reports_what_is_known_of_an_operator(
    name: str, answers: dict[str, Answer]
) -> None:
    data, answer = MODELS[name], answers[name]
    assert answer.error == ""
    _, func = import_for_tflm(data)
    need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
    assert (need.head, need.tail) == (answer.head, answer.tail)


def test_a_file_with_variables_is_planned(tmp_path: Path) -> None:
    """Another subgraph sets what they begin with; TFLM runs it once, and obeys the plan."""
    data = with_variables()
    module, func = planned(data)
    result = write(module, data)
    inputs = random_inputs(data, 3, 1)
    before, after = run([Job("tflm", d, inputs) for d in (data, result)], tmp_path)
    assert (before.error, after.error) == ("", "")
    assert np.array_equal(before.outputs, after.outputs)
    plan, model = plan_of(func), read_model(result, "m")
    assert plan is not None and after.head == plan.arena < before.head
    need = interpreter_arena(func, read_model(data, "m"), WHEEL)
    assert (need.head, need.tail) == (after.head, after.tail)
    assert sum(len(g.tensors) for g in model.subgraphs) == 20


def branching(name: str) -> bytes:
    """An IF, or a WHILE that ends at once, of two subgraphs."""
    sides = ("then", "else") if name == "IF" else ("cond", "body")
    options = {f"{side}SubgraphIndex": i for i, side in enumerate(sides, 1)}
    condition = T("c", [1], "BOOL", np.array([0], np.bool_))
    first = [0] if name == "IF" else []
    main = Graph(
        [condition, flat("x"), flat("y")],
        [Op(name, [*first, 1], [2], (name.title(), options))],
        [1],
        [2],
    )
    exp = Graph([flat("a"), flat("b")], [Op("EXP", [0], [1])], [0], [1], "exp")
    ends = Graph([flat("a"), condition], [], [0], [1], "ends")
    return build(main, exp if name == "IF" else ends, exp)


@pytest.mark.parametrize("name", ["IF", "WHILE"])
def test_the_tail_of_several_subgraphs_is_known(name: str, tmp_path: Path) -> None:
    """Their head is not, so that such files are not planned yet."""
    data = branching(name)
    (answer,) = run([Job("tflm", data, random_inputs(data, 1, 0))], tmp_path)
    assert answer.error == ""
    _, func = import_for_tflm(data)
    need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
    assert need.tail == answer.tail

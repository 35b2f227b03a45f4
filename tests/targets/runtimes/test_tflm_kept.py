"""Bytes that TFLM keeps for operators, to the byte as the wheel reports them: of a small model of
each, and of a file with variables that another subgraph sets."""

from pathlib import Path

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build
from tflm_kept_models import MODELS, flat, ints
from tflm_plan import import_for_tflm, planned, write
from tflm_runner import Answer, Job, random_inputs, run

from memopt.backends.tflm.interpreter import interpreter_arena, unbounded_operators
from memopt.backends.tflm.structs import WHEEL
from memopt.compile.driver import new_context
from memopt.compile.pipelines import SettledOptions
from memopt.compile.run_passes import Seconds, plan_module
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import plan_of
from memopt.formats.tflite import read_model
from memopt.frontends.tflite.read import read


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


def computed_variable(wide: int = 100) -> bytes:
    """An IF whose one branch adds up a state, which CALL_ONCE begins with what it computes, in an
    order that is not the best."""
    handle = ("VarHandle", {"container": "", "sharedName": "state"})
    find = Op("VAR_HANDLE", [], [0], handle)
    resource, once = T("handle", [], "RESOURCE"), ("CallOnce", {"initSubgraphIndex": 1})
    sides = ("If", {"thenSubgraphIndex": 2, "elseSubgraphIndex": 3})
    main = Graph(
        [T("c", [1], "BOOL"), flat("x", [1, 8]), flat("y", [1, 8])],
        [Op("CALL_ONCE", [], [], once), Op("IF", [0, 1], [2], sides)],
        [0, 1],
        [2],
    )
    tensors = [ints("shape", [wide, 8]), ints("axis", [0]), flat("a", [wide, 8])]
    tensors += [flat("b", [wide, 8]), flat("c", [8]), flat("d", [8]), flat("e", [8])]
    ones = T("ones", [1, 8], "FLOAT32", np.ones((1, 8), np.float32))
    reduced = ("Reducer", {"keepDims": False})
    first = Graph(
        [resource, *tensors, ones],
        [
            *(Op("BROADCAST_TO", [8, 1], [i]) for i in (3, 4)),
            *(Op("SUM", [i, 2], [i + 2], reduced) for i in (3, 4)),
            Op("ADD", [5, 6], [7], ("Add", {})),
            find,
            Op("ASSIGN_VARIABLE", [0, 7], []),
        ],
        [],
        [],
        "init",
    )
    then = Graph(
        [resource, flat("x", [1, 8]), flat("held", [8]), flat("y", [1, 8])],
        [find, Op("READ_VARIABLE", [0], [2]), Op("ADD", [1, 2], [3], ("Add", {}))],
        [1],
        [3],
        "then",
    )
    other = Graph([flat("x", [1, 8]), flat("y", [1, 8])], [Op("NEG", [0], [1])], [0], [1], "else")
    return build(main, first, then, other)


def test_what_runs_once_and_computes_is_planned(tmp_path: Path) -> None:
    """Three subgraphs, two of which use a variable by its name: reordered, run, and counted."""
    data = computed_variable()
    module = read(data, "m")
    plan_module(new_context(), module, SettledOptions(target="tflm"), Seconds())
    func = next(functions(module))
    result, inputs = write(module, data), random_inputs(data, 4, 1)
    before, after = run([Job("tflm", d, inputs) for d in (data, result)], tmp_path)
    assert (before.error, after.error) == ("", "")
    assert np.array_equal(before.outputs, after.outputs) and np.ptp(before.outputs[0]) > 0
    model = read_model(data, "m")
    for answer, is_planned in ((before, False), (after, True)):
        need = interpreter_arena(func, model, WHEEL, planned=is_planned)
        assert (need.head, need.tail) == (answer.head, answer.tail)
    assert (before.head, after.head) == (6512, 3344)


def test_tensors_that_nobody_touches_take_their_bytes_once(tmp_path: Path) -> None:
    """TFLM lays them side by side, a plan of ours all at the start."""
    tensors = [flat("x", [1, 8]), flat("y", [1, 8])]
    unused = [flat(f"unused {i}", [1, 1000 + i]) for i in range(3)]
    data = build(Graph([*tensors, *unused], [Op("NEG", [0], [1])], [0], [1]))
    module, func = planned(data)
    result, inputs = write(module, data), random_inputs(data, 2, 1)
    before, after = run([Job("tflm", d, inputs) for d in (data, result)], tmp_path)
    assert (before.error, after.error) == ("", "")
    assert np.array_equal(before.outputs, after.outputs)
    model = read_model(data, "m")
    for answer, head, is_planned in ((before, 3 * 4016 - 16, False), (after, 4016, True)):
        need = interpreter_arena(func, model, WHEEL, planned=is_planned)
        assert (need.head, need.tail) == (answer.head, answer.tail) and answer.head == head
    plan = plan_of(func)
    assert plan is not None and plan.arena == 64 < after.head


def test_a_variable_that_no_handle_of_the_file_finds_is_not_bounded() -> None:
    """Its handle comes from outside."""
    tensors = [T("handle", [], "RESOURCE"), *(flat(name, [1, 8]) for name in ("x", "y"))]
    assign, read_it = Op("ASSIGN_VARIABLE", [0, 1], []), Op("READ_VARIABLE", [0], [2])
    data = build(Graph(tensors, [assign, read_it], [0, 1], [2]))
    _, func = import_for_tflm(data)
    model = read_model(data, "m")
    assert unbounded_operators(func, model) == ["ASSIGN_VARIABLE", "READ_VARIABLE"]
    with pytest.raises(MemoptError, match="ASSIGN_VARIABLE, READ_VARIABLE is not known"):
        interpreter_arena(func, model)


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
    data = branching(name)
    (answer,) = run([Job("tflm", data, random_inputs(data, 1, 0))], tmp_path)
    assert answer.error == ""
    _, func = import_for_tflm(data)
    need = interpreter_arena(func, read_model(data, name), WHEEL, planned=False)
    assert need.tail == answer.tail

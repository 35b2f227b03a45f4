"""Modules that commands import and files that they read before they begin, counted."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdsl.ir import Operation

from memopt.backends.c.emit.registry import KERNELS, all_kernels, kernels_of
from memopt.backends.c.kernels import kernel_file, kernel_files
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators import operations, operator_called, operator_named
from memopt.dialects.operators.base import ComputeOp
from memopt.modules import mentioning
from memopt.rewrites import RULES, FunctionRule, facts_of, is_met, names_of, rule_of


def imported(code: str) -> set[str]:
    """Return the packages and modules that a new process has imported after `code`."""
    after = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", after], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["memopt", "memopt_opt"])
def test_the_version_is_said_before_anything_is_imported(name: str) -> None:
    modules = imported(
        f"import sys; from memopt.console import {name} as main\n"
        "sys.argv = ['memopt', '--version']; assert main() == 0"
    )
    slow = {"numpy", "xdsl", "memopt.cli", "importlib.metadata", "dataclasses", "pathlib"}
    assert "memopt" in modules and not modules & slow
    assert sum(module.startswith("memopt.") for module in modules) <= 16


TEXT = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = memgraph.relu6 %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""


def test_a_small_file_loads_the_families_that_it_has(tmp_path: Path) -> None:
    """And no pass, backend or solver beside what is asked for."""
    (tmp_path / "tiny.mlir").write_text(TEXT)
    arguments = [str(tmp_path / "tiny.mlir"), "-o", str(tmp_path / "read.mlir")]
    modules = imported(f"from memopt.cli.opt import main; assert main({arguments}) == 0")
    rooms = ("passes.memgraph", "solvers.scheduling", "backends.c.kernels", "verify.channels")
    loaded = [m for m in modules if m.startswith(tuple(f"memopt.{room}" for room in rooms))]
    assert loaded == ["memopt.passes.memgraph_input_range"]  # what its option is called
    families = {m for m in modules if m.startswith("memopt.dialects.operators.")}
    assert "memopt.dialects.operators.unary" in families
    assert len(families) < 20 and "memopt.dialects.operators.binary" not in families
    assert "importlib.metadata" not in modules


def test_buffers_are_placed_without_what_models_need(tmp_path: Path) -> None:
    """Place two of three beside each other, which takes all strategies without a search."""
    (tmp_path / "b.csv").write_text("id,lower,upper,size\na,0,2,16\nb,1,3,8\nc,2,4,16\n")
    arguments = ["place", str(tmp_path / "b.csv"), "-o", str(tmp_path / "placed.csv")]
    modules = imported(f"from memopt.cli import main; assert main({arguments}) == 0")
    assert "memopt.solvers.placement.methods.auto" in modules
    assert not modules & {"xdsl", "numpy", "networkx", "ortools", "memopt.compile.driver"}


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.name)
def test_every_operation_is_found_by_its_name(kind: type[Operation]) -> None:
    assert operator_named(kind.name) is kind


def test_what_is_no_operation_is_not_found() -> None:
    assert operator_named("memgraph.nothing") is None


def test_or_tools_comes_without_pandas_until_it_is_asked_for() -> None:
    """A series of variables, which only pandas can make, is as it was."""
    program = "from memopt.solvers.programs.or_tools import cp_model"
    assert "pandas" not in imported(program)
    series = (
        "\nimport pandas; index = pandas.Index([1, 2])"
        "\nassert len(cp_model.CpModel().new_int_var_series('x', index, 0, 3)) == 2"
    )
    assert "pandas" in imported(program + series)


def test_operations_are_told_by_what_they_derive_from() -> None:
    """Asking each class of every family by `issubclass` took a tenth of a command's start."""
    asked: list[str] = []

    def count(_: object, event: str, what: Any) -> None:
        if event == "c_call":
            asked.append(what.__name__)

    operations()  # loads them
    sys.setprofile(count)
    try:
        assert operations()
    finally:
        sys.setprofile(None)
    assert "sorted" in asked and asked.count("_abc_subclasscheck") == 0


def test_a_model_loads_the_rules_kernels_and_passes_that_it_meets(
    shared: Path, tmp_path: Path
) -> None:
    """Hold `compile` to what is of its operators: none is an LSTM, a formula or of a signal."""
    model = str(shared / "models" / "resnet8_int8.tflite")
    asked = {"host": {"memopt.solvers.programs.cp_solver"}, "tflm": set[str]()}  # whether rows fit
    for target, module_limit in (("host", 640), ("tflm", 580)):
        arguments = ["compile", model, f"--target={target}", "-o", str(tmp_path / target)]
        modules = imported(f"from memopt.cli import main; assert main({arguments}) == 0")
        ours = {m.removeprefix("memopt.") for m in modules if m.startswith("memopt.")}
        assert len(ours) <= module_limit, len(ours)
        met = {m for m in ours if m.startswith(("rewrites.", "backends.c.kernels."))}
        others = "lstm", "signal", "attention", "unary", "reductions", "layer_normalization"
        assert met and not [m for m in met if m.rpartition(".")[2] in others]
        assert "frontends.tflite.operators" in ours and "backends.report" not in ours
        unasked = {"cli.several_models", "passes.memgraph_slide", "passes.memgraph_traffic"}
        runtimes = {"host": "compile.tflm", "tflm": "compile.c"}
        assert not ours & {*unasked, runtimes[target]}
        assert not modules & {"numpy.ma.core", "memopt.solvers.programs.cp_solver"} - asked[target]


def test_what_a_rule_says_is_read_without_it() -> None:
    """Read the facts of each from its file as its class has them."""
    loaded = imported("from memopt.rewrites import RULES, facts_of; [*map(facts_of, RULES)]")
    assert not [m for m in loaded if m.startswith("memopt.rewrites.")]
    kinds = [*operations(), OpaqueOp]
    for name in RULES:
        facts, rule = facts_of(name), rule_of(name)
        for fact in ("exact", "applied", "virtual", "claims", "keeps_claims", "only_lower"):
            assert getattr(facts, fact) == getattr(rule, fact), (name, fact)
        assert facts.of_function is issubclass(rule, FunctionRule)
        assert facts.waits is getattr(rule, "waits", False)
        for kind in kinds:
            assert facts.may_be_met(names_of({kind})) or not is_met(rule, {kind}), (name, kind)


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.name)
def test_kernels_of_an_operation_are_in_the_families_that_name_it(kind: type[Operation]) -> None:
    every = [k for k in all_kernels() if k.op in kind.__mro__]
    assert {(k.types, k.isa, k.sums, k.fast, k.lower) for k in every} == {
        (k.types, k.isa, k.sums, k.fast, k.lower) for k in kernels_of(kind)
    }
    classes = set(kind.__mro__).difference(ComputeOp.__mro__)
    families = mentioning([one.__name__ for one in classes], KERNELS)
    for k in every:
        assert any(f"{k.lower.__module__}.".startswith(f"{family}.") for family in families)


@pytest.mark.parametrize("kind", operations(), ids=lambda kind: kind.name)
def test_an_operation_is_found_by_the_name_that_a_format_has(kind: type[Operation]) -> None:
    for attribute in ("TFLITE", "ONNX"):
        name = getattr(kind, attribute, "")
        assert not name or operator_called(attribute, name) is kind


def test_an_operator_of_no_format_loads_nothing() -> None:
    program = "from memopt.frontends.tflite.operators import OPERATORS as o"
    asked = f'{program}\nassert "CUSTOM:Nothing" not in o and "CONV_2D" in o and o["ADD"].kinds'
    families = {m for m in imported(asked) if m.startswith("memopt.dialects.operators.")}
    assert "memopt.dialects.operators.lstm" not in families and len(families) < 40


@pytest.mark.parametrize("name", ["memopt_common.h", "memopt_add_s8.c", "memopt_sin_f32.c"])
def test_a_kernel_is_found_by_the_name_of_its_file(name: str) -> None:
    assert kernel_file(name) == kernel_files()[name]
    with pytest.raises(KeyError):
        kernel_file("memopt_nothing_f32.c")

"""Kernels are found by walking their folder, the best of a target's instruction sets is taken."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

from memopt.backends.c import kernels
from memopt.backends.c.emit import registry
from memopt.backends.c.emit.call import Constants, KernelCall, Table
from memopt.backends.c.emit.lowering import lower as lower_op
from memopt.backends.c.emit.registry import all_kernels, any_fast, kernel, kernels_of, matching
from memopt.backends.c.kernels import (
    Source,
    declarations,
    field_order,
    kernel_files,
    parameters_of,
    sources_of,
)
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators import operations
from memopt.dialects.operators.traits import RealsOnly
from memopt.dialects.operators.unary import FunctionOp, HardSwishOp, ReluOp
from memopt.frontends.onnx.operators import OPERATORS

DIRECTORY = Path(kernels.__file__).parent


def operation(kind: str, element: str, after: str = "") -> Operation:
    tensor, result = (f"tensor<4x16x{e}>" for e in (element, after or element))
    text = (
        f"func.func @main(%x: {tensor}) -> {result} {{\n"
        f"  %0 = memgraph.{kind} %x : ({tensor}) -> {result}\n  func.return %0 : {result}\n}}\n"
    )
    first = only_function(load_text(new_context(True), text, "in")).body.block.first_op
    assert first is not None
    return first


@pytest.fixture
def registered() -> Iterator[None]:
    """Kernels of the test are forgotten after it."""
    all_kernels()
    private: Any = registry
    before, of_class = tuple(private._REGISTERED), tuple(private._OF_CLASS)
    yield
    private._REGISTERED[:], private._OF_CLASS[:] = before, of_class
    kernels_of.cache_clear()
    any_fast.cache_clear()


def lower(op: ReluOp, constants: Constants) -> KernelCall:
    raise NotImplementedError


@pytest.mark.usefixtures("registered")
def test_the_best_instruction_set_wins() -> None:
    relu = operation("relu", "f32")
    for isa in ("dsp", "mve"):
        kernel(ReluOp, "f32", isa=isa)(lower)
    assert matching(relu, ("c",)).isa == "c"
    assert matching(relu, ("dsp", "c")).isa == "dsp"
    assert matching(relu, ("mve", "dsp", "c")).isa == "mve"


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("modules", [("plugin.a", "plugin.b"), ("plugin.b", "plugin.a")])
def test_of_equal_kernels_it_does_not_matter_which_was_loaded_first(modules: list[str]) -> None:
    for module in modules:

        def equal(op: ReluOp, constants: Constants) -> KernelCall:
            raise NotImplementedError

        equal.__module__ = module
        kernel(ReluOp, "f32", isa="toy")(equal)
    assert matching(operation("relu", "f32"), ("toy",)).lower.__module__ == "plugin.a"


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("of_class", [False, True])
def test_a_fast_kernel_is_known_as_soon_as_it_is_registered(of_class: bool) -> None:
    def types(_: type[ReluOp]) -> str:
        return "f32"

    assert not any_fast(("toy",))
    kernel(ReluOp, types if of_class else "f32", isa="toy", fast="wide")(lower)
    assert any_fast(("toy",))


def test_no_match_of_a_conversion_says_which_end_has_none() -> None:
    """One line, not every pair of types."""
    cast = operation("cast", "f32", "f16")
    with pytest.raises(MemoptError) as refused:
        matching(cast, ("c",))
    text = "on f32 to f16: from f32 only to bool, f32, i32, i64, s16, s8, u8, not f16"
    assert str(refused.value).endswith(text)
    with pytest.raises(MemoptError) as refused:
        matching(operation("cast", "f16", "f32"), ("c",))
    text = "on f16 to f32: only from bool, f32, i32, i64, s16, s8, u8, ui32, not f16"
    assert str(refused.value).endswith(text)
    with pytest.raises(MemoptError) as refused:
        matching(operation("relu", "f64"), ("cmsis-nn", "dsp", "c"))
    assert "(" not in str(refused.value).partition("only on")[2]


@pytest.mark.usefixtures("registered")
def test_no_match_lists_what_would() -> None:
    kernel(HardSwishOp, "s16", isa="mve")(lower)  # type: ignore[arg-type]
    with pytest.raises(MemoptError) as refused:
        matching(operation("hard_swish", "i16"), ("dsp", "c"))
    text = "no kernel for memgraph.hard_swish on s16, only on f32, s16 (mve), s8, u8"
    assert text in str(refused.value)
    with pytest.raises(
        MemoptError, match=r"no kernel for memgraph\.tanh on i32, only on f32, s16, s8, u8$"
    ):
        matching(operation("tanh", "i32"), ("c",))


def test_every_source_belongs_to_a_family_that_registers_kernels() -> None:
    """But for the one that calls others."""
    families = {p.parent for p in DIRECTORY.rglob("*.c")} - {DIRECTORY}  # those call others
    modules = {k.lower.__module__.rsplit(".", 1)[-1] for k in all_kernels()}
    assert (
        {f.name for f in families}
        <= modules
        == {p.parent.name for p in DIRECTORY.glob("*/__init__.py")}
    )
    sources = [source.name for p in DIRECTORY.rglob("memopt_*.[ch]") for source in sources_of(p)]
    assert sorted(sources) == sorted(kernel_files())
    keys = [(k.op, k.types, k.isa, k.sums, k.fast) for k in all_kernels()]
    assert len(keys) == len(set(keys))


def test_a_file_is_the_source_of_each_line_of_its_table(tmp_path: Path) -> None:
    """Check that words are replaced in names and text, and that heads are written out."""
    path = tmp_path / "memopt_NAME_KIND.c"
    path.write_text(
        "/* NAME  KIND  VALUE\n * less  s8    x < y ? x : y\n * sum   f32   x + y\n */\n"
        "/* NAME of KIND. */\n"
        "KERNEL(rows, scratch) {\n  return MEMOPT_VALUE(VALUE);\n}\n"
    )
    less, added = sources_of(path)
    assert (less.name, added.name) == ("memopt_less_s8.c", "memopt_sum_f32.c")
    begin = "MEMOPT_KERNEL void memopt_sum_f32("
    assert less.text.endswith("  return MEMOPT_VALUE(x < y ? x : y);\n}\n")
    assert added.text == (
        "/* sum of f32. */\n"
        f"{begin}const void *params, const memopt_rows *rows,\n"
        f"{' ' * len(begin)}const void *const *in, void *out, void *scratch) {{\n"
        "  const memopt_sum_f32_params *p = (const memopt_sum_f32_params *)params;\n"
        "  (void)rows;\n  (void)scratch;\n"
        "  return MEMOPT_VALUE(x + y);\n}\n"
    )


def test_every_word_of_a_table_is_in_its_file() -> None:
    """And none is left in what it is the source of."""
    several = [s for s in kernel_files().values() if s.words]
    assert len(several) > 100
    for source in several:
        text = source.path.read_text().partition(" */\n")[2]
        for word, _ in source.words:
            assert re.search(rf"(?<![A-Z]){word}(?![A-Z])", text), (source.path.name, word)
            assert not re.search(rf"(?<![A-Z_]){word}(?![A-Z])", source.text), source.name


def test_every_kernel_is_called_in_the_same_way() -> None:
    """And says the type of its parameters first, which generated code repeats."""
    sources = [(n, f) for n, f in kernel_files().items() if n.endswith(".c")]
    assert len(sources) > 20
    for name, file in sources:
        kernel, text = name.removesuffix(".c"), " ".join(file.text.split())
        arguments = "const void *params, const memopt_rows *rows, const void *const *in, void *out"
        assert text.count("MEMOPT_KERNEL ") == 1
        assert f"MEMOPT_KERNEL void {kernel}({arguments}, void *scratch) {{" in text
        first = " ".join(parameters_of(kernel.removeprefix("memopt_")).split())
        assert first.endswith(f"}} {kernel}_params;") and first.count("typedef") == 1


def test_declarations_are_complete_and_no_more() -> None:
    """With the headers of types that parameters are made of, without those that only compute."""
    text = declarations(["max_pool_2d_s8", "conv_2d_s8", "conv_2d_s8"])
    assert re.findall(r"#include .*", text) == [
        '#include "memopt_common.h"',
        '#include "memopt_pool_2d.h"',
    ]
    assert re.findall(r"^memopt_kernel (\w+);", text, re.MULTILINE) == [
        "memopt_max_pool_2d_s8",
        "memopt_conv_2d_s8",
    ]


def test_what_is_folded_into_integers_of_onnx_has_a_kernel_of_them() -> None:
    """Between its pairs `PRelu` stays one of reals, which have a kernel."""
    left_out = set[str]()
    for op in {op for entry in OPERATORS.values() for op in entry.kinds}:
        if "rounding" not in op.get_irdl_definition().properties:
            continue
        roundings = [k.roundings for k in kernels_of(op) if k.types == "s8" and k.isa == "c"]
        is_even = any(not names or "onnx_even" in names for names in roundings)
        assert is_even or not (roundings and not op.has_trait(RealsOnly)), op.name
        if roundings and not is_even:
            left_out.add(op.name)
    assert left_out == {"memgraph.prelu", "memgraph.div"}


@pytest.mark.parametrize(("bits", "axis"), [(4, 1), (2, 0)])
def test_elements_that_share_a_byte_are_not_moved(bits: int, axis: int) -> None:
    """They would have been counted as none, and nothing copied."""
    one, both = f"tensor<2x8xsi{bits}>", "tensor<2x16xsi4>" if axis else f"tensor<4x8xsi{bits}>"
    text = (
        f"func.func @main(%x: {one}, %y: {one}) -> {both} {{\n  %0 = memgraph.concat %x, %y"
        f" axis {axis} : ({one}, {one}) -> {both}\n  func.return %0 : {both}\n}}\n"
    )
    op = only_function(load_text(new_context(True), text, "in")).body.block.first_op
    assert op is not None
    with pytest.raises(MemoptError, match=f"elements of si{bits}, which share a byte"):
        lower_op(op, lambda _: None, ("c",))


ALPHA = {"leaky_relu": " alpha 3.0e-01"}


def of_every_int8(kind: str, before: str, after: str) -> FunctionOp:
    """A function of 256 values in these numbers."""
    types = [f"tensor<256xsi8, #memgraph.encoding<{n}>>" for n in (before, after)]
    text = (
        f"func.func @main(%x: {types[0]}) -> {types[1]} {{\n"
        f"  %0 = memgraph.{kind} %x{ALPHA.get(kind, '')}"
        f" rounding<tflm_double> : ({types[0]}) -> {types[1]}\n  func.return %0 : {types[1]}\n}}\n"
    )
    op = only_function(load_text(new_context(True), text, "in")).body.block.first_op
    assert isinstance(op, FunctionOp)
    return op


NUMBERS = [  # of the result
    f"scale = [{scale}], zero_point = [{zero}]"
    for scale, zero in ((4.3e-2, 7), (9.1e-2, -30), (1 / 256, -128), (1 / 128, 0))
]
FUNCTIONS = [
    op for op in operations() if issubclass(op, FunctionOp) and not op.has_trait(RealsOnly)
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda op: op.name)
def test_a_table_is_what_the_operation_evaluates_to(function: type[FunctionOp]) -> None:
    """In every numbers in which the operation has a meaning."""
    compared = 0
    for numbers in NUMBERS:
        op = of_every_int8(function.name.removeprefix("memgraph."), NUMBERS[0], numbers)
        values = np.arange(-128, 128).astype(np.int8)
        try:
            (expected,) = op.evaluate([values])
        except MemoptError:
            continue
        (call,) = lower_op(op, lambda _: None, ("c",))
        table = dict(call.fields)["table"]
        assert isinstance(table, Table) and np.array_equal(table.values, expected)
        compared += 1
    assert compared


def test_every_declared_field_has_its_place() -> None:
    """Fields of several dimensions, too: steps along each axis of each operand."""
    comment = re.compile(r"/\*.*?\*/", re.DOTALL)
    for file, source in kernel_files().items():
        kernel = file.removeprefix("memopt_").removesuffix(".c")
        text = comment.sub("", source.text)
        found = re.search(rf"typedef struct {{([^}}]*)}} memopt_{kernel}_params;", text)
        if found is not None:
            declared = found[1].count(";") + found[1].count(",")
            assert declared == sum("." not in name for name in field_order(kernel)), file
    assert "step" in field_order("choose")


def test_the_fields_of_a_kernel_that_replaces_another_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where those of the other were asked for before, and after it is gone."""
    theirs = field_order("maximum_s8")
    source = tmp_path / "memopt_maximum_s8.c"
    source.write_text("typedef struct {\n  int32_t n, bytes;\n} memopt_maximum_s8_params;\n")
    files = {**kernel_files(), source.name: Source(source)}
    with monkeypatch.context() as patched:
        patched.setattr(kernels, "kernel_file", files.__getitem__)
        assert field_order("maximum_s8") == {"n": 0, "bytes": 1}
    assert field_order("maximum_s8") == theirs != {"n": 0, "bytes": 1}

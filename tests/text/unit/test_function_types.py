"""Types of operations as text: the bytes are those of xDSL's own printer."""

from io import StringIO

from xdsl.printer import Printer

from memopt.compile.driver import new_context
from memopt.text.ir_text import module_text, parse_module

TEXT = """
"test.none"() : () -> ()
%0 = "test.one"() {count = 3 : i64, on, "two words" = [1 : i64, "x"]} : () -> tensor<2x?xf32>
%1, %2 = "test.two"(%0) : (tensor<2x?xf32>) -> (tensor<i8>, tensor<4x2xi8>)
%3 = "test.function"(%0, %2) : (tensor<2x?xf32>, tensor<4x2xi8>) -> ((i32) -> i32)
%4 = "test.last"(%3, %1) : ((i32) -> i32, tensor<i8>) -> tensor<1x4xf32>
"""


def test_types_of_operations_are_printed_as_xdsl_prints_them() -> None:
    """Check none, one and several results, a function as the only one, and types without an
    encoding, of fixed shapes and others."""
    context = new_context()
    context.allow_unregistered = True
    module = parse_module(context, TEXT, "types.mlir")
    text = StringIO()
    Printer(text).print_op(module)
    assert module_text(module) == f"{text.getvalue()}\n"

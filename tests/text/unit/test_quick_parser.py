"""What is read in one go says the same as xDSL's parser does, and is refused in the same words."""

from collections.abc import Generator
from contextlib import contextmanager
from random import Random

import pytest
from places import FILECHECK
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.mlir_lexer import MLIRLexer

from memopt.compile.driver import new_context
from memopt.text.ir_text import module_text, parse_module
from memopt.text.lexer import Utf8Lexer
from memopt.text.quick_parser import QuickParser

GOLDEN = FILECHECK
FILES = (
    "roundtrip.mlir",
    "memgraph-place.mlir",
    "memgraph-memory.mlir",
    "memgraph-expand-rows.mlir",
    "memgraph-state-errors.mlir",
)
CASES = 4_000  # texts with a character more, fewer or another
CHARACTERS = '{}[]<>(),:="x#%!@-09a.i \n'
QUICK = (
    "parse_operation",
    "parse_optional_dictionary_attr_dict",
    "parse_optional_attribute",
    "parse_optional_type",
    "parse_optional_function_type",
)
EDGES = """
!a = tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>
!r = tensor<1x1x8x4xf32, #memgraph.encoding<nhwc>>
%0, %1 = "test.a"() {a, b.c = "x", d = ["y", ""], e = -1 : i64, f = [0 : i64, -7 : i64]} :
    () -> (tensor<i8>, i1)
"test.b"(%0) {g = #memgraph.source<0, 1, []>, h = #memgraph.source<0, 2, [3, 4]>} :
    (tensor<i8>) -> ()
"test.c"() {a = [[#memgraph.alias<operand = 0, kind = view>], []], b = #memgraph.unplaced<caller>}
    : () -> ()
"test.c"() {a = [[#memgraph.alias<operand = 0, kind = view>], []], b = #memgraph.unplaced<caller>}
    : () -> ()
"test.d"() {a = 9223372036854775807 : i64, b = 3 : i32, c = "\\C3\\A9", d = 1.5 : f32}
    : () -> !memgraph.chain
"test.e"() {e = 0x1F : i64, f = [], g = {a = 1 : i64}}
    : () -> (tensor<0x10xi8>, tensor<2x?xf32>, tensor<4xindex>, tensor<3xui8>)
// {a = 1 : i64} : () -> i8
"test.f"() : () -> ()
%a = memgraph.opaque "A"() {a, memgraph.order = 1 : i64} : () -> tensor<8xi8>
%b, %c = memgraph.opaque "B"(%a, %a) stateful {b} : (tensor<8xi8>, tensor<8xi8>) -> (tensor<i8>, i1)
%d = memgraph.opaque "C"(%c) {c = "c"} : (i1) -> tensor<8xi8> loc(unknown)
%e:2 = memgraph.opaque "D"(%f) {d = 1 : i64} : (tensor<8xi8>) -> (i1, i1)
%f = memgraph.opaque "E"(%e#1) {e = -1 : i64} : (i1) -> tensor<8xi8>
%g = memgraph.opaque "F"() : () -> tensor<8xi8>
%h = memgraph.opaque "G"(%g) options {a = 1 : i64} : (tensor<8xi8>) -> tensor<8xi8>
%x = "test.g"() : () -> !a
%p = memgraph.row_kernel (%x_1: !a) {
  %y = memgraph.max_pool_2d %x_1 window<[1, 1]> : (!a) -> !a
  memgraph.yield %y : !a
}
%x0, %x1, %x2 = memgraph.split_rows %x : !a
%q = memgraph.relu %x : (tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>) -> !a
%r = memgraph.add %x, %q : (tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>, !a)
    -> tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>
%s = "test.h"() : () -> tensor<1x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>
%t:3 = "test.i"(%s) : (tensor<1x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>)
    -> (tensor<1xi8, #memgraph.encoding<nhwc>>, tensor<1xi8, #memgraph.encoding<nhwc >>,
     tensor<1xi8, #memgraph.encoding<nhwc> // said
     >)
%u = "test.j"(%x, %s) : (tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>,
    tensor<1x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>) -> !a
%v = "test.k"(%u, %d) : (tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>, tensor<8xi8>) -> !a
%w = memgraph.opaque "H"(%v) : (tensor<1x3x8x4xf32, #memgraph.encoding<nhwc>>) -> !a
%y0 = memgraph.row %p[0] (%x0) {memgraph.order = 0 : i64} : (!r) -> !r
%y1 = memgraph.row %p[01] (%x1) : (!r) -> !r
%y2 = memgraph.row %p[2] (%x2) {index = 7 : i64} : (!r) -> !r loc("of.py":2:3)
"""


@contextmanager
def token_by_token(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    with monkeypatch.context() as patch:
        for name in QUICK:
            patch.setattr(QuickParser, name, getattr(Parser, name))
        patch.setattr(Utf8Lexer, "lex", MLIRLexer.lex)
        yield


def said(text: str) -> list[str]:
    """The module, with where each of its operations stands, or why there is none."""
    try:
        module: ModuleOp = parse_module(new_context(allow_unregistered=True), text, "net.mlir")
    except ParseError as error:
        return [str(error)]
    return [module_text(module, generic=True), *(str(op.location) for op in module.walk())]


@pytest.mark.deep
def test_what_is_read_in_one_go_is_what_xdsl_reads(
    monkeypatch: pytest.MonkeyPatch, fuzz: float
) -> None:
    random = Random(8)
    golden = [piece for name in FILES for piece in (GOLDEN / name).read_text().split("// -----")]
    texts = [EDGES, *golden]
    for _ in range(round(CASES * fuzz)):
        text = random.choice((EDGES, random.choice(golden)))
        at, new = random.randrange(len(text)), random.choice(("", random.choice(CHARACTERS)))
        texts.append(text[:at] + new + text[at + random.randrange(2) :])
    quick = [said(text) for text in texts]
    with token_by_token(monkeypatch):
        assert [said(text) for text in texts] == quick
    assert len(quick[0]) > 1  # the edges are read, not refused

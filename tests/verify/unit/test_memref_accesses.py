"""Plans of memrefs that were forged: bytes are read by a way that the verifier does not follow,
after something else was written over them."""

import pytest
from xdsl.parser import Parser

from memopt.compile.driver import new_context
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.verify import memrefs

PLAN = (
    "memgraph.plan = #memgraph.plan<peak = 64, lower_bound = 64, proof = none, family = order,"
    ' arena = 64, arena_lower_bound = 64, fingerprint = "...">'
)
PLACE = "memref.alloc() {memgraph.offset = [0 : i64]} : memref<64xi8>"
BETWEEN = f"""
%b = {PLACE}
"memref.copy"(%x, %b) : (memref<64xi8>, memref<64xi8>) -> ()
"memref.copy"(%b, %y) : (memref<64xi8>, memref<64xi8>) -> ()
"""
FORGED = {  # an error, what comes between the writing of %a and that of %b, and what behind both
    "memref.copy reads a, which is overwritten": (
        "",
        '"memref.copy"(%a, %y) : (memref<64xi8>, memref<64xi8>) -> ()',
    ),
    "memref.store has a memref of memrefs": (
        '%z = arith.constant 0 : index\n"memref.store"(%a, %t, %z) :'
        " (memref<64xi8>, memref<1xmemref<64xi8>>, index) -> ()",
        '%c = "memref.load"(%t, %z) : (memref<1xmemref<64xi8>>, index) -> memref<64xi8>\n'
        '"memref.copy"(%c, %y) : (memref<64xi8>, memref<64xi8>) -> ()',
    ),
    "bufferization.to_tensor makes what may show the bytes": (
        '%c = "bufferization.to_tensor"(%a) : (memref<64xi8>) -> tensor<64xi8>',
        '"test.op"(%c) : (tensor<64xi8>) -> ()',
    ),
    "builtin.unrealized_conversion_cast makes what may show the bytes": (
        "%c = builtin.unrealized_conversion_cast %a : memref<64xi8> to i64",
        '"test.op"(%c) : (i64) -> ()',
    ),
    "reads c, which is overwritten": (
        "%c = builtin.unrealized_conversion_cast %a : memref<64xi8> to memref<64xi8>",
        '"memref.copy"(%c, %y) : (memref<64xi8>, memref<64xi8>) -> ()',
    ),
}


@pytest.mark.parametrize("error", FORGED)
def test_what_is_read_unseen_is_refused(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, read = FORGED[error]
    copy = '"memref.copy"(%x, %a) : (memref<64xi8>, memref<64xi8>) -> ()'
    inputs = "%x: memref<64xi8>, %y: memref<64xi8>, %t: memref<1xmemref<64xi8>>"
    body = "\n".join((f"%a = {PLACE}", copy, shown, BETWEEN, read, "func.return"))
    text = f"func.func @f({inputs}) attributes {{{PLAN}}} {{\n{body}\n}}"
    func = only_function(Parser(new_context(), text).parse_module())
    plan = plan_of(func)
    assert plan is not None

    def as_stated(_: object) -> str:
        return plan.fingerprint.data

    monkeypatch.setattr(memrefs, "fingerprint", as_stated)
    with pytest.raises(MemoptError, match=error):
        memrefs.verify_memrefs(func)

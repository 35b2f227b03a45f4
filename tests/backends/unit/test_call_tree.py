"""The stack by the call tree: what functions push, call, and run on into."""

import pytest

from memopt.backends.c.project.stack import CallTree, functions_of

MAIN = """
00000100 <model_main>:
 100:\tb500      \tpush\t{r4, r5, r6, r7, r8, lr}
 102:\tf000 f800 \tbl\t200 <net_run>
 106:\tbd00      \tpop\t{pc}
"""
CODE = """
00000200 <net_run>:
 200:\te92d 4ff0 \tstmdb\tsp!, {r4, r5, lr}
 204:\tb085      \tsub\tsp, #20
 206:\t47a8      \tblx\tr5
 208:\tb005      \tadd\tsp, #20
 20a:\te8bd 8030 \tldmia.w\tsp!, {r4, r5, pc}

00000300 <net_memopt_inlined>:
 300:\tb510      \tpush\t{r4, lr}
 302:\t47a0      \tblx\tr4
 304:\tbd10      \tpop\t{r4, pc}

00000400 <net_memopt_copy>:
 400:\ted2d 8b02 \tvpush\t{d8-d9}
 404:\te96d 4502 \tstrd\tr4, r5, [sp, #-8]!
 408:\tb900      \tcbnz\tr0, 40c <net_memopt_copy+0xc>
 40a:\te7f8      \tb.n\t500 <helper>
 40c:\t4770      \tbx\tlr
 40e:\t00000500 \t.word\t0x00000500

00000500 <helper>:
 500:\tb580      \tpush\t{r7, lr}
 502:\tbf00      \tnop

00000504 <behind>:
 504:\tb081      \tsub\tsp, #4
 506:\t4770      \tbx\tlr
"""


def tree(text: str) -> CallTree:
    return CallTree.of(functions_of((MAIN + text).splitlines()))


def test_every_way_to_take_stack_is_counted() -> None:
    """Main's own bytes are not: the run's 12 + 20, then the deepest kernel through a pointer, which
    may be one that calls another: 8 + (16 + 8), which ends in one of 8, which runs on into 4."""
    found = tree(CODE)
    assert {name: f.frame for name, f in found.functions.items()} == {
        "model_main": 24,
        "net_run": 32,
        "net_memopt_inlined": 8,
        "net_memopt_copy": 24,
        "helper": 8,
        "behind": 4,
    }
    assert found.kernels == {"net_memopt_inlined", "net_memopt_copy"}
    assert found.below("model_main") == 32 + 8 + 24 + 8 + 4


def test_a_routine_within_a_function_is_no_recursion() -> None:
    """As in libgcc's product of doubles; what it pushes is the function's."""
    inner = "cbnz\tr0, 40c <net_memopt_copy+0xc>"
    assert inner in CODE
    found = tree(CODE.replace(inner, "bleq\t40c <net_memopt_copy+0xc>"))
    assert found.below("model_main") == tree(CODE).below("model_main")


def test_functions_of_one_name_are_two() -> None:
    more = """
00000600 <helper>:
 600:\tb0ff      \tsub\tsp, #508
 602:\t4770      \tbx\tlr
"""
    found = tree(CODE.replace("b.n\t500 <helper>", "b.n\t600 <helper>") + more)
    assert found.functions["helper@00000600"].frame == 508
    assert found.below("model_main") == 32 + 8 + 24 + 508


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("sub\tsp, #4", "sub\tsp, r3"),
        ("cbnz\tr0, 40c <net_memopt_copy+0xc>", "bl\t400 <net_memopt_copy>"),
        ("sub\tsp, #4\n 506:\t4770      \tbx\tlr", "bl\t200 <net_run>\n 508:\t4770      \tbx\tlr"),
    ],
)
def test_what_has_no_bound(before: str, after: str) -> None:
    """A stack pointer that is computed, and recursion."""
    assert before in CODE
    assert tree(CODE.replace(before, after)).below("model_main") is None

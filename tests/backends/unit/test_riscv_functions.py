"""The stack of RISC-V programs, by what functions subtract from the stack pointer and call."""

import pytest

from memopt.backends.c.project.functions_riscv import functions_of
from memopt.backends.c.project.stack import CallTree

CODE = """
80400000 <model_main>:
80400000:\t1141                \tadd\tsp,sp,-16
80400002:\t01c000ef          \tjal\t8040001e <net_run>
80400006:\t0141                \tadd\tsp,sp,16
80400008:\t8082                \tret

8040001e <net_run>:
8040001e:\t7119                \tadd\tsp,sp,-128
80400020:\t75fd                \tlui\ta1,0xfffff
80400022:\t70058593          \tadd\ta1,a1,1792 # fffff700 <link_end+0x7f>
80400026:\t912e                \tadd\tsp,sp,a1
80400028:\t9782                \tjalr\ta5
8040002a:\t8082                \tret

80400040 <net_memopt_copy>:
80400040:\t5551                \tli\ta0,-12
80400042:\t40000513          \tli\ta0,1024
80400046:\t40a10133          \tsub\tsp,sp,a0
8040004a:\tc509                \tbeqz\ta0,80400054 <net_memopt_copy+0x14>
8040004c:\ta011                \tj\t80400060 <helper>
80400054:\t8082                \tret

80400060 <helper>:
80400060:\t7ff002ef          \tjal\tt0,80400070 <__riscv_save_4>
80400064:\t0001                \tnop

80400068 <behind>:
80400068:\t1161                \tadd\tsp,sp,-8
8040006a:\t12345097          \tauipc\tra,0x12345
8040006e:\t8082                \tret

80400070 <__riscv_save_4>:
80400070:\t7139                \tadd\tsp,sp,-64
80400072:\t8282                \tjr\tt0
"""


def test_every_way_to_take_stack_is_counted() -> None:
    tree = CallTree.of(functions_of(CODE.splitlines()))
    assert {name: f.frame for name, f in tree.functions.items()} == {
        "model_main": 16,
        "net_run": 128 + 4096 - 1792,
        "net_memopt_copy": 1024,
        "helper": 64,
        "behind": 8,
        "__riscv_save_4": 64,
    }
    assert tree.functions["net_memopt_copy"].calls == {"helper"}
    assert tree.functions["helper"].calls == {"behind", "__riscv_save_4"}
    assert tree.functions["net_run"].is_indirect
    assert tree.below("helper") == 64
    assert tree.below("net_memopt_copy") == 64 + 64
    assert tree.below("model_main") == 2432 + 1024 + 128


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("sub\tsp,sp,a0", "sub\tsp,sp,a3"),  # of a register that nothing is known of
        ("li\ta0,1024", "mv\ta0,a2"),
        (
            "ret\n\n80400060",
            "j\t80400040 <net_memopt_copy>\n80400056:\t8082\tjal\t80400040 <x>\n\n80400060",
        ),
    ],
)
def test_what_is_computed_or_calls_itself_has_no_bound(old: str, new: str) -> None:
    assert old in CODE
    tree = CallTree.of(functions_of(CODE.replace(old, new, 1).splitlines()))
    assert tree.below("model_main") is None

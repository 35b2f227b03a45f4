"""Text of stablehlo as JAX 0.10.2 prints it and in generic form is one module."""

from pathlib import Path

import pytest
from xdsl.ir import Operation, SSAValue

from memopt.cli.opt import main as opt
from memopt.compile.driver import load_text, new_context
from memopt.dialects.memgraph.functions import body_of, functions
from memopt.dialects.memgraph.names import full_name

HERE = Path(__file__).parent


def read(name: str) -> list[Operation]:
    path = HERE / f"stablehlo_{name}.mlir"
    func = next(functions(load_text(new_context(), path.read_text(), path.name)))
    return list(body_of(func).walk())


def test_what_is_printed_is_what_generic_form_says() -> None:
    printed, generic = read("printed"), read("generic")
    kinds = [full_name(op) for op in printed]
    assert kinds == [full_name(op) for op in generic] and len({*kinds}) >= 18
    number: dict[SSAValue, int] = {}
    for operations in (printed, generic):
        number |= {r: k for k, op in enumerate(operations) for r in op.results}
    for a, b in zip(printed, generic, strict=True):
        assert a.properties == b.properties, full_name(a)
        assert a.attributes == b.attributes and len(a.regions) == len(b.regions)
        assert [r.type for r in a.results] == [r.type for r in b.results]
        assert [number.get(v, v.type) for v in a.operands] == [
            number.get(v, v.type) for v in b.operands
        ]


def test_both_have_one_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str] = []
    for name in ("printed", "generic"):
        path = HERE / f"stablehlo_{name}.mlir"
        assert opt([str(path), "--schedule=auto", "--place=auto", "--verify-plan"]) == 0
        texts.append(
            capsys.readouterr().out.partition("memgraph.plan = ")[2].partition(", finger")[0]
        )
    assert texts[0] == texts[1] != ""

"""The verifier's own count of traffic: it agrees with the passes on random functions, and refuses
lists of what is outside that are not so."""

from random import Random

import pytest
from xdsl.dialects.func import FuncOp

from memopt.compile.driver import load_text, new_context
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import OFF_CHIP
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_traffic import MemgraphTrafficPass, check_traffic
from memopt.verify.off_chip import check_outside

FUNCTIONS = 40


def random_text(random: Random) -> str:
    """Return a function of operators and reshapes, some of whose results are returned."""
    sizes = {"x0": 8 * random.randint(1, 9), "x1": 8 * random.randint(1, 9)}
    lines: list[str] = []
    for k in range(random.randint(2, 7)):
        name, size = f"t{k}", 8 * random.randint(1, 9)
        if random.random() < 0.25:
            source = random.choice(list(sizes))
            size = sizes[source]
            shape = f"tensor<{size // 8}x8xi8>"
            form = f"memgraph.reshape %{source} : (tensor<{size}xi8>) -> {shape}"
            lines.append(f"%v{k} = {form}")
            back = f"memgraph.reshape %v{k} : ({shape}) -> tensor<{size}xi8>"
            lines.append(f"%{name} = {back}")
        else:
            reads = random.sample(list(sizes), random.randint(1, min(3, len(sizes))))
            names = ", ".join(f"%{r}" for r in reads)
            types = ", ".join(f"tensor<{sizes[r]}xi8>" for r in reads)
            lines.append(f'%{name} = memgraph.opaque "O"({names}) : ({types}) -> tensor<{size}xi8>')
        sizes[name] = size
    last, other = f"t{len([s for s in sizes if s[0] == 't']) - 1}", random.choice(list(sizes))
    outputs = list(dict.fromkeys((last, other)))
    kinds = ", ".join(f"tensor<{sizes[o]}xi8>" for o in outputs)
    arguments = ", ".join(f"%{x}: tensor<{sizes[x]}xi8>" for x in ("x0", "x1"))
    io = random.choice(("arena", "kept", "caller"))
    body = "\n".join(lines)
    return (
        f"func.func @main({arguments}) -> ({kinds}) attributes "
        f"{{memgraph.model = #memgraph.model<alignment = {random.choice((1, 16))}, io = {io}>}} "
        f"{{\n{body}\nfunc.return {', '.join('%' + o for o in outputs)} : {kinds}\n}}"
    )


def function_of(text: str, on_chip: int, rule: str) -> FuncOp:
    context = new_context()
    module = load_text(context, text, "in.mlir")
    if rule == "order":
        MemgraphSchedulePass(objective="traffic", on_chip=on_chip).apply(context, module)
    else:
        MemgraphTrafficPass(on_chip, rule).apply(context, module)
    return only_function(module)


def test_it_agrees_and_refuses_what_is_not_so(fuzz: float) -> None:
    random = Random(11)
    listed = refused = 0
    for k in range(max(FUNCTIONS, int(10 * FUNCTIONS * fuzz))):
        text = random_text(random)
        rule = ("packing", "exact", "order")[k % 3] if k % 10 == 0 else "packing"
        func = function_of(text, random.choice((24, 48, 96, 160)), rule)
        claim = func.attributes[OFF_CHIP]
        assert isinstance(claim, OffChipAttr)
        check_traffic(func)
        outside = list(claim.outside.get_values())
        if not outside or not claim.moved.data:
            continue
        listed += 1
        fewer = outside[: (i := random.randrange(len(outside)))] + outside[i + 1 :]
        another = random.choice([n for n in range(max(outside) + 2) if n not in outside])
        mutants = [
            (claim.on_chip.data, claim.moved.data, fewer),
            (claim.on_chip.data, claim.moved.data, [*outside, another]),
            (claim.on_chip.data, claim.moved.data, [*outside, outside[0]]),
            (claim.on_chip.data, claim.moved.data, [*outside, 999]),
            (claim.on_chip.data, claim.moved.data + 1, outside),
            (claim.on_chip.data, claim.moved.data - 1, outside),
        ]
        for on_chip, moved, gaps in mutants:
            forged = OffChipAttr(on_chip, "packing", moved, 0, "none", outside=gaps)
            try:
                check_outside(func, forged)
            except MemoptError:
                refused += 1
            else:  # giving up an input that nobody reads again costs nothing
                assert gaps[:-1] == outside or gaps == fewer
        with pytest.raises(MemoptError, match=r"B are kept in this step, 0 B fit"):
            check_outside(func, OffChipAttr(0, "packing", 0, 0, "none"))
    assert listed > 10
    assert refused >= 0.9 * 6 * listed

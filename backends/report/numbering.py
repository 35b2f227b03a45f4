"""Names of operators and tensors in pictures: their numbers in the source."""

from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from memopt.backends.report.timeline import INPUT
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.names import name_of, operator_kind


def numbers_of(operations: list[Operation]) -> list[int]:
    """The operators' numbers in the source, from 0; places in the order if not all are known and
    different."""
    sources = [op.attributes.get("memgraph.source") for op in operations]
    numbers = [s.operator.data for s in sources if isinstance(s, SourceAttr)]
    if len(set(numbers)) < len(operations):
        return list(range(len(operations)))
    return numbers


def title(op: Operation) -> str:
    name = op.attributes.get("memgraph.operator")
    if isinstance(name, StringAttr):
        return name.data
    return name_of(op.results[0]) if op.results else operator_kind(op)


def numbered(labels: Sequence[str]) -> list[str]:
    """Labels apart from each other: equal ones get .1, .2 from the second on; inputs are `in`, or
    in.1, in.2 if there are several."""
    inputs = labels.count(INPUT)
    seen: Counter[str] = Counter()

    def label(name: str) -> str:
        seen[name] += 1
        count = seen[name] if name == INPUT and inputs > 1 else seen[name] - 1
        return f"{name}.{count}" if count else name

    return [label(name) for name in labels]

"""Instructions of HLO that are more, or less, than an operation that makes its result.

`ELEMENT_WISE` compute element k of element k of each operand; `PARTS` hand on what is there;
`STATEFUL`, and their `-start` and `-done`, keep their mutual order; `RUNS` run the computations
that they name by `NESTED`.
"""

from typing import Final

ELEMENT_WISE: Final = frozenset(
    (
        *("abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "convert", "copy"),
        *("cosine", "count-leading-zeros", "divide", "erf", "exponential"),
        *("exponential-minus-one", "floor", "imag", "is-finite", "log", "log-plus-one"),
        *("logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power"),
        *("real", "reduce-precision", "remainder", "round-nearest-afz", "round-nearest-even"),
        *("rsqrt", "select", "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign"),
        *("sine", "sqrt", "subtract", "tan", "tanh", "xor"),
    )
)
PARTS: Final = frozenset(
    ("tuple", "get-tuple-element", "opt-barrier", "optimization-barrier", "domain")
)
STATEFUL: Final = frozenset(
    (
        *("all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute"),
        *("infeed", "outfeed", "recv", "reduce-scatter", "rng", "rng-get-and-update-state", "send"),
    )
)
NESTED: Final = (
    *("body", "condition", "to_apply", "true_computation", "false_computation"),
    *("branch_computations", "calls"),
)
RUNS: Final = ("while", "conditional", "call", "async-start")

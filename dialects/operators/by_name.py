"""Facts about operators by their name alone: those that stay `memgraph.opaque`, because a graph has
no shapes or attributes, or because their operator does more than the typed operation."""

RELUS = frozenset({"Relu", "Relu6", "Clip"})
"""Those that converters merge into what makes their operand."""

VIEWS = frozenset({"Reshape", "Flatten", "Squeeze", "Unsqueeze"})
"""Those that only give the same bytes another shape."""

RESHAPES = frozenset({"Reshape", "RESHAPE"})
"""Those of two operands, the second a shape."""

SHAPES = frozenset({"Shape", "SHAPE"})
"""Those that read of a tensor how large it is, and none of its elements."""

ELEMENTWISE = frozenset(
    """
    Abs Add Clip Div Elu Erf Exp HardSigmoid HardSwish LeakyRelu Log Max Min Mul Neg
    Pow PRelu Relu Selu Sigmoid Sqrt Sub Tanh BatchNormalization ABS ADD DIV ELU EXP
    LEAKY_RELU LOG NEG PRELU RELU_N1_TO_1 SQRT SUB
    """.split()  # noqa: SIM905 (a list of words reads better)
)
"""Those that may write over an operand: element i depends on elements i alone."""

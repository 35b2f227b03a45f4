"""What is known of operators by their name alone: those that stay `memgraph.opaque`, because a
graph has no shapes or attributes, or because their operator does more than the typed operation."""

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

ASKS_FOR_NOTHING = frozenset(
    {
        *("ABS", "ADD", "ARG_MAX", "ARG_MIN", "ASSIGN_VARIABLE", "AVERAGE_POOL_2D"),
        *("BATCH_MATMUL", "BATCH_TO_SPACE_ND", "BROADCAST_ARGS", "BROADCAST_TO", "CALL_ONCE"),
        *("CAST", "CEIL", "CONCATENATION", "COS", "CUMSUM", "DEPTH_TO_SPACE", "DEQUANTIZE"),
        *("DIV", "DYNAMIC_UPDATE_SLICE", "ELU", "EMBEDDING_LOOKUP", "EQUAL", "EXP"),
        *("EXPAND_DIMS", "FILL", "FLOOR", "FLOOR_DIV", "FLOOR_MOD", "GATHER", "GATHER_ND"),
        *("GREATER", "GREATER_EQUAL", "HARD_SWISH", "IF", "L2_NORMALIZATION", "L2_POOL_2D"),
        *("LEAKY_RELU", "LESS", "LESS_EQUAL", "LOG", "LOGICAL_AND", "LOGICAL_NOT"),
        *("LOGICAL_OR", "LOGISTIC", "LOG_SOFTMAX", "MAXIMUM", "MAX_POOL_2D", "MINIMUM", "MUL"),
        *("NEG", "NOT_EQUAL", "PACK", "PAD", "PADV2", "PRELU", "QUANTIZE", "READ_VARIABLE"),
        *("RELU", "RELU6", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"),
        *("REVERSE_V2", "ROUND", "RSQRT", "SELECT_V2", "SHAPE", "SIN", "SLICE", "SOFTMAX"),
        *("SPACE_TO_BATCH_ND", "SPACE_TO_DEPTH", "SPLIT", "SPLIT_V", "SQRT", "SQUARE"),
        *("SQUARED_DIFFERENCE", "SQUEEZE", "STRIDED_SLICE", "SUB", "TANH", "TRANSPOSE"),
        *("UNPACK", "VAR_HANDLE", "WHILE", "ZEROS_LIKE", "UNINITIALIZED"),
    }
)
"""TensorFlow Lite Micro's kernels that ask for no scratch."""

"""What no example needs of rewrite rules, and why: rule -> function: condition -> reason.

`test_mutants_rewrites.py` takes each away, and fails where one that is listed is needed after all.
"""

NARROWS = "for the type checker: never false here"
FASTER = "saves work; nothing else comes of it"
DEFAULT = "a default value, no condition"
FEWER = "without it the rule applies to fewer, and what it leaves is as right"
OURS = "no other operation has such a trait"
READING = "asked while a file is read alone: tests/rewrites/runtimes/test_qdq_fold.py"

EQUIVALENT: dict[str, dict[str, str]] = {
    "channels-last": {
        "convertible: is_channels_first(v)": "more may be transposed, for nothing",
        "convertible: isinstance(other, ComputeOp)": NARROWS,
        "convertible: other in possible": "what has no form is left out in the end",
        "is_better_outside: len(op.operands) != 1": "fewer bytes are transposed, or more",
        "is_better_outside: before < after": "as many bytes are transposed",
        "has_form: is_constant_expression(op.results[0], GENERIC)": "constants lie as they may",
    },
    "constant-channels": {
        "slim_constants: source in gone": "a reader by channel loses what its operand loses",
        "_slim_mixing: values.any()": "zeros add nothing to a bias",
        "_slim_by_channel: result in gone": "operands lose what results do, or both nothing",
        "_take: len(kept) == shape_of(value)[axis]": "to take all is to take nothing away",
        "rewrite_function: isinstance(v, OpResult)": NARROWS,
        "_claim: ChannelsAttr(channels_of(v))": DEFAULT,
    },
    "vectors-as-rows": {
        "_on_rows: rows is None": NARROWS,
        "_on_rows: properties is None": NARROWS,
    },
    "sequences-as-images": {
        "shown_as: isinstance(back, OpResult)": NARROWS,
    },
    "rotation-before-heads": {
        "match_and_rewrite: op.parent is None": NARROWS,
        "match_and_rewrite: isinstance(each, ComputeOp)": NARROWS,
        "is_by_place: op.reordered(HEADS) is not None": NARROWS,
        "rotation: maker not in steps": FASTER,
        "rotation: len(last.results) > 1": "what a split is of joins, and is moved before it",
    },
    "division-as-product": {
        "are_powers_of_two: divisors is None": NARROWS,
        "rewrite_function: not divisions": FASTER,
        "rewrite_function: is_constant_expression(op.rhs, GENERIC)": FASTER,
    },
    "functions-as-formula": {
        "_take: len(text) > LONGEST": "a longer text is a formula too",
    },
    "functions-as-lookup": {
        "rewrite_function: source is None": NARROWS,
        "_is_part: isinstance(op, ComputeOp)": NARROWS,
        "widest: isinstance(op, Operation)": NARROWS,
    },
    "power-as-square": {
        "is_two: exponents is not None": NARROWS,
        "rewrite_function: not powers": FASTER,
        "rewrite_function: is_constant_expression(op.rhs, GENERIC)": FASTER,
    },
    "stored-products-as-attention": {"parts: scores is None": NARROWS},
    "mask-as-causal": {
        "match_and_rewrite: op.mask is None": FASTER,
    },
    "qdq-fold": {
        "is_one: source is not None": READING,
        "is_one: set(known) == {source}": READING,
        "is_one: isinstance(o, Operation)": READING,
        "transposition: is_constant_expression(value, GENERIC)": "others may be so too",
        "has_weights: kind is None": NARROWS,
        "folds: op.has_trait(Folds)": "nobody reads a dequantize, or a transposition of constants",
        "folds: isinstance(op, ComputeOp)": OURS,
        "fold: q": NARROWS,
        "fold: v": NARROWS,
        "match_and_rewrite: not self.reading": READING,
        "match_and_rewrite: not self.reading or is_one(producer)": READING,
        "match_and_rewrite: is_one(producer)": READING,
    },
    "group-normalization": {"match_and_rewrite: image is None": NARROWS},
    "relu-by-convention": {"match_and_rewrite: activation is not None": NARROWS},
    "relu-into-producer": {
        "is_reshape: isinstance(op, ComputeOp)": OURS,
        "absorb: type_ is not None": NARROWS,
        "absorb: type_ != last.type": FASTER,
    },
    "signed-bytes": {
        "signed_results: isinstance(op, ComputeOp)": "such a reader keeps what it reads unsigned",
        "is_free: isinstance(op, ComputeOp)": OURS,
        "retype: isinstance(back, OpResult)": NARROWS,
    },
    "slice-by-readers": {
        "takes_pixels: own[last] < 2": FEWER,
        "takes_pixels: count > 1": FEWER,
    },
    "opaque-reshape-as-view": {
        "has_views: outer is not None": NARROWS,
        "has_views: outer is None": NARROWS,
    },
    "residual-epilogue": {"_works_in_scratch: isinstance(func, FuncOp)": NARROWS},
    "equal-operators": {
        "computed_before: not op.operands": "every typed operator reads something",
        "computed_before: isinstance(use.operation, ComputeOp)": NARROWS,
        "computed_before: not any((b.is_before_in_block(a) for b in before))": "any will do",
        "computed_before: any((b.is_before_in_block(a) for b in before))": "any will do",
    },
    "frames-as-rows": {
        "match_and_rewrite: isinstance(before, OpResult)": NARROWS,
        "reads_bytes: isinstance(op, ComputeOp)": OURS,
    },
    "constants-into-weights": {"fold: op.result.type": NARROWS},
    "kernel-wise": {
        "takes_parts: joins": FEWER,
        "channels_of_parts: list(read) != sorted(read)": "what reads parts keeps their order",
    },
    "channel-wise": {
        "claims_channels: op.parent is not None": NARROWS,
        "parts_of: alone": "what is joined may be one part or several",
        "parts_of: makes_virtual(inner)": "what is joined may be one part or several",
    },
}

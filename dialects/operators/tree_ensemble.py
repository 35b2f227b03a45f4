"""Sums of the leaves that rows of numbers reach in decision trees."""

from collections.abc import Sequence

from xdsl.irdl import operand_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, OneResultOp
from memopt.dialects.operators.traits import RealsOnly

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
LEAF = 15  # a rule
MISSING = 16  # beside a rule: what is no number goes the way of what fits


@operation_definition
class TreeEnsembleOp(OneResultOp):
    """Sums, for each row of the first operand, of the leaves that trees lead to. Of each node
    `features` says which number of the row is compared, `rules` how (`MODES`), with `thresholds`,
    and `yes` and `no` which node is next; of a leaf, `yes` and `no` are the first of its `weights`
    and the one behind its last, which `targets` say where to add. `roots` are the first nodes."""

    name = "memgraph.tree_ensemble"
    input = operand_def(AnyTensor)
    features = operand_def(AnyTensor)
    rules = operand_def(AnyTensor)
    thresholds = operand_def(AnyTensor)
    yes = operand_def(AnyTensor)
    no = operand_def(AnyTensor)
    targets = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    roots = operand_def(AnyTensor)
    traits = traits_def(RealsOnly())
    assembly_format = (
        "$input `,` $features `,` $rules `,` $thresholds `,` $yes `,` $no `,` $targets `,` "
        "$weights `,` $roots " + TYPES
    )

    def verify_(self) -> None:
        nodes = {elements_of(v) for v in self.operands[1:6]}
        self.require(len(nodes) == 1, "as many features, rules, thresholds and ways as nodes")
        leaves = elements_of(self.targets), elements_of(self.weights)
        self.require(leaves[0] == leaves[1] > 0, "as many targets as weights")
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(shape) == len(out) == 2 and shape[0] == out[0], "rows of numbers")
        self.require(elements_of(self.roots) > 0, "no trees")

    def need_trees(self, tables: Sequence[Array]) -> None:
        """Raise MemoptError unless each way leads to a later node, so that every walk ends, and all
        that is named is there."""
        features, rules, thresholds, yes, no, targets, weights, roots = tables
        reals = thresholds, weights
        integers = features, rules, yes, no, targets, roots
        kinds = [t.dtype.kind in "iu" for t in integers] + [t.dtype.kind == "f" for t in reals]
        if not all(kinds):
            raise unknown(self, "tables of other types")
        leaf = rules == LEAF
        steps = [int(way[n]) - n for n in range(len(rules)) if not leaf[n] for way in (yes, no)]
        ends = zip(yes[leaf], no[leaf], strict=True)
        onward = min(steps, default=1) > 0 and max([*yes[~leaf], *no[~leaf], 0]) < len(rules)
        inside = all(0 <= first <= last <= len(weights) for first, last in ends)
        size, count = shape_of(self.input)[1], shape_of(self.result)[1]
        limits = (features, size), (targets, count), (roots, len(rules))
        known = all(((values >= 0) & (values < limit)).all() for values, limit in limits)
        known = known and bool((leaf | (rules % MISSING < len(MODES))).all())
        if not (onward and inside and known):
            raise unknown(self, "nodes that are not before those they lead to, or are not there")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        rows, *tables = operands
        if str(rows.dtype) != "float32":
            raise unknown(self, f"numbers of {rows.dtype}")
        features, rules, thresholds, yes, no, targets, weights, roots = tables
        self.need_trees(tables)
        compare = (
            *(np.less_equal, np.less, np.greater_equal, np.greater),
            *(np.equal, np.not_equal),
        )
        result: Array = np.zeros(shape_of(self.result), np.float32)
        for row, sums in zip(rows, result, strict=True):
            for root in roots:
                at = int(root)
                while (rule := int(rules[at])) != LEAF:
                    x = row[int(features[at])]
                    fits = bool(compare[rule % MISSING](x, thresholds[at]))
                    fits = fits or bool(rule & MISSING and np.isnan(x))
                    at = int(yes[at] if fits else no[at])
                for leaf in range(int(yes[at]), int(no[at])):
                    sums[int(targets[leaf])] += weights[leaf]
        return [result]

"""Expansions of ensembles of decision trees (`ai.onnx.ml`) into tables for the one operation that
walks them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from memopt.dialects.operators.tree_ensemble import LEAF, MISSING, MODES
from memopt.frontends.onnx.expansions import expands
from memopt.frontends.onnx.expansions.machine_learning import chosen, transformed
from memopt.frontends.onnx.scope import FLOAT, INT32, Scope


@dataclass
class Tables:
    """Tables of trees: of each node feature, rule, threshold and ways; of each weight its target;
    first nodes."""

    features: list[int] = field(default_factory=list[int])
    rules: list[int] = field(default_factory=list[int])
    thresholds: list[float] = field(default_factory=list[float])
    yes: list[int] = field(default_factory=list[int])
    no: list[int] = field(default_factory=list[int])
    targets: list[int] = field(default_factory=list[int])
    weights: list[float] = field(default_factory=list[float])
    roots: list[int] = field(default_factory=list[int])


def tables_of(s: Scope, prefix: str) -> Tables | None:
    """Return the tables of an ensemble whose leaves are said by attributes that begin so; None for
    what is no tree, or said in another way."""
    get: Any = s.get
    keys = list(zip(get("nodes_treeids", []), get("nodes_nodeids", []), strict=False))
    modes = [m if isinstance(m, str) else m.decode() for m in get("nodes_modes", [])]
    at = {key: n for n, key in enumerate(keys)}
    names = ("featureids", "values", "truenodeids", "falsenodeids")
    columns = [get(f"nodes_{name}", []) for name in names]
    if not keys or any(len(c) != len(keys) for c in (*columns, modes, at)):
        s.lacks("nodes that are not said by lists of one length")
        return None
    tracks = get("nodes_missing_value_tracks_true") or [0] * len(keys)
    leaves = _leaves(get, prefix)
    known, tables = {"LEAF": LEAF, **{m: n for n, m in enumerate(MODES)}}, Tables()
    if any(m not in known for m in modes):
        s.lacks(f"a rule other than {', '.join(known)}")
        return None
    seen: dict[int, int] = {}

    def take(root: int) -> bool:
        """Add the nodes from one on, each before those it leads to; return whether it is a tree."""
        waiting = [root]
        while waiting:
            n = waiting.pop()
            if n in seen:
                return False
            seen[n] = len(tables.rules)
            rule = known[modes[n]]
            if rule == LEAF:
                pairs = leaves.get(keys[n], [])
                ways = len(tables.weights), len(tables.weights) + len(pairs)
                tables.targets += [t for t, _ in pairs]
                tables.weights += [w for _, w in pairs]
                _append(tables, 0, rule, 0.0, ways)
                continue
            ways = tuple(at.get((keys[n][0], int(columns[k][n])), -1) for k in (2, 3))
            if -1 in ways:
                return False
            rule += MISSING if tracks[n] else 0
            _append(tables, int(columns[0][n]), rule, float(columns[1][n]), ways)
            waiting += ways[::-1]
        return True

    children = {
        (key[0], int(c[n])) for n, key in enumerate(keys) if modes[n] != "LEAF" for c in columns[2:]
    }
    roots = [n for n, key in enumerate(keys) if key not in children]
    if len(roots) != len({key[0] for key in keys}):
        s.lacks("trees without a first node, or with several")
        return None
    for root in roots:
        tables.roots.append(len(tables.rules))
        if not take(root):
            s.lacks("nodes that are no tree")
            return None
    for n, rule in enumerate(tables.rules):
        if rule != LEAF:
            tables.yes[n], tables.no[n] = seen[tables.yes[n]], seen[tables.no[n]]
    return tables if tables.weights and len(seen) == len(keys) else None


def _leaves(get: Any, prefix: str) -> dict[Any, list[tuple[int, float]]]:
    """The targets and weights of each leaf, by its tree and its node."""
    leaves: dict[Any, list[tuple[int, float]]] = {}
    ids = get("class_ids" if prefix == "class" else "target_ids", [])
    places = zip(get(f"{prefix}_treeids", []), get(f"{prefix}_nodeids", []), strict=False)
    for place, target, weight in zip(places, ids, get(f"{prefix}_weights", []), strict=False):
        leaves.setdefault(place, []).append((target, weight))
    return leaves


def _append(found: Tables, feature: int, rule: int, threshold: float, ways: Sequence[int]) -> None:
    found.features.append(feature)
    found.rules.append(rule)
    found.thresholds.append(threshold)
    found.yes.append(ways[0])
    found.no.append(ways[1])


def sums(s: Scope, found: Tables, count: int) -> str:
    """Return the sums of the ensemble's operation and its base values."""
    x = s.x if s.is_float else s.add("Cast", s.x, to=FLOAT)
    columns = [
        *((found.features, INT32), (found.rules, 2), (found.thresholds, FLOAT)),
        *((found.yes, INT32), (found.no, INT32), (found.targets, INT32)),
        *((found.weights, FLOAT), (found.roots, INT32)),
    ]
    constants = [s.const(values, element) for values, element in columns]
    name = s.own("TreeEnsemble", FLOAT, (s.shape()[0], count), x, *constants)
    if s.get("aggregate_function", "SUM") == "AVERAGE":
        name = s.add("Div", name, s.const(float(len(found.roots))))
    base = s.get("base_values")
    return s.add("Add", name, s.const(base)) if base else name


@expands("ai.onnx.ml.TreeEnsembleRegressor")
def regressor(s: Scope) -> bool:
    """Expand an ensemble into sums or means of its trees' leaves."""
    how = s.get("aggregate_function", "SUM")
    if how not in ("SUM", "AVERAGE") or len(s.shape()) != 2:
        return s.lacks(f"aggregate_function = {how} (SUM and AVERAGE have one)")
    tables = tables_of(s, "target")
    if tables is None:
        return False
    results = transformed(
        s, sums(s, tables, int(s.get("n_targets", 1))), s.get("post_transform", "NONE")
    )
    return bool(results) and s.done("Identity", results)


@expands("ai.onnx.ml.TreeEnsembleClassifier")
def classifier(s: Scope) -> bool:
    """Expand an ensemble into the class of the largest sum, and the transformed sums; of two
    classes of which one alone has weights, its sum decides."""
    labels: list[Any] = s.get("classlabels_int64s") or s.get("classlabels_strings") or []
    how = s.get("post_transform", "NONE")
    tables = tables_of(s, "class") if len(s.shape()) == 2 else None
    if tables is None:
        return False
    if len(labels) != 2 or len(set(tables.targets)) > 1:
        return chosen(s, sums(s, tables, len(labels)), labels, how)
    positive = min(tables.weights) >= 0
    tables.targets = [0] * len(tables.targets)
    if s.get("base_values") and len(s.get("base_values")) > 1:
        return s.lacks("base_values of both classes beside weights of one")
    total = sums(s, tables, 1)
    above = s.add("Greater", total, s.const(0.5 if positive else 0.0))
    if how == "NONE":
        other = s.add("Sub", s.const(1.0), total) if positive else s.add("Neg", total)
        both = s.add("Concat", other, total, axis=1)
    elif how == "LOGISTIC":
        both = s.add("Concat", s.add("Neg", total), total, axis=1)
        both = s.add("Sigmoid", both)
    else:
        return s.lacks(f"post_transform = {how} of one sum (NONE and LOGISTIC have one)")
    if s.returns(1):
        s.done("Identity", both, result=1)
    at = s.reshaped(s.add("Cast", above, to=INT32), (s.shape()[0],))
    return chosen(s, "", labels, how, at)

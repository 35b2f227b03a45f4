"""`python -m benchmarks rewrite`: least peaks of shared networks before and after rewrite rules.

Whole operators, plans only, each verified. Models are aligned to 16 bytes, with all rules that keep
every bit; graphs to 1, ReLUs in what makes their operand and reshapes as views, with all rules but
constant channels, for their weights are zeros.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.tables.graphs import shared_folder
from benchmarks.tables.planned import peak_text, planned_by
from benchmarks.tables.table import Table
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.rewrites import RewrittenAttr, rewrites_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.rewrites import ALL, SAFE, SEARCH, named_rules, rule_of

MODELS = (
    "swiftnet_cell_vww_uint8",
    "mcunet_vww_int8",
    "selfie_segmentation",
    "dtln_noise_suppression",
    "keyword_scrambled_int8",
    "tinymaix_mnist_resnet_int8",
    "streaming_wakeword_int8",
    "resnet8_int8",
    "resnet8_float",
    "person_detect_int8",
)
GRAPHS = (
    "darts_cifar",
    "nasnet_a_cifar",
    "nasnet_a_imagenet",
    "amoebanet_a_cifar",
    "amoebanet_a_imagenet",
    "hrnet_w18_small_v1",
    "hrnet_w18_small_v2_s1p32",
    "hrnet_w32_s1p32",
    "randwire_s0",
    "randwire_s172",
    "randwire_s117",
)
QUICK = ("resnet8_int8", "streaming_wakeword_int8")
NOTES = (
    "Bytes, of whole operators; what is not proven to be the least has >. Order: of the network as"
    " it is; in place: with results over dying operands; rewritten: with rules too.",
    "Rules: at how many operators each was applied, and of how many it was legal at.",
)


def chosen(names: Sequence[str], quick: bool) -> list[Path]:
    """Files of shared models and graphs, or files that are named. Raises MemoptError."""
    folder = shared_folder()
    paths: list[Path] = []
    for name in names or (QUICK if quick else (*MODELS, *GRAPHS)):
        places = (
            Path(name),
            folder / "models" / f"{name}.tflite",
            folder / "graphs" / f"{name}.onnx",
        )
        path = next((p for p in places if p.is_file()), None)
        if path is None:
            raise MemoptError(f"no {name}: set MEMOPT_SHARED, or name files with --graphs")
        paths.append(path)
    return paths


def rewrite(paths: Sequence[Path], time_limit: float, tick: Callable[[str], None]) -> Table:
    """Return one row per network; `time_limit` in seconds per order, twice that for rules."""
    table = Table(
        "rewrite",
        "Least peaks before and after rewrite rules",
        ("network", "order", "in place", "rewritten", "CPU s", "rules"),
        NOTES,
    )
    for path in paths:
        tick(path.stem)
        plain, _ = planned(path, time_limit, inplace="off")
        over, _ = planned(path, time_limit)
        started = time.process_time()
        plan, did = planned(path, time_limit, rules=rules_for(path))
        seconds = round(time.process_time() - started, 1)
        table.add(path.stem, *map(peak_text, (plain, over, plan)), seconds, _sites(did))
    return table


def rules_for(path: Path) -> tuple[str, ...]:
    """The rules of a model, which keep every bit, or of a graph."""
    if path.suffix == ".tflite":
        return tuple(name for name in named_rules((ALL,)) if rule_of(name).exact == "bits")
    applied = {name: rule_of(name).applied for name in named_rules((ALL,))}
    return tuple(
        n for n, how in applied.items() if how in (SAFE, SEARCH) and n != "constant-channels"
    )


def planned(
    path: Path, time_limit: float, inplace: str = "on", rules: Sequence[str] = ()
) -> tuple[PlanAttr, tuple[RewrittenAttr, ...]]:
    """The plan of a network, verified, and what rules did. Raises MemoptError."""
    is_graph = path.suffix != ".tflite"
    search = f"memgraph-rewrite{{rules={','.join(rules)} time-limit={2 * time_limit:g}}}"
    passes = (
        f"memgraph-model{{alignment={1 if is_graph else 16} inplace={inplace}}}",
        *(("memgraph-prepare{conventions=frelu,view}",) if is_graph else ()),
        *((search,) if rules else ()),
        f"memgraph-schedule{{time-limit={time_limit:g}}}",
        "memgraph-verify-plan",
    )
    func, plan = planned_by(path, passes)
    return plan, tuple(rewrites_of(func))


def _sites(did: Sequence[RewrittenAttr]) -> str:
    """`gather 3 of 5, relu-into-producer 7`."""
    words: list[str] = []
    for record in did:
        sites, rest = record.sites.data, record.left.data
        words.append(f"{record.rule.data} {sites}" + (f" of {sites + rest}" if rest else ""))
    return ", ".join(words) or "-"

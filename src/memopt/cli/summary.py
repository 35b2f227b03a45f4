"""`report.json` as lines for people."""

from collections.abc import Sequence
from typing import Any

from memopt.compile.row_facts import rows_line, sliding_lines
from memopt.compile.target_facts import target_lines
from memopt.dialects.attributes.plan import FAMILIES
from memopt.dialects.memgraph.errors import printable
from memopt.text.format import sizes


def summary(report: dict[str, Any]) -> str:
    """Before and after, for people."""
    source, plan = report["source"], report["plan"]
    claimed, family = "claimed " if plan.get("claimed") else "", FAMILIES[plan["family"]]
    verdict = (
        f"{'' if plan['optimal'] else claimed}optimal {family}, proof = {plan['proof']}"
        if plan["optimal"] is not False
        else f"{claimed}bound {sizes(plan['lower_bound'])} {family}, proof = {plan['proof']}"
    )
    if plan["arena_optimal"] is not False:
        size = f", {claimed}smallest possible {family}"
    elif plan["objects"] or report["memories"]:  # sums, to which the bound of one arena says little
        size = ""
    else:
        size = f", {claimed}bound {sizes(plan['arena_lower_bound'])} {family}"
    lines = [
        f"model     {report['model']}: {report['operators']} operators, "
        f"{report['tensors']} tensors",
        f"peak      {before_and_after(report, 'peak')}, {verdict}",
        f"arena     {before_and_after(report, 'arena')}{size}",
    ]
    if "claimed" not in plan:
        lines += counted_line(source, plan)
    lines += float32_lines(report) + batch_lines(report) + persistent_lines(report)
    lines += rows_line(plan, report["operators"]) + sliding_lines(plan)
    if hidden := plan["unknown_scratch"]:
        lines.append(
            f"scratch   of {', '.join(hidden)} is not known and not counted: TFLM lays it at run "
            "time, and nothing is promised but that the file needs no more than before"
        )
    lines += [rewrite_line(did) for did in report["rewrites"]]
    lines += object_lines(plan) + memory_lines(report["memories"], claimed)
    lines += [work_line(report), *target_lines(report["target"]), *advice_lines(report["advice"])]
    return "\n".join(map(printable, lines))


def advice_lines(advice: Sequence[dict[str, Any]]) -> list[str]:
    """Return a line for people per entry of report.json's `advice`."""
    lines: list[str] = []
    for entry in advice:
        about = "" if entry["solved"] else "about "
        ram = "" if entry["ram"] is None else f", RAM of {about}{sizes(entry['ram'])}"
        text = f"{entry['option']} gives an arena of {about}{sizes(entry['arena'])}{ram}"
        lines.append(f"advice    {text}")
    return lines


STEPS = {"float16": "2^-11", "bfloat16": "2^-8", "float64": "2^-24"}
"""The relative difference that an operator makes where reals are computed in float32."""


def float32_lines(report: dict[str, Any]) -> list[str]:
    """Which reals of the file are computed in float32, and by how much results differ."""
    return [
        f"reals     of {name} are computed and kept as float32: about {STEPS[name]} of a result "
        "is another for each operator"
        for name in report["in_float32"]
    ]


def batch_lines(report: dict[str, Any]) -> list[str]:
    """Return the line of inputs that are taken to be of one image, since the file gives no
    number."""
    names = ", ".join(report["open_batch"])
    return [f"batch     of {names} is 1, which the file leaves open (--batch)"] if names else []


def before_and_after(report: dict[str, Any], figure: str) -> str:
    """Return the bytes of the file's own order and of the plan, for people, with the scratch of
    kernels among them; of a plan that was read its own alone."""
    sides = ("plan",) if "claimed" in report["plan"] else ("source", "plan")
    return " -> ".join(
        with_scratch(report[side][figure], report[side]["scratch"]) for side in sides
    )


def with_scratch(size: int, scratch: int) -> str:
    """Return a size for people, and how many of its bytes are scratch of kernels, if any are."""
    return sizes(size) + (f", of it scratch {scratch:,} B" if scratch else "")


def counted_line(source: dict[str, Any], plan: dict[str, Any]) -> list[str]:
    """The rules by which bytes are counted, for people, where they differ."""
    rules = [f"alignment {side['alignment']}, io {side['io']}" for side in (source, plan)]
    if lines := plan.get("align_io"):
        rules[1] += f", whole lines of {lines} B for inputs and outputs"
    return [] if rules[0] == rules[1] else [f"counted   before: {rules[0]}; now: {rules[1]}"]


def persistent_lines(report: dict[str, Any]) -> list[str]:
    """Bytes that stay from run to run, beside those of the arena, and what order alone saves; none
    where nothing stays."""
    stays = report["persistent"]
    if not stays:
        return []
    source, plan = report["source"], report["plan"]
    before, after = source["peak"] + stays, plan["peak"] + stays
    saved = 100 * (before - after) / before
    text = f"persistent {sizes(stays)} beside the arena; with it {before:,} -> {after:,} B"
    lines = [f"{text}, {abs(saved):.1f} % {'less' if saved >= 0 else 'more'}"]
    if plan["optimal"] is True and plan["family"] == "order":
        least = f"no order needs less than {sizes(plan['lower_bound'])}"
        share = 100 * (source["peak"] - plan["peak"]) / max(source["peak"], 1)
        gain = (
            f"saves {share:.1f} % of the peak" if source["peak"] > plan["peak"] else "saves nothing"
        )
        lines.append(f"order     alone {gain}: {least}")
    return lines


def rewrite_line(did: dict[str, Any]) -> str:
    """Return the record of a rewrite rule for people."""
    unchanged = f", left {did['left']:,}" if did["left"] else ""
    names = {"weights": ("weights", " B"), "macs": ("MACs", ""), "peak": ("peak", " B")}
    figures = [
        f"{name} {did[f'{key}_before']:,} -> {did[f'{key}_after']:,}{unit}"
        for key, (name, unit) in names.items()
        if did[f"{key}_before"] is not None
    ]
    plural = "" if did["sites"] == 1 else "s"
    changed = f"changed {did['sites']:,} operator{plural}{unchanged}"
    return f"rewrite   {did['rule']} {', '.join([changed, *figures])}"


def work_line(report: dict[str, Any]) -> str:
    """Multiplications and weights, for people."""
    count = "unknown" if report["macs"] is None else f"{report['macs']:,}"
    left_out = report["macs_unknown"]
    rest = f" (not counted: {', '.join(left_out)})" if left_out else ""
    weights = "unknown" if report["weights"] is None else sizes(report["weights"])
    return f"work      {count} MACs{rest}, weights {weights}"


def object_lines(plan: dict[str, Any]) -> list[str]:
    """Shared objects with their bytes, for people; none where there is one arena."""
    if not plan["objects"]:
        return []
    least, arena = plan["objects_lower_bound"], plan["arena"]
    verdict = "smallest possible in this order" if arena == least else f"bound {sizes(least)}"
    verdict = f"claimed {verdict}" if plan.get("claimed") else verdict
    listed = " + ".join(f"{size:,}" for size in plan["objects"][:8])
    more = f" + {len(plan['objects']) - 8} more" if len(plan["objects"]) > 8 else ""
    return [f"objects   {len(plan['objects'])}: {listed}{more} B, {verdict}"]


def memory_lines(memories: dict[str, Any] | None, claimed: str = "") -> list[str]:
    """Return the bytes in each memory, and the cost of the traffic, for people."""
    if memories is None:
        return []
    lines = [
        f"{b['name']:<9} {sizes(b['arena'])} of {sizes(b['capacity'])}, "
        f"{b['moved']:,} B moved at {b['cost']} each"
        for b in memories["banks"]
    ]
    verdict = (
        f"{claimed}least possible in this order, proof = {memories['proof']}"
        if memories["optimal"] is not False
        else f"{claimed}bound {memories['lower_bound']:,}, proof = {memories['proof']}"
    )
    return [*lines, f"traffic   costs {memories['cost']:,}, {verdict}"]

"""The `target` entry of report.json: what the device needs, and why a figure is missing.

    facts = target_facts("tflm", after)            # what is known without a compiler
    facts["tensor_arena"], facts["not_measured"]

`ram` is what `--ram` is compared with: for tflm the interpreter's arena, for a Cortex-M arena,
stack and static RAM.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.analysis.persistent import kept_bytes, variable_bytes
from memopt.backends.tflm import source_of, unknown_scratch
from memopt.backends.tflm.interpreter import MARGIN, interpreter_arena, unbounded_operators
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.targets.core.target import Target, target_named
from memopt.text.format import sizes

KEYS = (
    *("name", "arena", "stack", "stack_bound", "static_ram", "ram", "flash", "tensor_arena"),
    *("instructions", "cycles_estimated", "cycles_range"),
)


USUAL = re.compile(r"\.(vectors|text|rodata|ARM\.exidx|stack|data|bss|arena|tbss)")  # sections
OF_A_RUN = ("instructions", "cycles_estimated", "cycles_range")
OF_A_BUILD = ("stack", "stack_bound", "static_ram", "flash", *OF_A_RUN)


NOT_COMPILED = "--measure=off compiles nothing"


def beside_arena(board: Target) -> int:
    """Return the bytes that a model surely gets by with beside its arena."""
    return board.stack_bound + board.static_bound if board.has_memories else 0


def empty_facts(name: str) -> dict[str, Any]:
    """All keys, null but for the name; `not_measured` is to say per key why."""
    return {**dict.fromkeys(KEYS), "name": name, "not_measured": dict[str, str]()}


def tflm_facts(
    module: ModuleOp,
    arena: int,
    model_path: Path | None = None,
    source: bytes | None = None,
    has_plan: bool = True,
) -> dict[str, Any]:
    """For a planned .tflite, or the file as it is: the interpreter's arena with the reference
    kernels on a Cortex-M, also its parts in `interpreter`. Raises MemoptError if the imported file
    is not there."""
    facts = empty_facts("tflm")
    func = only_function(module)
    _, model, _ = source_of(module, model_path=model_path, source=source)
    reasons: dict[str, str] = facts["not_measured"]
    reasons |= dict.fromkeys(OF_A_BUILD, "TFLM is not built here")
    hidden = unknown_scratch(func)
    if hidden:
        reasons["arena"] = f"the scratch of {', '.join(hidden)} in TFLM is not known"
    else:
        facts["arena"] = arena
    unbounded = unbounded_operators(func, model)
    if unbounded:
        because = f"what TFLM keeps for {', '.join(unbounded)} is not known"
        reasons |= {"tensor_arena": because, "ram": because}
        return facts
    need = interpreter_arena(func, model, planned=has_plan)
    facts["tensor_arena"] = facts["ram"] = need.tensor_arena
    facts["interpreter"] = {
        "head": need.head,
        "tail": need.tail,
        "planning": need.planning,
        "margin": MARGIN,
        "persistent": need.persistent,
        "non_persistent": need.non_persistent,
        "before": interpreter_arena(func, model, planned=False).tensor_arena,
    }
    return facts


def c_facts(module: ModuleOp, target: str, arena: int, measured: dict[str, Any]) -> dict[str, Any]:
    """For a C project: what `measure_project` found, and for a Cortex-M an upper bound of stack (by
    the call tree, where it was built) and static RAM where it found nothing; `bounds` names
    these."""
    func, board = only_function(module), target_named(target, "c")
    stays = kept_bytes(func) + variable_bytes(body_of(func).ops)
    static = board.static_bound + _caller_bytes(func) + stays
    return _c_facts(board, arena, measured, {"stack": board.stack_bound, "static_ram": static})


def facts_together(
    board: Target, arena: int, each: Sequence[dict[str, Any]], measured: dict[str, Any]
) -> dict[str, Any]:
    """Return the facts of a project of several models, of each of which such facts are known, in an
    `arena`, or arenas, of so many bytes. They run in turn, so one stack is enough."""
    limited = board.has_memories
    bounds = {
        "stack": max(facts["stack"] for facts in each) if limited else 0,
        "static_ram": sum(facts["static_ram"] for facts in each) if limited else 0,
    }
    return _c_facts(board, arena, measured, bounds)


def _c_facts(
    board: Target, arena: int, measured: dict[str, Any], bounds_of: dict[str, int]
) -> dict[str, Any]:
    facts = empty_facts(board.name)
    facts |= measured | {"arena": arena, "not_measured": dict(measured.get("not_measured", {}))}
    if not board.has_memories:
        facts["not_measured"]["ram"] = facts["not_measured"].get("stack", "")
        return facts
    if facts["stack_bound"] is not None:
        bounds_of = bounds_of | {"stack": facts["stack_bound"]}
    bounds = [key for key in bounds_of if facts[key] is None]
    facts |= {key: bounds_of[key] for key in bounds}
    if bounds:
        facts["bounds"] = bounds
    facts["ram"] = arena + facts["stack"] + facts["static_ram"]
    return facts


def facts_without_a_build(
    module: ModuleOp, target: str, arena: int, why: str = "nothing was compiled"
) -> dict[str, Any]:
    """Return what follows from a plan alone, for a C target of which nothing is compiled."""
    return c_facts(module, target, arena, not_built(target, why))


def not_built(target: str, why: str) -> dict[str, Any]:
    """Return what `measure_project` would have said of a project that is not built."""
    because = dict.fromkeys(("stack_bound", "flash", *OF_A_RUN), why)
    if not target_named(target).has_memories:
        because |= dict.fromkeys(("stack", "static_ram"), why)
    return {"not_measured": because}


def tflm_facts_without_a_file(module: ModuleOp, arena: int) -> dict[str, Any]:
    """Return what follows from a plan for TFLM, also where the imported file is not there."""
    try:
        return tflm_facts(module, arena)
    except MemoptError as error:
        facts = empty_facts("tflm")
        facts["arena"] = arena
        facts["not_measured"] |= dict.fromkeys((*OF_A_BUILD, "tensor_arena", "ram"), error.text)
        return facts


def _caller_bytes(func: FuncOp) -> int:
    """Bytes of inputs and outputs that lie outside the arena, in the program around the model."""
    if model_of(func).io.data == "arena":
        return 0
    block = body_of(func)
    returned = block.last_op.operands if block.last_op else ()
    return sum(bytes_of(v.type) or 0 for v in (*block.args, *returned))


def needed_ram(facts: dict[str, Any]) -> int | None:
    """Return the bytes that have to fit into a given RAM; None if they are not known."""
    board = target_named(facts["name"])
    limited = board.has_memories or board.output == "tflite"
    need: int | None = facts["ram"] if limited else facts["arena"]
    return need


def check_target_ram(facts: dict[str, Any], ram: int, helps: str = "") -> None:
    """Raise MemoptError unless what the device needs is known and no more than `ram` bytes. The
    arena alone is looked at where a target has nothing else. `helps` ends the message."""
    need, board = needed_ram(facts), target_named(facts["name"])
    if need is None:
        raise MemoptError(f"--ram cannot be promised: {facts['not_measured']['ram']}")
    if need > ram:
        what = "TFLM's arena" if board.output == "tflite" else "RAM"
        raise MemoptError(
            f"{what} of {sizes(need)} does not fit into {sizes(ram)}: {need - ram:,} B are "
            f"missing; it is {ram_parts(facts)}{helps}"
        )


def check_target_arenas(facts: dict[str, Any], persistent: int, tensors: int) -> None:
    """Raise MemoptError unless what an interpreter needs is known, and its structures and tensors
    need no more than these bytes of two arenas."""
    parts = facts.get("interpreter")
    if parts is None:
        raise MemoptError(f"--ram cannot be promised: {facts['not_measured']['ram']}")
    for name, what, held, key in (
        ("persistent", "TFLM's structures", persistent, "persistent"),
        ("tensors", "TFLM's tensors and lists", tensors, "non_persistent"),
    ):
        if parts[key] > held:
            raise MemoptError(
                f"{what} of {sizes(parts[key])} do not fit into {name} of {sizes(held)}: "
                f"{parts[key] - held:,} B are missing"
            )


def check_target_flash(facts: dict[str, Any], flash: int) -> None:
    """Raise MemoptError unless the image is known and has no more than `flash` bytes."""
    need, why = facts["flash"], facts["not_measured"].get("flash")
    if need is None:
        raise MemoptError(f"--flash cannot be promised: {why}")
    if need > flash:
        raise MemoptError(
            f"an image of {sizes(need)} does not fit into {sizes(flash)}: {need - flash:,} B are "
            "missing; --optimize=ram and --specialise=off make it smaller"
        )


def timed(facts: dict[str, Any], clock: int | None) -> dict[str, Any]:
    """Return the facts with a `clock` in Hz, if it is given, and the time of an inference in `ms`,
    None where its cycles are not known."""
    if clock is None:
        return facts
    cycles = facts["cycles_estimated"]
    return {**facts, "clock": clock, "ms": cycles and round(1000 * cycles / clock, 3)}


def ram_parts(facts: dict[str, Any]) -> str:
    """Return the parts of the sum in `ram`, for people."""
    if parts := facts.get("interpreter"):
        line = f"head {parts['head']:,} B, tail {parts['tail']:,} B"
        if parts["planning"] > parts["head"] + parts["tail"]:
            line += f", while TFLM plans {parts['planning']:,} B"
        return f"{line}, margin {parts['margin']} B"
    bounds = facts.get("bounds", ())

    def part(key: str, name: str) -> str:
        return f"{name} {'at most ' if key in bounds else ''}{facts[key]:,} B"

    names = (("arena", "arena"), ("stack", "stack"), ("static_ram", "static"))
    return ", ".join(part(*pair) for pair in names)


def _speed(facts: dict[str, Any]) -> str:
    """Instructions of an inference and the cycles that they are estimated to take, for people."""
    text = f"{facts['instructions']:,} instructions"
    if facts["cycles_estimated"] is None:
        return text
    least, highest = facts["cycles_range"]
    about = f"about {facts['cycles_estimated']:,} cycles ({least:,} to {highest:,})"
    ms = facts.get("ms")
    time = "" if ms is None else f", {ms:,.3f} ms at {facts['clock']:,} Hz"
    return f"{text}, {about} without wait states{time}"


def target_lines(facts: dict[str, Any]) -> list[str]:
    """RAM and flash of the device, and what could not be measured, for people."""
    lines: list[str] = []
    if facts["tensor_arena"] is not None:
        lines.append(
            f"TFLM      kTensorArenaSize {sizes(facts['tensor_arena'])}: {ram_parts(facts)}; "
            "reference kernels, 32 bits"
        )
        parts = facts["interpreter"]
        two = f"persistent {parts['persistent']:,} B, the other {parts['non_persistent']:,} B"
        lines.append(
            f"arenas    of the file as it is {sizes(parts['before'])}; in two arenas {two}"
        )
    elif facts["ram"] is not None:
        lines.append(f"RAM       {sizes(facts['ram'])}: {ram_parts(facts)}")
    if facts["flash"] is not None:
        lines.append(f"flash     {sizes(facts['flash'])}")
    if facts["instructions"] is not None:
        lines.append(f"speed     {_speed(facts)}")
    if own := [one for one in facts.get("sections", ()) if not USUAL.fullmatch(one["name"])]:
        placed = (f"{one['name']} at {one['address']:#010x} {one['bytes']:,} B" for one in own)
        lines.append(f"sections  {', '.join(placed)}")
    reasons: dict[str, list[str]] = {}
    for key, because in facts["not_measured"].items():
        reasons.setdefault(because, []).append(key.replace("_", " "))
    lines += [f"unknown   {', '.join(keys)}: {because}" for because, keys in reasons.items()]
    return lines

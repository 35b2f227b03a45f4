"""What `memopt compile`, `report` and `verify` do, once the command line is read."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt.claims import only_claimed, optimality_line
from memopt.cli import bytes_of_text, stem_of
from memopt.diagnostics import write_file, write_output
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import functions, only_function
from memopt.dialects.plan import plan_of
from memopt.driver import (
    MODELS,
    check_module,
    check_shapes,
    load_model,
    load_text,
    model_files,
    new_context,
    relative_files,
    set_model_path,
)
from memopt.folder import check_folder, publish, staging
from memopt.opt import parse_shapes
from memopt.passes.pipelines import Choices
from memopt.planning import (
    Seconds,
    as_it_was,
    plan_facts,
    plan_module,
    report_dict,
)
from memopt.target_facts import (
    c_facts,
    check_target_ram,
    facts_without_a_build,
    sizes,
    target_lines,
    tflm_facts,
)
from memopt.text import module_text
from memopt.usage import STDOUT, UsageError
from memopt.verify.plan import verify_plan


def _read(args: argparse.Namespace, path: Path, seconds: Seconds) -> tuple[Context, ModuleOp]:
    context = new_context(True)
    found: list[ModuleOp] = []

    def read() -> None:
        shapes = parse_shapes(args.shape)
        if path.suffix in MODELS:
            found.append(load_model(path, shapes))
        elif path.suffix == ".mlir":
            found.append(load_text(context, path.read_text(encoding="utf-8"), str(path)))
            check_shapes(found[0], shapes)
        else:
            raise MemoptError("unknown kind of file, expected .tflite, .onnx, .json or .mlir")
        if args.model_path:
            set_model_path(found[0], args.model_path)
        check_module(found[0])

    seconds.run("import", read)
    return context, found[0]


def _choices(args: argparse.Namespace) -> Choices:
    return Choices(
        args.schedule,
        args.place,
        args.time_limit,
        not args.no_fuse and args.schedule != "source",  # an opened hyper-node has another order
        args.io,
        args.inplace,
        args.memory,
    )


def plan_both(
    context: Context,
    module: ModuleOp,
    target: str,
    choices: Choices,
    is_tflite: bool,
    seconds: Seconds,
) -> tuple[ModuleOp, ModuleOp]:
    """(as it was, planned). For TFLM the file's own order stays where ours would need more."""
    from memopt.passes.memgraph_place import METHODS as PLACEMENTS
    from memopt.solvers.scheduling import METHODS

    for value, known, flag in (
        (choices.schedule, METHODS, "--schedule"),
        (choices.place, PLACEMENTS, "--place"),
    ):
        if value not in known:
            raise UsageError(f"{flag}={value}: one of {', '.join(known)}")
    if choices.memory is not None:
        check_memory(choices)
    only_function(module)
    before = as_it_was(context, module, is_tflite)
    after = module.clone()
    plan_module(context, after, target, choices, seconds)
    old, new = plan_facts(only_function(before)), plan_facts(only_function(after))
    if target == "tflm":
        from memopt.backends.tflm import is_safe, make_safe

        func = only_function(after)
        needs_more = is_tflite and new.arena.data > old.arena.data
        if needs_more or not (is_safe(func) or make_safe(func)):
            after = before.clone()
    return before, after


def check_memory(choices: Choices) -> None:
    """Raise UsageError for a --memory that cannot be read, or with a --place beside it."""
    from memopt.passes.memgraph_memory import parse_banks

    try:
        parse_banks(choices.memory or "")
    except ValueError as error:
        raise UsageError(f"--memory: {error}") from None
    if choices.place != Choices.place:
        raise UsageError("--memory places the buffers itself; leave --place out")


def compile_model(args: argparse.Namespace) -> None:
    """`memopt compile`. Nothing is left behind unless everything went well."""
    path, directory, seconds = Path(args.model), Path(args.output), Seconds()
    ram = bytes_of_text(args.ram) if args.ram else None
    if ram is not None and args.memory is not None:
        raise UsageError("--ram is one memory, --memory says all of them; give one of the two")
    check_folder(directory, args.force)
    context, module = _read(args, path, seconds)
    is_tflite = path.suffix == ".tflite"
    if args.target == "tflm" and not is_tflite and path.suffix != ".mlir":
        raise MemoptError("--target=tflm writes the imported .tflite again; this is another format")
    before, after = plan_both(context, module, args.target, _choices(args), is_tflite, seconds)
    func = only_function(after)
    if ram is not None:
        check_ram(func, ram)
    with staging(directory) as staged:
        facts: dict[str, Any] = {}
        seconds.run("emit", lambda: facts.update(_emit(after, staged, path, args.target)))
        if ram is not None:
            check_target_ram(facts, ram)
        report = report_dict(path.name, before, after, facts, seconds)
        write_file(staged / "report.json", json.dumps(report, indent=2) + "\n")
        sources = (path, *model_files(after))
        relative_files(after, directory)
        write_file(staged / "plan.mlir", module_text(after))
        publish(staged, directory, args.force, sources)
    print(summary(report))
    print(f"written   {directory}")


def _emit(module: ModuleOp, directory: Path, path: Path, target: str) -> dict[str, Any]:
    """Write the target's files; returns the report's `target` entry."""
    func = only_function(module)
    arena = plan_facts(func).arena.data
    if target == "tflm":
        from memopt.backends.tflm import is_safe, write_tflm

        data = write_tflm(module, at_run_time=not is_safe(func))
        write_file(directory / f"{path.stem}.tflite", data)
        return tflm_facts(module, arena)
    from memopt.backends.c.measure import measure_project
    from memopt.backends.c.project import write_project

    write_project(module, directory, stem_of(path), target)
    return c_facts(module, target, arena, measure_project(directory, target))


def check_ram(func: FuncOp, ram: int) -> None:
    """Raise MemoptError with operator, tensors and missing bytes if the arena exceeds `ram`."""
    from memopt.backends.report import timeline_of

    arena = plan_facts(func).arena.data
    if arena <= ram:
        return
    line = timeline_of(func)
    step = max(line.steps, key=lambda s: s.bytes)
    tensors = sorted((line.buffers[i] for i in step.live), key=lambda b: -b.bytes)
    named = ", ".join(f"{b.name} {b.bytes:,} B" for b in tensors[:6])
    more = f" and {len(tensors) - 6} more" if len(tensors) > 6 else ""
    raise MemoptError(
        f"the arena of {sizes(arena)} does not fit into {sizes(ram)}: {arena - ram:,} B are "
        f"missing; the peak is at {step.name} with {named}{more}"
    )


def summary(report: dict[str, Any]) -> str:
    """Before and after, for people."""
    source, plan = report["source"], report["plan"]
    claimed = "claimed " if plan.get("claimed") else ""
    verdict = (
        f"{claimed}optimal, proof = {plan['proof']}"
        if plan["optimal"] is not False
        else (f"{claimed}bound {sizes(plan['lower_bound'])}, proof = {plan['proof']}")
    )
    if plan["arena_optimal"] is not False:
        size = f", {claimed}smallest possible"
    elif plan["objects"] or report["memories"]:  # sums, to which the bound of one arena says little
        size = ""
    else:
        size = f", {claimed}bound {sizes(plan['arena_lower_bound'])}"
    lines = [
        f"model     {report['model']}: {report['operators']} operators, "
        f"{report['tensors']} tensors",
        f"peak      {sizes(source['peak'])} -> {sizes(plan['peak'])}, {verdict}",
        f"arena     {sizes(source['arena'])} -> {sizes(plan['arena'])}{size}",
    ]
    if hidden := plan["unknown_scratch"]:
        lines.append(
            f"scratch   of {', '.join(hidden)} is not known and not counted: TFLM lays it at run "
            "time, and nothing is promised but that the file needs no more than before"
        )
    lines += object_lines(plan) + memory_lines(report["memories"], claimed)
    return "\n".join([*lines, work_line(report), *target_lines(report["target"])])


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
    """What lies in each memory, and what the traffic costs, for people."""
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


def report_model(args: argparse.Namespace) -> None:
    """`memopt report`: text, or JSON, and the picture."""
    from memopt.backends.report import report_html, table_text, timeline_of

    if args.json and args.html == STDOUT:
        raise UsageError("--json and --html - cannot both go to stdout")
    path, seconds = Path(args.model), Seconds()
    context, module = _read(args, path, seconds)
    func = only_function(module)
    is_tflite = path.suffix == ".tflite"
    target = args.target or ("tflm" if is_tflite else "host")
    plan = plan_of(func)
    if plan is not None:
        verify_plan(func)
    from_file = plan is not None and plan.placed
    if from_file:
        before, after = as_it_was(context, module, False), module
    else:
        before, after = plan_both(context, module, target, _choices(args), is_tflite, seconds)
    facts = facts_without_a_build(after, target, plan_facts(only_function(after)).arena.data)
    report = report_dict(path.name, before, after, facts, seconds)
    old, new = timeline_of(only_function(before)), timeline_of(only_function(after))
    if from_file:
        report, new = only_claimed(report), replace(new, claimed=True)
    if args.html:
        write_output(args.html, report_html(path.name, old, new), (path, *model_files(after)))
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        out = sys.stderr if args.html == STDOUT else sys.stdout
        print(f"{summary(report)}\n\n{table_text(new)}", file=out)


def verify_file(args: argparse.Namespace) -> None:
    """`memopt verify`: every function of the plan, or the plan inside a .tflite."""
    path = Path(args.plan)
    if path.suffix == ".csv":
        from memopt.place import verify_placed

        verify_placed(path, args)
        return
    if path.suffix == ".tflite":
        from memopt.frontends.tflite.planned import read_planned

        module = read_planned(path.read_bytes(), str(path))
    elif path.suffix == ".mlir":
        module = load_text(new_context(True), path.read_text(encoding="utf-8"), str(path))
        check_module(module)
    else:
        raise MemoptError("a plan is an .mlir, a .tflite or a .csv file")
    found = list(functions(module))
    if not found:
        raise MemoptError("there is no function to verify")
    optimality = ""
    if args.certificate:
        from memopt.certified import optimality_of

        optimality = optimality_of(found, Path(args.certificate))
    rows: list[dict[str, Any]] = []
    for func in found:
        verified = verify_plan(func)
        rows.append(
            {
                "function": func.sym_name.data,
                "peak": verified.peak,
                "arena": verified.arena,
                "lower_bound": verified.plan.lower_bound.data,
                "proof": verified.plan.proof.data,
                "optimality": optimality
                or optimality_line(verified.plan.proof.data, verified.plan.optimal),
                "optimal": True
                if optimality in ("proven (flow)", "proven (search)")
                else None
                if verified.plan.optimal
                else False,
            }
        )
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    for row, func in zip(rows, found, strict=True):
        arena = row["arena"]
        placed = f"arena {sizes(arena)}" if arena is not None else "no offsets"
        print(f"@{func.sym_name.data}: plan is correct: peak {sizes(row['peak'])}, {placed}")
        print(f"optimality: {row['optimality']}")

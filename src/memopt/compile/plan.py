"""A model of the command line, read and planned for a target: what `memopt compile` then writes."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, ModuleOp

from memopt.analysis.sliding import kept_bytes
from memopt.backends.checked import Checked
from memopt.backends.report import timeline_of
from memopt.cli.planning_arguments import read_model
from memopt.compile.advice import Advice, Advised, advice_of, fitting_text
from memopt.compile.compare import Task, check_options, plan_task
from memopt.compile.driver import IR, import_bytes
from memopt.compile.narrowing import Narrowed, narrowed
from memopt.compile.options import options_of
from memopt.compile.pipelines import SettledOptions
from memopt.compile.plan_request import is_tflite, lowered, settled
from memopt.compile.report import report_dict
from memopt.compile.run_passes import (
    Seconds,
    as_it_was,
    check_kernels_first,
    rewritten,
    whole_peak,
)
from memopt.dialects.attributes.rewrites import REWRITES
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.core.registry import frontend_of
from memopt.passes.memgraph_expand_rows import AUTO
from memopt.passes.memgraph_kernels import RAM
from memopt.passes.plan import share
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.rewrites import NO_RULES
from memopt.targets.core.registry import target_named
from memopt.targets.core.target import Target
from memopt.text.format import bytes_of_text, sizes
from memopt.text.usage import UsageError

TRIES = 3  # plans of a window that slides, the first of which keeps all

Planned = tuple[ModuleOp, ModuleOp, Checked]
"""As it was, planned, and what is known of its function."""


@dataclass(frozen=True)
class PlannedModel:
    """`before` and `after` with what is `known` of the latter's function. `file` is what a narrower
    `less.network` will be called. `again` plans once more, by other options than `options`;
    `wished` are those that a board's RAM may have kept from being planned."""

    path: Path
    target: str
    before: ModuleOp
    after: ModuleOp
    known: Checked
    less: Narrowed
    file: Path
    seconds: Seconds
    options: SettledOptions
    again: Callable[[SettledOptions], Planned]
    wished: SettledOptions | None
    _whole: Callable[[SettledOptions], int | None] = field(repr=False)
    _advice: Callable[[int, int | None], tuple[Advice, ...]] = field(repr=False)

    def planned_again(self, options: SettledOptions) -> "PlannedModel":
        """Return the same model planned by these options. Raises MemoptError."""
        _, after, known = self.again(options)
        return replace(self, after=after, known=known, options=options)

    def whole_peak(self) -> int | None:
        """Bytes of the peak of whole operators, beside a plan in rows."""
        return self._whole(self.options) if self.known.plan.family.data == "rows" else None

    def advice(self, facts: dict[str, Any]) -> tuple[Advice, ...]:
        """Return the options that would save RAM, beside these `facts` of the target."""
        return self._advice(self.known.plan.arena, facts["ram"])

    def report(
        self, facts: dict[str, Any], whole: int | None, advice: Sequence[Advice] = ()
    ) -> dict[str, Any]:
        """report.json, with these `facts` of the target, the `whole_peak` and `advice`."""
        return report_dict(
            self.path.name, self.before, self.known, facts, whole, [a.entry() for a in advice]
        )


def check_target(args: argparse.Namespace) -> None:
    """Raise UsageError for options that contradict each other."""
    if args.ram is not None and args.memory is not None:
        raise UsageError("--ram is one memory, --memory says all of them; give one of the two")
    if args.layout is not None and args.target == "tflm":
        raise UsageError(f"--layout={args.layout} is of C targets; --target=tflm writes a .tflite")
    if args.shared_kernels and args.target == "tflm":
        raise UsageError("--shared-kernels is of C targets; --target=tflm writes a .tflite")
    if args.specialise is not None and args.target == "tflm":
        raise UsageError("--specialise is of C targets; --target=tflm writes a .tflite")


def plan_model(args: argparse.Namespace, path: Path, directory: Path) -> PlannedModel:
    """What the command line says of the model at `path`, whose files go to `directory`. Raises
    MemoptError, UsageError, OSError."""
    seconds = Seconds()
    ram = None if args.ram is None else bytes_of_text(args.ram)
    context, module = read_model(args, path, seconds)
    frontend = frontend_of(path.suffix)
    if args.target == "tflm" and not is_tflite(frontend) and path.suffix != IR:
        raise MemoptError("--target=tflm writes the imported .tflite again; this is another format")
    imported, ready = lowered(module, args.target, frontend)
    request = options_of(args, args.target)
    options = settled(request, ready, frontend)
    less = Narrowed()
    if args.target == "tflm" and options.rewrite != NO_RULES:
        found: list[Narrowed] = []
        seconds.run("rewrite", lambda: found.append(narrowed(imported, options.rewrite.split(","))))
        less, options = found[0], replace(options, rewrite=NO_RULES)
    network = less.network
    file = directory / f"{path.stem}.narrowed.tflite"
    if network is not None:
        ready = import_bytes(network, file.suffix, str(file), file)
        only_function(ready).attributes[REWRITES] = ArrayAttr(less.did)
    check_options(options)
    if args.target != "tflm":
        ready, options = rewritten(context, ready, options, seconds)
        check_kernels_first(context, ready, options)

    # a narrower network is a file of its own, whose order stays where ours would need more
    own = imported if network is None else ready
    task = Task(own, ready, options, is_tflite(frontend))

    def plan(options: SettledOptions) -> Planned:
        return plan_task(context, replace(task, options=options), seconds)

    given = args.rows is not None or args.fit is not None
    wished: SettledOptions | None = None
    # shared objects take no parts of tensors, so whole operators fit, or it is said what is missing
    if ram is not None and options.slide is not None:
        before, after, known = _sliding_within(ram, target_named(args.target), options, plan)
    elif ram is None or args.target == "tflm" or given or options.place in share.METHODS:
        before, after, known = plan(options)
        if ram is not None and known.plan.arena + beside_arena(target_named(args.target)) > ram:
            before, after, known = plan(replace(options, optimize=RAM))
            wished = options
    else:
        board = target_named(args.target)
        before, after, known = _within(ram, board, options, plan)
        wished = replace(options, rows=AUTO)
    if network is not None:
        before = as_it_was(context, imported, is_tflite(frontend))

    def advice(arena: int, needed: int | None) -> tuple[Advice, ...]:
        advised = Advised(context, module, frontend, request, task, arena, needed)
        return advice_of(advised, seconds, ram)

    if ram is not None and known.plan.arena > ram:
        raise does_not_fit(known, ram, advice(known.plan.arena, None))

    def whole(options: SettledOptions) -> int | None:
        return whole_peak(context, ready, options, seconds)

    return PlannedModel(
        path=path,
        target=args.target,
        before=before,
        after=after,
        known=known,
        less=less,
        file=file,
        seconds=seconds,
        options=options,
        again=plan,
        wished=wished,
        _whole=whole,
        _advice=advice,
    )


def _within(
    ram: int, board: Target, options: SettledOptions, plan: Callable[[SettledOptions], Planned]
) -> Planned:
    """The cheapest plan with which the board surely gets by; if there is none, that of the smallest
    arena, of which is measured what it needs."""
    auto = replace(options, rows=AUTO)
    other = beside_arena(board)
    if ram > other:
        with suppress(DoesNotFitError):
            return plan(replace(auto, fit=ram - other))
    return plan(replace(auto, optimize=RAM))


def beside_arena(board: Target) -> int:
    """The bytes that a model surely gets by with beside its arena."""
    return board.stack_bound + board.static_bound if board.has_memories else 0


def _sliding_within(
    ram: int, board: Target, options: SettledOptions, plan: Callable[[SettledOptions], Planned]
) -> Planned:
    """A plan with which the board gets by: as much is kept as there is room beside the arena, which
    grows with what is computed again."""
    other = beside_arena(board)
    found = plan(options)
    for _ in range(TRIES):
        room = ram - other - found[2].plan.arena
        if options.kept is not None or room < 1 or kept_bytes(found[2].func) <= room:
            break
        found = plan(replace(options, kept=room))
    return found


def does_not_fit(known: Checked, ram: int, advice: Sequence[Advice]) -> MemoptError:
    """Return the error for an arena that exceeds `ram`: operator, tensors and missing bytes, and of
    `advice` what would fit."""
    arena = known.plan.arena
    line = timeline_of(known.func, known)
    at, step = max(enumerate(line.steps), key=lambda s: s[1].bytes)
    tensors = sorted((line.buffers[i] for i in line.live_at(at)), key=lambda b: -b.bytes)
    named = ", ".join(f"{b.name} {b.bytes:,} B" for b in tensors[:6])
    more = f" and {len(tensors) - 6} more" if len(tensors) > 6 else ""
    return MemoptError(
        f"the arena of {sizes(arena)} does not fit into {sizes(ram)}: {arena - ram:,} B are "
        f"missing; the peak is at {step.name} with {named}{more}" + fitting_text(advice, ram)
    )

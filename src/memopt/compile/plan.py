"""`Imported -> Planned -> Built`: what both runtimes share of planning a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.checked import Checked
from memopt.compile.advice import Advice, Advised, advice_of, fitting_text
from memopt.compile.compare import Task, plan_alone, plan_task
from memopt.compile.pipelines import SettledOptions
from memopt.compile.read import Imported
from memopt.compile.rewritten_network import RewrittenNetwork
from memopt.compile.run_passes import SourcePlan, as_it_was, whole_peak
from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.format import sizes

if TYPE_CHECKING:
    from memopt.backends.c.project.project_files import Project

NAME = 40  # characters of a tensor's name in an error


@dataclass(frozen=True)
class Planned:
    """A model as it was, `before`, and planned by `options`, `after`, with what is `known` of the
    latter's function. `task` are the options before a board's RAM changed them, `wished` those that
    it may have kept from being planned. `less` is the narrower network that was planned instead."""

    imported: Imported
    task: Task
    options: SettledOptions
    before: SourcePlan
    after: ModuleOp
    known: Checked
    wished: SettledOptions | None = None
    less: RewrittenNetwork = field(default_factory=RewrittenNetwork)

    def again(self, options: SettledOptions) -> "Planned":
        """Return the same model planned by these options. Raises MemoptError."""
        imported = self.imported
        task = replace(self.task, options=options)
        after, known = plan_alone(imported.context, task, imported.seconds)
        return replace(self, after=after, known=known, options=options)

    def whole_peak(self) -> int | None:
        """Return the bytes of the peak of whole operators, beside a plan in rows."""
        if self.known.plan.family.data != "rows":
            return None
        imported = self.imported
        how = imported.context, self.task.ready, self.options, imported.seconds
        return whole_peak(*how, self.task.whole_peaks)

    def advice(self, ram: int | None) -> tuple[Advice, ...]:
        """Return the options that would save RAM, of which `ram` bytes are needed in all."""
        of = self.imported
        given = of.context, of.module, of.frontend, of.request.options, self.task
        advised = Advised(*given, self.known.plan.arena, ram)
        return advice_of(advised, of.seconds, of.request.options.ram_bytes)


def planned_by(imported: Imported, task: Task, options: SettledOptions | None = None) -> Planned:
    """Return the model planned by the task's options, or by others. Raises MemoptError."""
    chosen = options or task.options
    plans = plan_task(imported.context, replace(task, options=chosen), imported.seconds)
    return Planned(imported, task, task.options, *plans)


def read_plan(imported: Imported, known: Checked) -> Planned:
    """Return a plan that was read, beside the file's own order."""
    before = as_it_was(imported.context, imported.module, is_tflite=False)
    options = SettledOptions(target=imported.request.options.target)
    task = Task(imported.module, imported.module, options, is_tflite=False)
    return Planned(imported, task, options, before, imported.module, known)


def check_arena(planned: Planned) -> None:
    """Raise MemoptError for an arena that alone exceeds the board's RAM."""
    ram = planned.imported.request.options.ram_bytes
    if ram is not None and planned.known.plan.arena > ram:
        raise does_not_fit(planned.known, ram, planned.advice(None))


def does_not_fit(known: Checked, ram: int, advice: Sequence[Advice]) -> MemoptError:
    """Return the error for an arena that exceeds `ram`: operator, tensors and missing bytes, and of
    `advice` what would fit."""
    from memopt.backends.report import timeline_of  # for who is refused
    from memopt.backends.report.wording import short

    arena, line = known.plan.arena, timeline_of(known.func, known)
    at, step = max(enumerate(line.steps), key=lambda s: s[1].bytes)
    tensors = sorted((line.buffers[i] for i in line.live_at(at)), key=lambda b: -b.bytes)
    named = ", ".join(f"{short(b.name, NAME)} {b.bytes:,} B" for b in tensors[:6])
    more = f" and {len(tensors) - 6} more" if len(tensors) > 6 else ""
    return MemoptError(
        f"the arena of {sizes(arena)} does not fit into {sizes(ram)}: {arena - ram:,} B are "
        f"missing; the peak is at {short(step.name, NAME)} with {named}{more}"
        + fitting_text(advice, ram)
    )


@dataclass(frozen=True)
class Built:
    """Files by their names, the C project that they are of, if any, what is to be said, and, of a
    .tflite that is written without a plan, the bytes of TFLM's head."""

    planned: Planned
    files: Mapping[str, str | bytes]
    project: "Project | None" = None
    warnings: tuple[str, ...] = ()
    unplanned_head: int | None = None

"""TensorFlow Lite Micro as a runtime: it runs operators of a .tflite whole, by its own kernels."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ArrayAttr

from memopt.backends.tflm import heads, is_safe, write_tflm
from memopt.backends.tflm.wrong import wrong_answers
from memopt.compile.compare import Task, check_options
from memopt.compile.driver import IR, import_bytes
from memopt.compile.measure import Measured
from memopt.compile.plan import Built, Planned, check_arena, planned_by
from memopt.compile.plan_request import is_tflite, settled
from memopt.compile.read import Imported
from memopt.compile.report import check_ram
from memopt.compile.request import FULL, Request
from memopt.compile.rewritten_network import RewrittenNetwork, rewrite_network
from memopt.compile.run_passes import as_it_was
from memopt.compile.target_facts import tflm_facts, tflm_facts_without_a_file
from memopt.dialects.attributes.rewrites import REWRITES
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import mark_unrun, only_function
from memopt.formats.tflite import read_model
from memopt.rewrites import NO_RULES
from memopt.text.usage import UsageError

REFUSED: tuple[tuple[Callable[[Request], bool], str], ...] = (
    (lambda r: r.building.layout is not None, "--layout={r.building.layout}"),
    (lambda r: r.building.shared_kernels, "--shared-kernels"),
    (lambda r: r.building.specialised is not None, "--specialise"),
    (lambda r: bool(r.building.storage.sections), "--section"),
    (lambda r: r.building.storage.has_check, "--check-weights"),
    (lambda r: r.building.storage.in_file, "--weights"),
    (lambda r: not r.building.has_startup, "--no-startup"),
    (lambda r: r.building.has_serial, "--serial"),
    (lambda r: r.building.measure != FULL, "--measure"),
)


class Tflm:
    """Plans, builds and measures what TensorFlow Lite Micro runs."""

    def check(self, request: Request) -> None:
        """Raise UsageError for what is of C alone."""
        for is_given, flag in REFUSED:
            if is_given(request):
                text = "is of C targets; --target=tflm writes a .tflite"
                raise UsageError(f"{flag.format(r=request)} {text}")

    def plan(self, imported: Imported) -> Planned:
        """Return the model planned; of one that is built the rules may leave a narrower network,
        which is a file of its own, whose order stays where ours would need more."""
        request, network = imported.request, imported.module
        from_tflite = is_tflite(imported.frontend)
        if request.is_built and not from_tflite and request.path.suffix != IR:
            text = "writes the imported .tflite again; this is another format"
            raise MemoptError(f"--target=tflm {text}")
        options = settled(request.options, network, imported.frontend)
        less = RewrittenNetwork()
        if request.is_built and options.rewrite != NO_RULES:
            with imported.seconds.timed("rewrite"):
                less = rewrite_network(network, options.rewrite.split(","))
            options = replace(options, rewrite=NO_RULES)
        check_options(options)
        own = network
        if less.network is not None:
            file = request.folder / rewritten_name(request)
            own = import_bytes(less.network, file.suffix, str(file), file)
            mark_unrun(own)
            only_function(own).attributes[REWRITES] = ArrayAttr(less.did)
        planned = replace(planned_by(imported, Task(own, own, options, from_tflite)), less=less)
        if less.network is not None:
            before = as_it_was(imported.context, network, from_tflite)
            planned = replace(planned, before=before)
        check_arena(planned)
        if not request.is_built and request.options.ram is not None:
            check_ram(self.estimate(planned), request.options)
        return planned

    def build(self, planned: Planned) -> Built:
        """Return the planned .tflite, beside the narrower network where its weights lie."""
        request, network = planned.imported.request, planned.less.network
        with_plan, as_it_is = heads(planned.known.func)
        is_worse = with_plan > as_it_is
        at_run_time = is_worse or not is_safe(planned.known.func)
        with planned.imported.seconds.timed("emit"):
            # `as_it_is` is without the plan that the file may have
            data = write_tflm(
                planned.after, source=network, at_run_time=at_run_time, keeps_plan=not is_worse
            )
        files: dict[str, str | bytes] = {f"{request.path.stem}.tflite": data}
        if network is not None:
            files[rewritten_name(request)] = network
        warnings = wrong_answers(read_model(data, request.path.name), data)
        if is_worse:
            text = f"TFLM needs {with_plan} B with the plan, {as_it_is} B without"
            warnings.append(f"{text}: the file is written without one")
        head = as_it_is if is_worse else None
        return Built(planned, files, warnings=tuple(warnings), unplanned_head=head)

    def measure(self, built: Built) -> Measured:
        """Return what the interpreter needs of RAM."""
        planned = built.planned
        network, head = planned.less.network, built.unplanned_head
        arena = planned.known.plan.arena if head is None else head
        facts = tflm_facts(planned.after, arena, source=network, has_plan=head is None)
        return Measured(planned, facts, built)

    def estimate(self, planned: Planned) -> dict[str, Any]:
        """Return what is known of a plan that is not built."""
        return tflm_facts_without_a_file(planned.after, planned.known.plan.arena)


RUNTIME = Tflm()


def rewritten_name(request: Request) -> str:
    """Return what the file of a narrower network is called."""
    return f"{request.path.stem}.narrowed.tflite"

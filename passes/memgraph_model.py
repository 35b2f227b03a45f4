"""`memgraph-model{target=tflm alignment=16 io=arena views=off inplace=off scratch=tflm}`

Sets the memory model that functions are planned for; what is not given stays as it is, but a
target brings its own rules (its file in targets/): TFLite Micro runs reshapes and asks for scratch,
our C does neither. Where our own kernels for the target work in scratch, it is written down as
`memgraph.scratch`, so that order, places and verifier count it; what an operator declares itself
stays. A plan made for another model, or with other scratch, is dropped.

Before:  func.func @main(...) { ... }
After `memgraph-model{alignment=1}`:
         func.func @main(...) attributes {memgraph.model = #memgraph.model<target = generic,
           alignment = 1, io = arena, views = on, inplace = off, scratch = none>} { ... }
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import Requests, scratch_requests
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import MODEL, SCRATCH, drop_plan, model_of
from memopt.passes.plan.option import option
from memopt.passes.plan.scratch import asked_scratch, write_scratch
from memopt.targets.core.target import target_named


@dataclass(frozen=True)
class MemgraphModelPass(ModulePass):
    """Set the memory model that functions are planned for. A target's alignment is the least: a
    wider one that a function has stays."""

    name = "memgraph-model"

    target: str | None = option(None, "whose rules hold: generic, host, cortex-m4, ..., tflm")
    alignment: int | None = option(None, "bytes of which every offset is a multiple")
    io: str | None = option(
        None, "where inputs and outputs lie: arena, kept (there, inputs to the end) or caller"
    )
    views: str | None = option(None, "on: reshapes cost nothing; off: they copy")
    inplace: str | None = option(
        None, "on: element-wise results may take the place of an operand that dies"
    )
    scratch: str | None = option(
        None, "whose kernels' scratch is counted: none, tflm, cmsis-nn or cmsis-nn-calls"
    )

    align_io: int | None = option(
        None, "bytes of cache lines, of which inputs and outputs in the arena take up whole ones"
    )

    def __post_init__(self) -> None:
        try:
            ModelAttr.of(self.given())
            target_named(self.target or "generic")
        except VerifyException as error:
            raise PassFailedException(f"memgraph-model: {error}") from error
        except MemoptError as error:
            raise PassFailedException(f"memgraph-model: {error.text}") from error

    def given(self) -> dict[str, str | int]:
        """The keys that are not left as they are."""
        keys = ("target", "alignment", "io", "views", "inplace", "scratch", "align_io")
        return {key: value for key in keys if (value := getattr(self, key)) is not None}

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        brought = dict(target_named(self.target).model) if self.target else {}
        for func in functions(op):
            old = model_of(func)
            old_fields = {
                "target": old.target.data,
                "alignment": old.alignment.data,
                "io": old.io.data,
                "views": old.views.data,
                "inplace": old.inplace.data,
                "scratch": old.scratch.data,
                "align_io": old.align_io.data,
            }
            wider = {"alignment": max(old.alignment.data, brought.get("alignment", 0))}
            model = ModelAttr.of(old_fields | brought | wider | self.given())
            changed_scratch = asked_scratch(func, old, model)
            if model != old or changed_scratch:
                drop_plan(func)
            requests = scratch_requests(old)
            if requests and old.scratch != model.scratch:
                _drop_scratch(func, old, requests)
            write_scratch(changed_scratch)
            func.attributes[MODEL] = model


def _drop_scratch(func: FuncOp, model: ModelAttr, requests: Requests) -> None:
    """Forget what the model's kernels ask for; scratch that an operator declares itself stays."""
    for op in func.body.walk():
        if requests(op, model):
            op.attributes.pop(SCRATCH, None)

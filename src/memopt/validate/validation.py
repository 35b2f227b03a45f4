"""A network on the user's data: as it is planned, and by a reference."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from memopt.analysis.evaluation import State, evaluate
from memopt.analysis.weights import Weights
from memopt.backends.c.project.serial import hello_of
from memopt.backends.report.records import records_html
from memopt.backends.report.wording import xml
from memopt.compile.plan import Built
from memopt.compile.read import Imported, read
from memopt.compile.request import Request
from memopt.compile.stages import check, final_build
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.text.usage import UsageError
from memopt.validate.board import Board, Hello
from memopt.validate.differences import (
    Difference,
    accuracy,
    confusion,
    difference,
    errors,
    is_classes,
    is_different,
)
from memopt.validate.job import REFERENCES, Job, answer_of, stacked
from memopt.validate.layers import EVALUATE, Layer, first_key, layers_of
from memopt.validate.port import Port, open_port
from memopt.validate.program import Program, Traced, split_outputs, traced
from memopt.validate.samples import Input, Samples, read_samples
from memopt.validate.stored import Stored, as_file, as_stored, stored_of

DEFAULTS = {".tflite": "litert-reference", ".onnx": "onnxruntime"}


@dataclass(frozen=True)
class Labelled:
    """Outputs beside labels: accuracy and confusion of classes, or errors of real numbers, of ours
    and of the reference's."""

    accuracy: float | None = None
    reference_accuracy: float | None = None
    confusion: list[list[int]] | None = None
    rmse: float | None = None
    mae: float | None = None
    reference_rmse: float | None = None
    reference_mae: float | None = None


@dataclass(frozen=True)
class OnBoard:
    """The board that ran a network: its port, whether its code is the one that these options make,
    and the cycles of its fastest and slowest inference, None without a counter."""

    port: str
    is_same_code: bool
    cycles: tuple[int, int] | None = None


@dataclass(frozen=True)
class Validation:
    """A network beside a reference. `agree` are other references whose outputs are ours where the
    one that was asked has others, `known_errors` what is known of its own answers if anything
    differs, not behind the first tensor that does unless others agree; `layers` is None if no
    tensors were compared, `board` if none was asked. `not_run` are the references that failed when
    they were asked who agrees, and why."""

    model: str
    target: str
    against: str
    samples: int
    outputs: tuple[Difference, ...]
    labelled: Labelled = field(default_factory=Labelled)
    agree: tuple[str, ...] = ()
    known_errors: tuple[str, ...] = ()
    layers: tuple[Layer, ...] | None = None
    board: OnBoard | None = None
    not_run: Mapping[str, str] = field(default_factory=dict[str, str])

    def _repr_html_(self) -> str:
        head = f"<b>{xml(self.model)}</b> for {xml(self.target)}, {self.samples:,} samples, against"
        known = {key: one for key, one in asdict(self.labelled).items() if key != "confusion"}
        labelled = [{k: f"{v:.4g}" for k, v in known.items() if v is not None}]
        differing = [asdict(one) for one in self.layers or () if one.different]
        tables = [asdict(one) for one in self.outputs], [r for r in labelled if r], differing
        return "\n".join([f"{head} {xml(self.against)}", *map(records_html, filter(None, tables))])

    @property
    def first_difference(self) -> str | None:
        """Return the first tensor that differs, as operators run."""
        return next((one.tensor for one in self.layers or () if one.different), None)

    def entries(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        layers = None if self.layers is None else [asdict(one) for one in self.layers]
        return {
            "model": self.model,
            "target": self.target,
            "against": self.against,
            "samples": self.samples,
            **asdict(self.labelled),
            "outputs": [asdict(one) for one in self.outputs],
            "agree": list(self.agree),
            "known_errors": list(self.known_errors),
            "layers": layers,
            "first_difference": self.first_difference,
            "not_run": dict(self.not_run),
            "board": None if self.board is None else asdict(self.board),
        }


def references_of(path: Path) -> list[str]:
    """Return the references that read a file, the default first."""
    names = [n for n, m in REFERENCES.items() if path.suffix == import_module(m).SUFFIX]
    default = DEFAULTS.get(path.suffix, EVALUATE)
    return sorted([*names, EVALUATE], key=lambda name: (name != default, name))


def validate(
    request: Request,
    data: Path,
    labels: str | None = None,
    against: str | None = None,
    with_layers: bool = False,
    count: int | None = None,
    port: str | None = None,
) -> Validation:
    """Return the planned network of a request beside a reference, on the first `count` samples in
    `data`, all if None; with a `port` the board behind it runs them. Raises MemoptError,
    UsageError, OSError."""
    if port is not None:
        request = replace(request, building=replace(request.building, has_serial=True))
        check(request)
    known = references_of(request.path)
    reference = against or known[0]
    if reference not in known:
        raise UsageError(
            f"--against={reference}: {request.path.name} is read by {', '.join(known)}"
        )
    if request.options.slide is not None or request.options.state:
        raise UsageError("validate compares single inferences: without --slide and --state")
    with (
        nullcontext() if port is None else open_port(port) as stream,
        tempfile.TemporaryDirectory(prefix="memopt-") as work,
    ):
        imported = read(request)
        file_inputs, file_outputs = _borders(only_function(imported.module))
        wanted = [Input(one.name, one.shape) for one in file_inputs]
        samples = read_samples(data, wanted, labels)
        samples = samples.first(count or len(samples))
        stored = [one.holding(a) for one, a in zip(file_inputs, samples.inputs, strict=True)]
        built = final_build(imported)
        device = _Device(built, Path(work), file_inputs, file_outputs, stream, port or "")
        if with_layers and device.board is not None and not device.board.is_same_code:
            text = "--layers: the board's code is another than of these options"
            raise MemoptError(text, device.board.port)
        ours = device.outputs(stored)
        theirs = _answer(reference, imported, stored)
        outputs = tuple(map(difference, file_outputs, ours, theirs))
        others = [name for name in known if name != reference]
        agree: tuple[str, ...] = ()
        not_run: dict[str, str] = {}
        if any(one.different for one in outputs):
            agree = tuple(n for n in others if _agrees(n, imported, stored, ours, not_run))
        layers = None
        if with_layers:
            chosen = _chosen(ours, theirs)
            one = [array[chosen : chosen + 1] for array in stored]
            given = device.given(one)
            how = given, reference, others, not_run
            layers = tuple(layers_of(built, device.trace(given), one, *how))
    compared = *outputs, *(layers or ())
    until = "" if agree else _first_alone(built, layers or ())
    return Validation(
        request.path.name,
        request.options.target,
        reference,
        len(samples),
        outputs,
        _labelled(samples, file_outputs, ours, theirs),
        agree,
        _known_errors(reference, request.path, until, compared),
        layers,
        device.board,
        not_run,
    )


def _borders(func: Any) -> tuple[list[Stored], list[Stored]]:
    """Return inputs and outputs of a function."""
    block = body_of(func)
    returned = block.last_op.operands if block.last_op else ()
    return [stored_of(v) for v in block.args], [stored_of(v) for v in returned]


class _Device:
    """Whatever runs the planned network, with inputs and outputs as the file has them."""

    def __init__(
        self,
        built: Built,
        folder: Path,
        inputs: Sequence[Stored],
        outputs: Sequence[Stored],
        stream: Port | None,
        port: str,
    ) -> None:
        self._file = inputs, outputs
        self._own = _borders(only_function(built.planned.after))
        self._turned = built.planned.imported.request.options.nhwc_io
        self._program: Program | None = None
        self._board: Board | None = None
        self.board: OnBoard | None = None
        if built.project is not None and stream is not None:
            self._board, hello = Board(stream, port), Hello.of(hello_of(built.project))
            self.board = OnBoard(port, self._board.greet(hello))
            self._size = hello.outputs
        elif built.project is not None:
            self._program = Program(built.project, folder)
        else:
            ((name, data),) = ((n, d) for n, d in built.files.items() if n.endswith(".tflite"))
            self._path = folder / name
            self._path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def given(self, stored: Sequence[Array]) -> list[Array]:
        """Return samples of the file's inputs as the device takes them."""
        return [
            as_stored(array, file, own, self._turned)
            for array, file, own in zip(stored, self._file[0], self._own[0], strict=True)
        ]

    def outputs(self, stored: Sequence[Array]) -> tuple[Array, ...]:
        """Return an array [samples, ...] per output."""
        given = self.given(stored)
        if self._board is not None and self.board is not None:
            results = self._answered(self._board, given)
            ticks = self._board.ticks
            self.board = replace(
                self.board, cycles=(min(ticks), max(ticks)) if any(ticks) else None
            )
        elif self._program is None:
            results = answer_of("tflm", Job(self._path, given)).outputs
        else:
            results = self._program.run(given, self._own[1])
        pairs = zip(results, self._file[1], self._own[1], strict=True)
        return tuple(as_file(array, file, own, self._turned) for array, file, own in pairs)

    def _answered(self, board: Board, given: Sequence[Array]) -> tuple[Array, ...]:
        sent = (b"".join(a.tobytes() for a in sample) for sample in zip(*given, strict=True))
        outputs = b"".join(board.run(sample, self._size) for sample in sent)
        return split_outputs(outputs, len(given[0]), self._own[1])

    def trace(self, given: Sequence[Array]) -> list[Traced]:
        """Return what operators write, given what the device takes. Raises UsageError of TFLM,
        which says nothing of it, and MemoptError for a board that does not trace."""
        if self._board is not None:
            return traced(self._board.trace(b"".join(array[0].tobytes() for array in given)))
        if self._program is None:
            raise UsageError("--layers is of C targets")
        return self._program.trace(given)


def _answer(reference: str, imported: Imported, stored: Sequence[Array]) -> tuple[Array, ...]:
    """Return the outputs of a reference."""
    if reference != EVALUATE:
        return answer_of(reference, Job(imported.request.path, stored)).outputs
    func, weights, state = only_function(imported.module), Weights.of(imported.module), State()
    last = body_of(func).last_op
    assert last is not None
    rows: list[list[Array]] = []
    for sample in zip(*stored, strict=True):
        values = evaluate(func, weights, sample, state)
        rows.append([values[v] for v in last.operands])
    return stacked(rows)


def _agrees(
    reference: str,
    imported: Imported,
    stored: Sequence[Array],
    ours: Sequence[Array],
    not_run: dict[str, str],
) -> bool:
    """Return whether another reference answers as we do; one that does not run does not, and
    `not_run` has why."""
    try:
        theirs = _answer(reference, imported, stored)
    except MemoptError as error:
        not_run[reference] = error.text
        return False
    return not any(is_different(a, b).any() for a, b in zip(ours, theirs, strict=True))


def _first_alone(built: Built, layers: Sequence[Layer]) -> str:
    """Return what the reference calls the first tensor that differs; "" if others agree there."""
    first = next((one for one in layers if one.different), None)
    return first_key(built, first) if first and not first.agree else ""


def _known_errors(
    reference: str, path: Path, until: str, compared: Sequence[Difference | Layer]
) -> tuple[str, ...]:
    """Return what is known to be wrong in a reference's own answer to a model, if anything is and
    something differs, up to the operator that writes a tensor, as the reference calls it; "" stands
    for the last."""
    if reference == EVALUATE or not any(one.different for one in compared):
        return ()
    told: Any = getattr(import_module(REFERENCES[reference]), "known_errors", None)
    return () if told is None else tuple(told(path, until))


def _chosen(ours: Sequence[Array], theirs: Sequence[Array]) -> int:
    """Return the number of the first sample that differs, or of the first one."""
    for k in range(len(ours[0])):
        if any(is_different(a, b)[k].any() for a, b in zip(ours, theirs, strict=True)):
            return k
    return 0


def _labelled(
    samples: Samples, outputs: Sequence[Stored], ours: Sequence[Array], theirs: Sequence[Array]
) -> Labelled:
    labels = samples.labels
    if labels is None:
        return Labelled()
    a, b = outputs[0].reals(ours[0]), outputs[0].reals(theirs[0])
    if is_classes(labels):
        return Labelled(accuracy(a, labels), accuracy(b, labels), confusion(a, labels))
    if labels[0].size != a[0].size:
        raise MemoptError(f"labels of {labels[0].size} numbers for an output of {a[0].size}")
    own, reference = errors(a, labels), errors(b, labels)
    return Labelled(
        rmse=own[0], mae=own[1], reference_rmse=reference[0], reference_mae=reference[1]
    )

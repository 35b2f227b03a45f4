"""`memopt.compile(model, target=..., out=...)`: the files that `memopt compile` leaves."""

import os
from dataclasses import dataclass
from pathlib import Path

from memopt.api.keywords import in_keywords, with_keywords
from memopt.api.plans import PlanKeywords, check_words, imported_of
from memopt.api.reports import Report
from memopt.api.sources import Source, chosen, prepared, told, weights_at_hand
from memopt.backends.c.emit.sections import storage_of
from memopt.backends.c.project.layouts import layout_names
from memopt.backends.c.weights.storage import ArrayStorage
from memopt.compile.driver import FILES
from memopt.compile.files.folder import check_folder
from memopt.compile.files.staging import remove_leftovers
from memopt.compile.request import FULL, MEASURES, Building, Request
from memopt.compile.run_passes import Seconds
from memopt.compile.stages import check, compiled, write
from memopt.text.format import hertz
from memopt.text.usage import UsageError


@dataclass(frozen=True, kw_only=True)
class CompileKeywords(PlanKeywords):
    """The keywords of `memopt.compile`."""

    out: str | os.PathLike[str]
    flash: int | None = None
    clock: int | str | None = None
    layout: str | None = None
    shared_kernels: bool = False
    specialise: bool | None = None
    section: str | None = None
    check_weights: bool = False
    weights: str = "source"
    startup: bool = True
    serial: bool = False
    measure: str = FULL
    force: bool = False


@with_keywords(CompileKeywords)
def compile(source: Source, options: CompileKeywords) -> Report:  # noqa: A001
    """Plan a network and write it into the folder `out`, as `memopt compile` does by the same
    words; return what its report.json has, a dict with `layers`, a table.

    `source` is whatever `memopt.load` takes; what is no file is called as `load` calls it.
    `flash` are the bytes that the board has for the image, which is refused if it needs more,
    `clock` is the board's, in Hz or as text, "84M", for the time of an inference, `layout` is the
    build for which the C is written, `specialise=False` makes kernels smaller and slower, and with
    `shared_kernels` they keep names that several models share. `section` says where arrays lie, as
    "weights:.qspi,arena:.dtcm", and `check_weights` adds a function that checks them; with
    `weights="file"` they are a file that the program gives the model when it runs; with
    `startup=False` there is no program around the model, and with `serial` a program of yours
    answers `memopt validate --port`. `measure="quick"` builds the image and does not run it, "off"
    does neither. `force` overwrites what was edited in `out`. The other keywords are those of
    `memopt.plan`:

    OPTIONS

    Raises MemoptError for a network that cannot be compiled, that does not fit or a folder that is
    not memopt's, OSError, ValueError for an argument that there is not, and TypeError for a name of
    an option that there is not.

        >>> report = memopt.compile("net.tflite", target="cortex-m4", rows="none", out="firmware")
        >>> report["plan"]["arena"]
        70880
    """
    check_words(options)
    began = Seconds()
    if options.layout is not None:
        chosen("layout", options.layout, layout_names())
    model = prepared(source, options.pipeline, options.shapes, options.input_ranges)
    how = Building(
        layout=options.layout,
        shared_kernels=options.shared_kernels,
        specialised=options.specialise,
        storage=_storage(options),
        has_startup=options.startup,
        has_serial=options.serial,
        measure=chosen("measure", options.measure, MEASURES),
    )
    with in_keywords():
        clock = None if options.clock is None else hertz(str(options.clock))
    request = Request(
        path=Path(model.name),
        options=options,
        building=how,
        flash=options.flash,
        clock=clock,
        is_built=True,
        folder=Path(options.out),
    )
    with told(model.name), in_keywords():
        check(request)
        remove_leftovers(request.folder)
        check_folder(request.folder, options.force)
        imported = imported_of(model, model.module.clone(), request, began)
        with weights_at_hand(model.data, imported.module):
            report = compiled(imported)
        if FILES in imported.module.attributes:  # not where the weights were meanwhile
            after = report.measured.planned.after
            after.attributes[FILES] = imported.module.attributes[FILES]
        write(report, options.force)
    return Report(report)


def _storage(options: CompileKeywords) -> ArrayStorage:
    """Return how arrays are written. Raises UsageError."""
    try:
        chosen("weights", options.weights, ("source", "file"))
        return storage_of(options.section, options.check_weights, options.weights == "file")
    except ValueError as error:
        raise UsageError(f"section={options.section!r}: {error}") from None

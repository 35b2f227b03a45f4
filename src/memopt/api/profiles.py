"""`memopt.profile(model, target=...)`: what each operator takes."""

from dataclasses import dataclass
from pathlib import Path

from memopt.api.keywords import in_keywords, with_keywords
from memopt.api.plans import PlanKeywords, check_words, imported_of
from memopt.api.sources import Source, prepared, told, weights_at_hand
from memopt.backends.report.records import Record, records_html
from memopt.backends.report.wording import xml
from memopt.compile.profile import check_profiled, entries_of, profile_of, total_of
from memopt.compile.request import Request
from memopt.compile.run_passes import Seconds
from memopt.compile.stages import check, final_build
from memopt.text.format import hertz


@dataclass(frozen=True)
class Profile:
    """Table of what an inference on zeros takes: `layers` has a record per operator, a list of
    dicts that pandas.DataFrame takes, as `memopt profile --json` has them, `total` their sum.
    Milliseconds are at `clock`, in Hz; None is not known."""

    model: str
    target: str
    clock: int | None
    layers: list[Record]
    total: Record

    def _repr_html_(self) -> str:
        head = f"<b>{xml(self.model)}</b> for {xml(self.target)}, one inference on zeros"
        return f"{head}\n{records_html([*self.layers, self.total])}"


@dataclass(frozen=True, kw_only=True)
class ProfileKeywords(PlanKeywords):
    """The keywords of `memopt.profile`."""

    clock: int | str | None = None


@with_keywords(ProfileKeywords)
def profile(source: Source, options: ProfileKeywords) -> Profile:
    """Plan a network, run the C once in QEMU, and return what each operator takes: instructions,
    cycles estimated by the core's manual, of rows all together, as `memopt profile` does.

    `source` is whatever `memopt.load` takes, `target` a board that QEMU has. `clock` is the
    board's, in Hz or as text, "84M", for milliseconds. The other keywords are those of
    `memopt.plan`:

    OPTIONS

    Raises MemoptError for a network that cannot be compiled, OSError, ValueError for an argument
    that there is not, and TypeError for a name of an option that there is not.

        >>> profile = memopt.profile("net.tflite", target="cortex-m4", rows="none", clock="84M")
        >>> profile.layers[0]["kind"], profile.layers[0]["macs"], profile.total["calls"]
        ('conv_2d', 497664, 62)
    """
    check_words(options)
    began = Seconds()
    model = prepared(source, options.pipeline, options.shapes, options.input_ranges)
    request = Request(path=Path(model.name), options=options, is_built=True)
    with told(model.name), in_keywords():
        clock = None if options.clock is None else hertz(str(options.clock))
        check(request)
        check_profiled(options.target)
        imported = imported_of(model, model.module.clone(), request, began)
        with weights_at_hand(model.data, imported.module):
            lines = profile_of(final_build(imported))
    entries = entries_of(lines, clock)
    return Profile(request.path.name, options.target, clock, entries, total_of(entries))

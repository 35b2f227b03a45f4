"""Answer of `memopt.compile`: the content of report.json, with a table and a page for notebooks."""

from functools import cached_property
from typing import Any

from memopt.backends.report import timeline_of, timeline_svg
from memopt.backends.report.records import Record, layer_records, records_html
from memopt.backends.report.timeline import Timeline
from memopt.backends.report.wording import xml
from memopt.cli.summary import summary
from memopt.compile.report import Report as Compiled


class Report(dict[str, Any]):
    """Content of report.json as a dict, in bytes.

    `layers` has a record per operator, a list of dicts that pandas.DataFrame takes: its name and
    kind, calls of its kernel, bytes in RAM at its fullest, multiplications and bytes of constants.
    Notebooks show the summary of `memopt compile`, the plan and that table.
    """

    def __init__(self, compiled: Compiled) -> None:
        super().__init__(compiled.content)
        self._planned = compiled.measured.planned

    @cached_property
    def _timeline(self) -> Timeline:
        known = self._planned.known
        return timeline_of(known.func, known)

    @property
    def layers(self) -> list[Record]:
        """Return a record per operator, in the order in which they first run."""
        return layer_records(self._timeline)

    def _repr_html_(self) -> str:
        picture, table = timeline_svg(self._timeline), records_html(self.layers)
        return f"<pre>{xml(summary(self))}</pre>\n{picture}\n{table}"

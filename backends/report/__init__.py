"""The picture of a plan, its table and its page, for files and for the command line.

    table_text(timeline_of(func))                      # text
    report_html("net.tflite", before, after)           # one page, no network

Drawn from the plan in the IR, nothing is re-planned; a stale plan or one without offsets is
refused.
"""

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from memopt.backends.checked import Checked
from memopt.backends.exports import module_csv, module_json
from memopt.backends.report.network import network_of, network_svg
from memopt.backends.report.page import Panel, page_html, report_html
from memopt.backends.report.planned import timeline_of
from memopt.backends.report.svg import timeline_svg
from memopt.backends.report.table import table_text
from memopt.backends.report.timeline import Operator, Rect, Step, Tensor, Timeline
from memopt.dialects.memgraph.functions import only_function

__all__ = [
    "Operator",
    "Panel",
    "Rect",
    "Step",
    "Tensor",
    "Timeline",
    "module_csv",
    "module_html",
    "module_json",
    "module_svg",
    "network_of",
    "network_svg",
    "page_html",
    "report_html",
    "table_text",
    "timeline_of",
    "timeline_svg",
]


def module_svg(module: ModuleOp, claimed: bool = False, known: Checked | None = None) -> str:
    """`-t svg`: the plan of the module's only function; `claimed` if it was read, `known` as it was
    verified. Raises MemoptError."""
    return timeline_svg(replace(timeline_of(only_function(module), known), claimed=claimed))


def module_html(module: ModuleOp, claimed: bool = False, known: Checked | None = None) -> str:
    """`-t html`: one page about the plan of the module's only function; `claimed` if it was read,
    `known` as it was verified. Raises MemoptError."""
    timeline = replace(timeline_of(only_function(module), known), claimed=claimed)
    return page_html(timeline.name, (Panel("Plan", "order and offsets of the IR", timeline),))

"""The page of a model as a file: the plan before and after, the figures and the network."""

import shlex
from importlib.metadata import version
from typing import Any

from memopt.backends.report import network_of, network_svg, report_html, timeline_of
from memopt.backends.report.timeline import Timeline
from memopt.cli.summary import summary
from memopt.compile.driver import model_files
from memopt.compile.plan import Planned
from memopt.text.diagnostics import write_output


def write_page(
    file: str,
    words: list[str],
    planned: Planned,
    content: dict[str, Any],
    after: Timeline | None = None,
) -> None:
    """Write the page; `content` as report.json has it, `words` of the command, `after` where it is
    known already. Raises MemoptError."""
    request, before, known = planned.imported.request, planned.before, planned.known
    facts = [("command", shlex.join(("memopt", *words))), ("version", version("memopt"))]
    facts += [("target", request.options.target or "host")]
    for line in summary(content).splitlines():
        facts.append((line[:10].strip(), line[10:]))
    page = report_html(
        request.path.name,
        timeline_of(before.func),
        after or timeline_of(known.func, known),
        facts,
        network_svg(network_of(before.memory)),
    )
    write_output(file, page, (request.path, *model_files(planned.after)))

"""The page of a model as a file: the plan before and after, the figures and the network; and what
the pages of other commands have in common."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from memopt.backends.report import network_of, network_svg, report_html, timeline_of
from memopt.backends.report.timeline import Timeline
from memopt.cli.summary import summary
from memopt.compile.driver import model_files
from memopt.compile.plan import Planned
from memopt.text.diagnostics import check_output, write_output
from memopt.text.distributions import version_of
from memopt.text.usage import STDOUT, UsageError


def check_page(file: str | None, sources: Iterable[Path] = (), flag: str = "--html") -> None:
    """Raise UsageError for the file of a flag that cannot be written, and MemoptError for one of
    `sources`, which are read, before what takes long."""
    if not file:
        return
    if file == STDOUT or Path(file).is_dir():
        raise UsageError(f"{flag}={file}: expected a file")
    if not Path(file).parent.is_dir():
        raise UsageError(f"{flag}={file}: its folder does not exist")
    check_output(file, sources)


def facts_of(words: list[str], target: str) -> list[tuple[str, str]]:
    """Return the command, the version and the target, as a page has them."""
    facts = [("command", shlex.join(("memopt", *words))), ("version", version_of("memopt"))]
    return [*facts, ("target", target)]


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
    facts = facts_of(words, request.options.target or "host")
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

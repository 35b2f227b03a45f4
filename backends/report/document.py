"""Frame of all pages: head, style, and the list of what is known by name."""

from collections.abc import Sequence

from memopt.backends.report.style import colours
from memopt.backends.report.wording import xml

Facts = Sequence[tuple[str, str]]


def document(name: str, kind: str, style: str, body: str, behind: str = "") -> str:
    """Return a self-contained page of a model: what `kind` of page it is, CSS, the HTML below the
    model's name, and that `behind` all content."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{xml(name)}: {kind}</title>\n"
        f"<style>\n{colours(':root')}{style}</style></head>\n<body><main>\n"
        f"<h1>{xml(name)}</h1>\n{body}</main>{behind}</body></html>\n"
    )


def list_of(facts: Facts) -> str:
    """Return the list of what is known, name by name."""
    lines = "".join(f"<dt>{xml(name)}</dt><dd>{xml(text)}</dd>\n" for name, text in facts)
    return f'<dl class="facts">\n{lines}</dl>\n' if lines else ""

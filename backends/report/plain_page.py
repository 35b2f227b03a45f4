"""Pages of figures and tables without pictures: what `memopt profile` and `memopt validate` write.

plain_page(Heading("net.tflite", "profile", "One inference."), figures, facts, body, footer)
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memopt.backends.report.page import PAGE
from memopt.backends.report.style import colours
from memopt.backends.report.wording import xml

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Heading:
    """Name of a model, what the page is of it, and a sentence below."""

    name: str
    kind: str
    lead: str


def plain_page(
    heading: Heading, figures: Pairs, facts: Pairs, body: str, footer: str, style: str = ""
) -> str:
    """Return a self-contained page: `figures` as (value, label), `facts` as (name, text), `body` as
    HTML, and CSS of its own."""
    known = "".join(f"<dt>{xml(key)}</dt><dd>{xml(text)}</dd>\n" for key, text in facts)
    cards = "".join(
        f'<div class="figure"><b>{xml(value)}</b><span>{xml(label)}</span></div>\n'
        for value, label in figures
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{xml(heading.name)}: {heading.kind}</title>\n"
        f"<style>\n{colours(':root')}{PAGE}{style}</style></head>\n<body><main>\n"
        f'<h1>{xml(heading.name)}</h1>\n<p class="lead">{xml(heading.lead)}</p>\n'
        f'<div class="figures">\n{cards}</div>\n<dl class="facts">\n{known}</dl>\n{body}'
        f"<footer>{footer}</footer>\n</main></body></html>\n"
    )

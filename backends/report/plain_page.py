"""Pages of figures and tables without pictures: what `memopt profile` and `memopt validate` write.

plain_page(Heading("net.tflite", "profile", "One inference."), figures, facts, body, footer)
"""

from dataclasses import dataclass

from memopt.backends.report.document import Facts, document, list_of
from memopt.backends.report.page import PAGE
from memopt.backends.report.wording import xml


@dataclass(frozen=True)
class Heading:
    """Name of a model, what the page is of it, and a sentence below."""

    name: str
    kind: str
    lead: str


def plain_page(
    heading: Heading, figures: Facts, facts: Facts, body: str, footer: str, style: str = ""
) -> str:
    """Return a self-contained page: `figures` as (value, label), `facts` as (name, text), `body` as
    HTML, and CSS of its own."""
    cards = "".join(
        f'<div class="figure"><b>{xml(value)}</b><span>{xml(label)}</span></div>\n'
        for value, label in figures
    )
    content = (
        f'<p class="lead">{xml(heading.lead)}</p>\n<div class="figures">\n{cards}</div>\n'
        f"{list_of(facts)}{body}<footer>{footer}</footer>\n"
    )
    return document(heading.name, heading.kind, f"{PAGE}{style}", content)

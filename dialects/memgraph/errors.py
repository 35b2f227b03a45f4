"""The one error that users see: what is wrong, and where."""

from collections.abc import Iterable


def printable(text: str) -> str:
    """Return a text without what would move a terminal's cursor or break a line."""
    return "".join(c if c.isprintable() else "?" for c in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)` of the name X among `known` that is most like an unknown one; ""
    if none is alike."""
    from difflib import get_close_matches  # for who has made a mistake

    matches = get_close_matches(name[:200], list(known), n=1, cutoff=0.7)
    return f" (did you mean {matches[0]}?)" if matches else ""


class MemoptError(Exception):
    """Bad input or something that is not supported. `str()` is one line: `place: error: text`.

    `place` is `file:line:col`, `file: operator 3 (CONV_2D)` or whatever a person can find.
    """

    def __init__(self, text: str, place: str = "") -> None:
        self.text = " ".join(text.split())
        self.place = place
        super().__init__(f"{place}: error: {self.text}" if place else f"error: {self.text}")

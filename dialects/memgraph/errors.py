"""The one error that users see: what is wrong, and where."""

from collections.abc import Iterable


def printable(text: str) -> str:
    """Return a text without what would move a terminal's cursor or break a line."""
    return "".join(c if c.isprintable() else "?" for c in text)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return ` (did you mean X?)` of the name X among `known` that is most like an unknown one; ""
    if none is alike. What a dialect has is compared without the dialect's name, if that is right.
    """
    from difflib import SequenceMatcher  # for who has made a mistake

    candidates = list(known)
    dialect = name[: name.find(".") + 1]
    if dialect:
        candidates = [c for c in candidates if c.startswith(dialect)] or candidates
    rest = name[:200].removeprefix(dialect)
    ratios = {
        candidate: SequenceMatcher(None, own, rest).ratio()
        for candidate in candidates
        if (own := candidate.removeprefix(dialect))
    }
    best = max(ratios, key=lambda c: (ratios[c], c.startswith(dialect + rest[:1])), default="")
    enough = 0.65 if len(rest) < 5 else 0.7  # two letters of three that change places: 2/3
    return f" (did you mean {best}?)" if ratios.get(best, 0) >= enough else ""


class MemoptError(Exception):
    """Bad input or something that is not supported. `str()` is one line: `place: error: text`.

    `place` is `file:line:col`, `file: operator 3 (CONV_2D)` or whatever a person can find.
    """

    def __init__(self, text: str, place: str = "") -> None:
        self.text = " ".join(text.split())
        self.place = place
        super().__init__(f"{place}: error: {self.text}" if place else f"error: {self.text}")

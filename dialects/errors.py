"""The one error that users see: what is wrong, and where."""


def printable(text: str) -> str:
    """Return a text without what would move a terminal's cursor or break a line."""
    return "".join(c if c.isprintable() else "?" for c in text)


class MemoptError(Exception):
    """Bad input or something that is not supported. `str()` is one line: `place: error: text`.

    `place` is `file:line:col`, `file: operator 3 (CONV_2D)` or whatever a person can find.
    """

    def __init__(self, text: str, place: str = "") -> None:
        self.text = " ".join(text.split())
        self.place = place
        super().__init__(f"{place}: error: {self.text}" if place else f"error: {self.text}")

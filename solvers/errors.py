"""The one error of this room."""


class ProblemError(ValueError):
    """A problem is malformed, or an answer does not fit its problem. The text says where."""

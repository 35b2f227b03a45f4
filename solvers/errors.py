"""The errors of this room."""


class ProblemError(ValueError):
    """A problem is malformed, or an answer does not fit its problem. The text says where."""


class NoCertificateError(ProblemError):
    """The bound may be right, but there is no certificate of it, or only one that is too large."""

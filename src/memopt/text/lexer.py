"""xDSL's lexer, with UTF-8 in strings and most tokens found by one regular expression."""

import re
from typing import Final

from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

PLAIN_STRING = r'"[^"\\\n\v\f]*"'  # without an escape
NAME = r"[A-Za-z_][A-Za-z0-9_$.]*"

# Group i is of kind _KINDS[i]. What begins otherwise, or may go on, is left to xDSL: comments,
# floats, hexadecimals, escapes, `...`, `{-#`, letters of other scripts.
_TOKEN: Final = re.compile(
    rf"\s*(?:({NAME})|([:,()}}\[\]<>=+*?|]|->|-|{{(?!-\#))|(%(?:[0-9]+|[A-Za-z$._-][\w$.-]*))"
    rf"|([0-9]+)(?![0-9.xX])|({PLAIN_STRING})|(\#(?:[0-9]+|[A-Za-z$._][\w$.-]*))"
    rf"|(!(?:[0-9]+|[A-Za-z$._-][\w$.-]*))|(@{NAME}))",
    re.ASCII,
)
_KINDS: Final = (
    MLIRTokenKind.EOF,  # of no group
    MLIRTokenKind.BARE_IDENT,
    MLIRTokenKind.EOF,  # punctuation is of the kind that it says
    MLIRTokenKind.PERCENT_IDENT,
    MLIRTokenKind.INTEGER_LIT,
    MLIRTokenKind.STRING_LIT,
    MLIRTokenKind.HASH_IDENT,
    MLIRTokenKind.EXCLAMATION_IDENT,
    MLIRTokenKind.AT_IDENT,
)
_PUNCTUATION: Final = 2
_BY_SPELLING: Final[dict[str, MLIRTokenKind]] = {**KIND_BY_PUNCTUATION_SPELLING}


class Utf8Lexer(MLIRLexer):
    """Escaped UTF-8 in a string is text, as xDSL's documentation has it; its lexer says bytes.

    Names of tensors, operators and files may be written in any script.
    """

    # xDSL's without the possessive `++` and `*+` takes exponential time on a string that never ends
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def lex(self) -> MLIRToken:
        """The next token. xDSL's lexer looks at one character after the other, which took a third
        of the time of reading a module."""
        match = _TOKEN.match(self.input.content, self.pos)
        if match is None:
            return super().lex()
        group = match.lastindex or 0
        start, self.pos = match.span(group)
        if group == _PUNCTUATION:
            return Token(_BY_SPELLING[match[group]], Span(start, self.pos, self.input))
        return Token(_KINDS[group], Span(start, self.pos, self.input))

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is not MLIRTokenKind.BYTES_LIT:
            return token
        try:
            StringLiteral.from_span(token.span).bytes_contents.decode()
        except UnicodeDecodeError:
            return token
        return Token(MLIRTokenKind.STRING_LIT, token.span)

"""Languages of bytes: expressions, regular expressions, and minimal deterministic automata through OpenFst.

Expr                    an immutable expression of a language       expr, built by the functions below
parse(pattern)          a regular expression as an expression       pattern
compile_expr(expr)      its minimal automaton over bytes            compile -> ByteAutomaton
...                     questions about automata                    queries, drawing
"""

from automata.byte_automaton import ByteAutomaton
from automata.compile import compile_expr
from automata.errors import (
    AutomatonFileError,
    Cancelled,
    EmptyLanguage,
    IncompleteOutput,
    LimitExceeded,
    PatternError,
    TokenfstError,
    TokenNotAllowed,
    UnknownTerminal,
    UnsupportedTokenizer,
    VocabularyError,
)
from automata.expr import (
    ANY_BYTES,
    ANY_CHAR,
    ANY_TEXT,
    EMPTY,
    EPSILON,
    Expr,
    Label,
    alternation,
    byte_set,
    char_set,
    complement,
    concat,
    difference,
    intersection,
    literal,
    repeat,
)
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits
from automata.pattern import parse

__all__ = [
    "ANY_BYTES",
    "ANY_CHAR",
    "ANY_TEXT",
    "DEFAULT_LIMITS",
    "EMPTY",
    "EPSILON",
    "AutomatonFileError",
    "ByteAutomaton",
    "Cancellation",
    "Cancelled",
    "EmptyLanguage",
    "Expr",
    "IncompleteOutput",
    "Label",
    "LimitExceeded",
    "Limits",
    "PatternError",
    "TokenNotAllowed",
    "TokenfstError",
    "UnknownTerminal",
    "UnsupportedTokenizer",
    "VocabularyError",
    "alternation",
    "byte_set",
    "char_set",
    "compile_expr",
    "complement",
    "concat",
    "difference",
    "intersection",
    "literal",
    "parse",
    "repeat",
]

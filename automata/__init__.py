"""Languages of bytes: expressions, regular expressions, and minimal deterministic automata through OpenFst.

Expr                    an immutable expression of a language       expr, built by the functions below
parse(pattern)          a regular expression as an expression       pattern
compile_expr(expr)      its minimal automaton over bytes            compile -> ByteAutomaton
Compilable              what makes an automaton of its own          compilable
a & b, ~a, ...          on expressions and on automata              algebra
derivative              what is left after some text                derivative
equivalent, count, ...  questions about languages                   queries
to_expr                 an automaton as an expression               elimination
"""

from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile import compile_expr
from automata.derivative import derivative
from automata.elimination import to_expr
from automata.errors import (
    AutomatonFileError,
    Cancelled,
    EmptyLanguage,
    ExpressionError,
    GrammarError,
    IncompleteOutput,
    InfiniteLanguage,
    LabelledLanguage,
    LimitExceeded,
    NondeterministicGrammar,
    PatternError,
    SchemaError,
    TextNotAllowed,
    TokenfstError,
    TokenNotAllowed,
    TooManyConfigurations,
    UnknownTerminal,
    UnsatisfiableSchema,
    UnsupportedSchema,
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
    call,
    char_set,
    complement,
    concat,
    difference,
    intersection,
    literal,
    lookahead,
    lookbehind,
    repeat,
    strings,
    whole,
)
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar, LexicalRule
from automata.queries import (
    count,
    counterexample,
    enumerate,  # noqa: A004
    equivalent,
    includes,
    is_empty,
    is_finite,
    random_strings,
    sample,
    shortest,
)

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
    "Compilable",
    "EmptyLanguage",
    "Expr",
    "ExpressionError",
    "Grammar",
    "GrammarError",
    "IncompleteOutput",
    "InfiniteLanguage",
    "Label",
    "LabelledLanguage",
    "LexicalRule",
    "LimitExceeded",
    "Limits",
    "NondeterministicGrammar",
    "PatternError",
    "PushdownAutomaton",
    "SchemaError",
    "TextNotAllowed",
    "TokenNotAllowed",
    "TokenfstError",
    "TooManyConfigurations",
    "UnknownTerminal",
    "UnsatisfiableSchema",
    "UnsupportedSchema",
    "UnsupportedTokenizer",
    "VocabularyError",
    "alternation",
    "byte_set",
    "call",
    "char_set",
    "compile_expr",
    "compile_grammar",
    "complement",
    "concat",
    "count",
    "counterexample",
    "derivative",
    "difference",
    "enumerate",
    "equivalent",
    "includes",
    "intersection",
    "is_empty",
    "is_finite",
    "literal",
    "lookahead",
    "lookbehind",
    "parse",
    "random_strings",
    "repeat",
    "sample",
    "shortest",
    "strings",
    "to_expr",
    "whole",
]

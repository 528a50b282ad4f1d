"""Languages of bytes: expressions, regular expressions, grammars, and the automata that recognize them.

Data flows from texts to automata:

    pattern/            a regular expression -> Expr
    expressions/        Expr, the functions that make expressions, ready-made languages
    assertions/         resolves look-around and anchors in an expression
    compile/            Expr -> ByteAutomaton (byte_automaton.py)
    preference/         the texts that a backtracking engine, such as `re`, matches as a whole -> Expr
    transducers/        an OpenFst FST -> Expr, and transducers as operators on Expr
    counted/            Expr -> an automaton with a counter, for large bounds
    weighted/           Expr with costs -> WeightedByteAutomaton
    pushdown/           Grammar -> PushdownAutomaton
    visibly_pushdown/   VisiblyPushdownGrammar, for bracketed languages -> either automaton
    algebra/, queries/  operations on languages, and questions about them
    places/             where a text stands in an expression or a grammar

    far                 archives of FSTs, in OpenFst's format
    acceptor_tables, transducer_tables      automata and transducers as arrays, which are parts of expressions
    label_bytes         labels as bytes, for algorithms that read only bytes

All of these use the modules errors, texts, limits (time, memory and cancellation), arrays, cache, graph,
epsilon_cycles, copying (objects that are shared or cannot be copied), drawing (view: the part that is drawn), charts,
and openfst, the boundary with OpenFst (fst_type: whether an object is an FST of its bindings). compilable.py defines
what a constraint from another package must provide.

`docs/glossary.md` defines the terms.
"""

from automata.algebra.derivative import derivative
from automata.algebra.elimination import to_expr
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile.compiler import compile_expr
from automata.errors import (
    AutomatonFileError,
    Cancelled,
    EmptyLanguage,
    ExpressionError,
    FstError,
    GrammarError,
    IncompleteOutput,
    InfiniteLanguage,
    IrregularPattern,
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
    WeightedLanguage,
)
from automata.expressions import (
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
from automata.far import write_far
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.from_pdt import from_pdt
from automata.pushdown.grammar import Grammar, LexicalRule
from automata.pushdown.to_pdt import to_pdt
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
from automata.transducers import from_fst, image, preimage, transducer_of

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
    "FstError",
    "Grammar",
    "GrammarError",
    "IncompleteOutput",
    "InfiniteLanguage",
    "IrregularPattern",
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
    "WeightedLanguage",
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
    "from_fst",
    "from_pdt",
    "image",
    "includes",
    "intersection",
    "is_empty",
    "is_finite",
    "literal",
    "lookahead",
    "lookbehind",
    "parse",
    "preimage",
    "random_strings",
    "repeat",
    "sample",
    "shortest",
    "strings",
    "to_expr",
    "to_pdt",
    "transducer_of",
    "whole",
    "write_far",
]

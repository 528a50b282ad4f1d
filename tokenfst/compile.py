"""From a constraint and a vocabulary to a token automaton: the pipeline in one place.

    pattern -> Expr -> ByteAutomaton -> TokenClasses -> with terminals -> trimmed -> TokenAutomaton

Where the tokens are a text by themselves, the byte automaton and the classes are put right for a decoder that treats
the start of a text its own way (`tokenfst.beginning`).

The byte automaton is trim: each of its states can be reached and leads on to an end. Over tokens that need not be so.
Where every byte that the automaton reads is a token by itself, as in every byte-level vocabulary, it is; otherwise
states that no sequence of tokens reaches, or from which none reaches an end, go, and with them the transitions into
them and the differences between classes that only they made.

Where repetitions have large bounds, both automata have a register that counts (`automata.counted`,
`tokenfst.counted.automaton`); to whoever uses it, the result is a token automaton like any other.

Grammars have a stack, and tables of their own: Grammar -> PushdownAutomaton -> `tokenfst.pushdown`. A constraint that
makes its own automaton (`automata.compilable`) goes on as the automaton that it made.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, overload

import numpy as np

from automata.arrays import BoolArray, IntArray
from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile import compile_expr
from automata.counted import compile_counted
from automata.distance import distances
from automata.errors import EmptyLanguage
from automata.expr import Expr
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work, under_way
from automata.nested.network import NestedNetwork
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from tokenfst import _native
from tokenfst._native import TokenClasses
from tokenfst.automaton import TokenAutomaton
from tokenfst.beginning import split_terminals, with_beginning, with_exceptions
from tokenfst.canonical import CanonicalAutomaton, canonical_from_bytes
from tokenfst.counted.automaton import from_counted
from tokenfst.lazy import Layered, LazyAutomaton
from tokenfst.pushdown.automaton import PushdownTokenAutomaton
from tokenfst.pushdown.compile import from_pushdown
from tokenfst.terminals import Terminals, with_terminals
from tokenfst.token_classes import END, FIRST_CLASS, NEVER, token_classes
from tokenfst.vocabulary import Vocabulary

Constraint: TypeAlias = str | Expr | ByteAutomaton
# Constraints with a stack.
Nested: TypeAlias = Grammar | PushdownAutomaton


@overload
def compile(  # noqa: A001
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    tokenization: Literal["any"] = "any",
    lazy: Literal[False] = False,
) -> TokenAutomaton: ...


@overload
def compile(  # noqa: A001
    constraint: Constraint | Compilable,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    tokenization: Literal["canonical"],
    lazy: Literal[False] = False,
) -> CanonicalAutomaton: ...


@overload
def compile(  # noqa: A001
    constraint: Nested,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    tokenization: Literal["any"] = "any",
    lazy: Literal[False] = False,
) -> PushdownTokenAutomaton: ...


@overload
def compile(  # noqa: A001
    constraint: Compilable,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    tokenization: Literal["any"] = "any",
    lazy: Literal[False] = False,
) -> TokenAutomaton | PushdownTokenAutomaton: ...


@overload
def compile(  # noqa: A001
    constraint: Constraint | Nested | Compilable,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    lazy: Literal[True],
) -> LazyAutomaton: ...


def compile(  # noqa: A001
    constraint: Constraint | Nested | Compilable,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
    tokenization: Literal["any", "canonical"] = "any",
    lazy: bool = False,
) -> TokenAutomaton | CanonicalAutomaton | PushdownTokenAutomaton | LazyAutomaton:
    """The automaton over the tokens of a vocabulary that accepts exactly the tokenizations of a language.

    Args:
        constraint: a regular expression that a whole text must match (`automata.pattern`), an expression, or a
            byte automaton; or a grammar, or a pushdown automaton over bytes; or an object that makes one of the two.
        vocabulary: the tokens.
        at_text_start: how the tokens are to be decoded. False: as the continuation of earlier text, such as a prompt,
            where every token writes its bytes. True: by themselves, as by the tokenizer's `decode` without special
            tokens, which drops a first space (SentencePiece) or does not write one (WordPiece). For a vocabulary
            without `text_start` both are the same.
        terminals: the token ids that names in the constraint stand for (`automata.extensions.token`), beside the
            special tokens and the sets that every vocabulary has.
        limits: how much the compilation may take.
        cancellation: lets another thread stop it.
        tokenization: "any" for all tokenizations of every text; "canonical" for the one that the vocabulary's encoder
            makes of it (`tokenfst.canonical`). Then texts are those that an encoder can be given: UTF-8, and where it
            tells letters from numbers, characters that are assigned in Python's version of Unicode. Not for grammars.
        lazy: whether masks are made when they are first asked for (`tokenfst.lazy`), and nothing is done before: for
            constraints that are used once or twice. For what is deterministic and has no labels.

    Raises:
        PatternError: a pattern that cannot be honoured, with the place and the reason.
        EmptyLanguage: the constraint allows no text, or none that the vocabulary can write.
        UnknownTerminal: the constraint names tokens that neither the vocabulary nor `terminals` knows.
        LimitExceeded: a limit was passed; the message names it, the amount and the part of the constraint.
        Cancelled: another thread cancelled the compilation.
        UnsupportedTokenizer: how the encoder cuts texts is not known, or not modelled.
        GrammarError: a grammar that cannot be honoured, with the place and the rule.
        NondeterministicGrammar: an ambiguous grammar, or tokens that match a label and bytes as well, with
            the grammar's `ambiguity="error"`.
        ValueError: another tokenization, or "canonical" with a grammar; `lazy` with any of
            these, or with terminals.
        LabelledLanguage: `lazy` for a constraint with labels.
        VocabularyError: `lazy` for a constraint that reads a byte which is no token by itself.
    """
    if tokenization not in ("any", "canonical"):
        raise ValueError(f"tokenization is 'any' or 'canonical', not {tokenization!r}")
    if lazy and (tokenization == "canonical" or terminals):
        raise ValueError("lazy automata are for all tokenizations, and for what is deterministic and has no terminals")
    with Work(limits, cancellation).current() as work:
        if lazy:
            return _lazily(constraint, vocabulary, at_text_start, work)
        known = _automaton_of(constraint, work)
        if not isinstance(known, Grammar | PushdownAutomaton):
            return _without_stack(known, vocabulary, at_text_start, terminals, tokenization, work)
        if tokenization == "canonical":
            raise ValueError("canonical tokenization is not known for grammars; tokenization='any' allows all")
        stacked = to_pushdown(known, work)
        return from_pushdown(stacked, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)


def _automaton_of(constraint: Constraint | Nested | Compilable, work: Work) -> Constraint | Nested:
    """The automaton of a constraint that makes its own; any other as it is."""
    # Asking for a protocol takes as long as a short pattern, so the usual kinds come first.
    if isinstance(constraint, str | Expr) or not isinstance(constraint, Compilable):
        return constraint
    return constraint.to_automaton(work)


def _lazily(
    constraint: Constraint | Nested | Compilable, vocabulary: Vocabulary, at_text_start: bool, work: Work
) -> LazyAutomaton:
    made: NestedNetwork | PushdownAutomaton | ByteAutomaton
    if isinstance(constraint, Layered):
        made = constraint.to_network()
    else:
        known = _automaton_of(constraint, work)
        made = to_pushdown(known, work) if isinstance(known, Grammar | PushdownAutomaton) else to_bytes(known, work)
    return LazyAutomaton(made, vocabulary, at_text_start=at_text_start, work=work)


def _without_stack(
    constraint: Constraint,
    vocabulary: Vocabulary,
    at_text_start: bool,
    terminals: Terminals | None,
    tokenization: Literal["any", "canonical"],
    work: Work,
) -> TokenAutomaton | CanonicalAutomaton:
    expr = parse(constraint) if isinstance(constraint, str) else constraint
    if tokenization == "canonical":
        return canonical_from_bytes(to_bytes(expr, work), vocabulary, terminals=terminals, work=work)
    counted = compile_counted(expr, work) if isinstance(expr, Expr) else None
    if counted is not None:
        return from_counted(counted, vocabulary, at_text_start=at_text_start, work=work)
    automaton = to_bytes(expr, work)
    return from_bytes(automaton, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)


def to_pushdown(constraint: Nested, work: Work) -> PushdownAutomaton:
    """The pushdown automaton of a constraint with a stack."""
    if isinstance(constraint, PushdownAutomaton):
        return constraint
    return compile_grammar(constraint, work=work)


def to_bytes(constraint: Constraint, work: Work) -> ByteAutomaton:
    """The byte automaton of a constraint."""
    if isinstance(constraint, ByteAutomaton):
        return constraint
    return compile_expr(parse(constraint) if isinstance(constraint, str) else constraint, work)


def from_bytes(
    automaton: ByteAutomaton,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    work: Work | None = None,
) -> TokenAutomaton:
    """The token automaton of a byte automaton; see `compile`."""
    if automaton.is_empty:
        raise EmptyLanguage("the constraint allows no text at all")
    work = under_way(work)
    rule = vocabulary.text_start if at_text_start else None
    raw, token_bytes = automaton, vocabulary.is_token_byte
    if rule:
        raw, origins = with_beginning(automaton, rule)
        token_bytes = vocabulary.is_first_byte
    start, final = raw.start, raw.final
    classes = token_classes(raw, vocabulary, work)
    if rule:
        classes = with_exceptions(classes, automaton, origins, rule, vocabulary)
    if raw.labels:
        sets = terminals or {}
        if rule:
            sets = split_terminals(automaton.labels, vocabulary, sets, rule)
        start, final, classes = with_terminals(raw, vocabulary, classes, sets, work)
    if raw.labels or not _native.spells_all(raw.tables, token_bytes):
        start, final, classes = _trim(start, final, classes)
    return TokenAutomaton.from_classes(vocabulary, start, final, classes, work, at_text_start=at_text_start)


def _trim(start: int, final: BoolArray, classes: TokenClasses) -> tuple[int, BoolArray, TokenClasses]:
    """Keeps the states that tokens reach and from which tokens reach an end; classes without a difference merge.

    Raises:
        EmptyLanguage: no sequence of tokens spells a text of the language.
    """
    source, number, target = classes.source, classes.edge_class, classes.target
    begins = np.zeros(len(final), np.bool_)
    begins[start] = True
    kept = (distances(source, target, final) >= 0) & (distances(target, source, begins) >= 0)
    if not kept[start]:
        raise EmptyLanguage("the vocabulary cannot write any text that the constraint allows")
    state = (np.cumsum(kept) - 1).astype(np.int32)
    edges = kept[source] & kept[target]
    source, number, target = state[source[edges]], number[edges], state[target[edges]]
    merged, num_classes = _merge_classes(classes.num_classes, source, number, target)
    together = merged[number]
    # Of classes that have become one, the edges of the first stay.
    owner = np.full(num_classes, -1, np.int32)
    owner[together[::-1]] = number[::-1]
    first = owner[together] == number
    runs = classes.run_end, merged[classes.run_class]
    kept_classes = TokenClasses(*runs, num_classes, source[first], together[first], target[first])
    return int(state[start]), final[kept], kept_classes


def _merge_classes(num_classes: int, source: IntArray, number: IntArray, target: IntArray) -> tuple[IntArray, int]:
    """The new number of every class `[K]`, equal for equal transitions, NEVER for none; and how many there are."""
    merged = np.full(num_classes, NEVER, np.int32)
    merged[END] = END
    known: dict[bytes, int] = {}
    bounds = np.searchsorted(number, np.arange(num_classes + 1))
    pairs = np.stack([source, target], axis=1)
    for old in range(FIRST_CLASS, num_classes):
        if bounds[old] < bounds[old + 1]:
            key = pairs[bounds[old] : bounds[old + 1]].tobytes()
            merged[old] = known.setdefault(key, FIRST_CLASS + len(known))
    return merged, FIRST_CLASS + len(known)

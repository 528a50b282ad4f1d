"""From a constraint and a vocabulary to an automaton over tokens: the pipeline in one place.

    constraint -> automaton over bytes, or a visibly pushdown grammar -> LazyTokenAutomaton -> on demand, its tables

    pattern, Expr                 ByteAutomaton            automata.compile             tables: tokenfst.finite.compile
    pattern with large bounds     CountedByteAutomaton     automata.counted             tokenfst.counted.automaton
    Grammar                       PushdownAutomaton        automata.pushdown            tokenfst.pushdown.compile
    JSON Schema, Python types     VisiblyPushdownGrammar   automata.visibly_pushdown    the first or the third

The result steps lazily wherever that is exact, and so has its first mask early. Tables are made at once for the rest:
automata with a count, labels, or several derivations side by side, and vocabularies that lack single bytes.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile.compiler import compile_expr
from automata.counted import CountedByteAutomaton, compile_counted
from automata.expressions import Expr
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from tokenfst.canonical.compile import canonical_from_bytes
from tokenfst.counted.automaton import from_counted
from tokenfst.finite.compile import from_bytes
from tokenfst.finite.terminals import Terminals
from tokenfst.lazy import LazyTokenAutomaton, SupportsLazy, lazy_from_automaton, lazy_from_network
from tokenfst.misuse import check_constraint, check_vocabulary
from tokenfst.pushdown.compile import from_pushdown
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

Constraint: TypeAlias = str | Expr | ByteAutomaton | Grammar | PushdownAutomaton | Compilable

_Language: TypeAlias = ByteAutomaton | CountedByteAutomaton | PushdownAutomaton


def compile(  # noqa: A001
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    tokenization: Literal["any", "canonical"] = "any",
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
) -> TokenAutomaton:
    """Return the automaton over the tokens of a vocabulary that accepts exactly the tokenizations of a language.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"d", b"f", b"foo", b"food", b"o", b""], eos_ids=[5])
    >>> automaton = tokenfst.compile("(foo)+d", vocabulary)
    >>> automaton.accepts([2, 3]), automaton.min_tokens(automaton.start)
    (True, 2)

    Args:
        constraint: a regular expression that a whole text must match (`automata.pattern`), an expression or a byte
            automaton; a grammar or a pushdown automaton over bytes; or an object that makes one of these, such as
            `constraints.json_schema(...)` and `constraints.typed(...)`.
        vocabulary: the tokens.
        at_text_start: how the tokens are to be decoded. False: as the continuation of earlier text, such as a prompt,
            where every token writes its bytes. True: as a text of their own, as by the tokenizer's `decode` without
            special tokens, which drops a first space (SentencePiece) or does not write one (WordPiece). For a
            vocabulary without `text_start` both are the same.
        terminals: the token ids that names in the constraint stand for (`automata.expressions.extensions.token`),
            besides the special tokens and the sets that every vocabulary has.
        tokenization: "any" for all tokenizations of every text; "canonical" for the one that the vocabulary's encoder
            produces (`tokenfst.canonical`). Then texts are those that an encoder can be given: UTF-8, and where it
            tells letters from numbers, characters that are assigned in Python's version of Unicode. Not for grammars.
        limits: how much the compilation may take, and completing its tables later.
        cancellation: lets another thread stop the compilation.

    Raises:
        PatternError: a pattern that cannot be honoured, with the place and the reason.
        EmptyLanguage: the constraint allows no text, or none that the vocabulary can write.
        UnknownTerminal: the constraint names tokens that neither the vocabulary nor `terminals` knows.
        LimitExceeded: a limit was passed; the message names it, the amount and the part of the constraint.
        Cancelled: another thread cancelled the compilation.
        UnsupportedTokenizer: how the encoder cuts texts is not known, or not modelled.
        GrammarError: a grammar that cannot be honoured, with the place and the rule.
        NondeterministicGrammar: an ambiguous grammar, or tokens that match a label and bytes as well.
        TypeError: not a constraint, or not a vocabulary; the message says what was probably meant.
        ValueError: a text that is not a pattern; another tokenization, or "canonical" with a grammar.
    """
    if tokenization not in ("any", "canonical"):
        raise ValueError(f"tokenization is 'any' or 'canonical', not {tokenization!r}")
    check_vocabulary(vocabulary)
    check_constraint(constraint, Compilable)
    with Work(limits, cancellation).current() as work:
        if tokenization == "canonical":
            return _canonical(constraint, vocabulary, terminals, work)
        if isinstance(constraint, SupportsLazy):
            network, supported = constraint.to_network(), constraint
            tables = lambda work: _tables(_language(supported, work), vocabulary, at_text_start, terminals, work)  # noqa: E731
            lazy = lazy_from_network(network, vocabulary, tables, work, at_text_start=at_text_start)
            if lazy is not None:
                return lazy
        language = _language(constraint, work)
        return _lazily(language, vocabulary, at_text_start, work) or _tables(
            language, vocabulary, at_text_start, terminals, work
        )


def _lazily(language: _Language, vocabulary: Vocabulary, at_text_start: bool, work: Work) -> LazyTokenAutomaton | None:
    """Return an automaton that steps through one over bytes, None where that would not be exact."""
    if isinstance(language, CountedByteAutomaton):
        return None
    tables = lambda work: _tables(language, vocabulary, at_text_start, None, work)  # noqa: E731
    return lazy_from_automaton(language, vocabulary, tables, work, at_text_start=at_text_start)


def _tables(
    language: _Language, vocabulary: Vocabulary, at_text_start: bool, terminals: Terminals | None, work: Work
) -> TokenAutomaton:
    """Return the automaton over tokens with all its tables."""
    if isinstance(language, CountedByteAutomaton):
        return from_counted(language, vocabulary, at_text_start=at_text_start, work=work)
    if isinstance(language, PushdownAutomaton):
        return from_pushdown(language, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)
    return from_bytes(language, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)


def _language(constraint: Constraint, work: Work, *, may_count: bool = True) -> _Language:
    """Return the automaton over bytes of a constraint."""
    made = constraint
    # Asking for a protocol takes as long as a short pattern, so the usual kinds come first.
    if not isinstance(made, str | Expr) and isinstance(made, Compilable):
        made = made.to_automaton(work)
    if isinstance(made, Grammar):
        return compile_grammar(made, work=work)
    if isinstance(made, ByteAutomaton | PushdownAutomaton):
        return made
    expr = parse(made) if isinstance(made, str) else made
    counted = compile_counted(expr, work) if may_count else None
    return compile_expr(expr, work) if counted is None else counted


def _canonical(
    constraint: Constraint, vocabulary: Vocabulary, terminals: Terminals | None, work: Work
) -> TokenAutomaton:
    language = _language(constraint, work, may_count=False)
    if not isinstance(language, ByteAutomaton):
        raise ValueError("canonical tokenization is not known for grammars; tokenization='any' allows all")
    return canonical_from_bytes(language, vocabulary, terminals=terminals, work=work)

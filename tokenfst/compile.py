"""Compile a constraint and a vocabulary to an automaton over tokens.

    constraint -> automaton over bytes, or visibly pushdown grammar -> LazyTokenAutomaton -> complete tables, on demand

    constraint                    over bytes               made by                      tables
    pattern, Expr                 ByteAutomaton            automata.compile             tokenfst.finite.compile
    pattern with large bounds     CountedByteAutomaton     automata.counted             tokenfst.counted.automaton
    Grammar                       PushdownAutomaton        automata.pushdown            tokenfst.pushdown.compile
    JSON Schema, Python types     VisiblyPushdownGrammar   automata.visibly_pushdown    as for a pattern or a grammar
    with `uniqueItems`            the same with a memory   tokenfst.unique_items        none
    Expr with weights             WeightedByteAutomaton    automata.weighted            as without weights

The result is lazy if a lazy automaton is exact, so that the first mask is available early. Otherwise the tables are
built at once: for automata with a register or with several configurations per state, for canonical tokenization, for
automata that read a byte for which there is no single-byte token, if a label stands for a token that writes bytes, and
for automata with labels if the decoder treats the start of the text differently.
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard

from automata.byte_automaton import ByteAutomaton
from automata.compilable import Compilable
from automata.compile.compiler import compile_expr
from automata.counted import CountedByteAutomaton, compile_counted
from automata.errors import UnsupportedTokenizer, VocabularyError, WeightedLanguage
from automata.expressions import Expr
from automata.limits import DEFAULT_LIMITS, Cancellation, Limits, Work
from automata.pattern import parse
from automata.pushdown.automaton import PushdownAutomaton
from automata.pushdown.compile import compile_grammar
from automata.pushdown.grammar import Grammar
from automata.weighted import WeightedByteAutomaton, compile_weighted
from tokenfst.canonical.compile import canonical_from_bytes
from tokenfst.counted.automaton import from_counted
from tokenfst.finite.compile import from_bytes
from tokenfst.finite.terminals import Terminals, token_set
from tokenfst.labels import label_numbers
from tokenfst.lazy import LazyTokenAutomaton, SupportsLazy, lazy_from_automaton, lazy_from_visibly_pushdown
from tokenfst.misuse import check_constraint, check_terminals, check_vocabulary
from tokenfst.native_automaton import NativeTokenAutomaton
from tokenfst.pushdown.compile import from_pushdown
from tokenfst.token_automaton import Source, TokenAutomaton
from tokenfst.unique_items.automaton import UniqueItemsTokenAutomaton
from tokenfst.unique_items.language import RulesAlone, SupportsUniqueItems, UniqueArrays, marked, repeating
from tokenfst.vocabulary import Vocabulary
from tokenfst.vocabulary.all_bytes import ALL_BYTES
from tokenfst.vocabulary.byte_decoder import ByteDecoder
from tokenfst.weighted.automaton import WeightedTokenAutomaton
from tokenfst.weighted.token_costs import CostTable

Constraint: TypeAlias = str | Expr | ByteAutomaton | Grammar | PushdownAutomaton | Compilable

# Checking for a protocol takes as long as compiling a short pattern, so these kinds are checked first.
_ORDINARY = (str, Expr, ByteAutomaton, Grammar, PushdownAutomaton)

_Language: TypeAlias = ByteAutomaton | CountedByteAutomaton | PushdownAutomaton


def compile(  # noqa: A001
    constraint: Constraint,
    vocabulary: Vocabulary,
    *,
    at_text_start: bool = False,
    terminals: Terminals | None = None,
    tokenization: Literal["any", "canonical"] = "any",
    scale: float = 1.0,
    limits: Limits = DEFAULT_LIMITS,
    cancellation: Cancellation | None = None,
) -> TokenAutomaton:
    """Return the automaton that accepts exactly the tokenizations of the texts of a constraint.

    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"d", b"f", b"foo", b"food", b"o", b""], eos_ids=[5])
    >>> automaton = tokenfst.compile("(foo)+d", vocabulary)
    >>> automaton.accepts([2, 3]), automaton.min_tokens(automaton.start)
    (True, 2)

    Args:
        constraint: a regular expression that a whole text must match (`automata.pattern`), an expression or a byte
            automaton; a grammar or a pushdown automaton over bytes; or an object that builds one of these, such as
            `constraints.json_schema(...)` and `constraints.typed(...)`.
        vocabulary: the tokens.
        at_text_start: how the tokens are decoded. False: after earlier text such as a prompt, where every token writes
            its bytes. True: as a whole text, as the tokenizer's `decode` does, which drops the first space
            (SentencePiece) or does not write one (WordPiece). It makes no difference if the vocabulary has no
            `text_start`.
        terminals: the token ids of names in the constraint (`automata.expressions.extensions.token`), in addition to
            special tokens and the predefined sets (`tokenfst.finite.terminals.token_set`).
        tokenization: "any" for all tokenizations of every text; "canonical" for the one that the vocabulary's encoder
            produces (`tokenfst.canonical`). Texts are then restricted to UTF-8 and, if the encoder distinguishes
            categories of characters, to those assigned in Python's version of Unicode. Not available for grammars.
        scale: a factor for the weights of the constraint; 0 ignores them.
        limits: the time, memory and states that the compilation may take, and later the completion of the tables.
        cancellation: lets another thread stop the compilation.

    Raises:
        PatternError: the pattern is invalid or not supported; the message gives the position and the reason.
        EmptyLanguage: the constraint allows no text, or none that the vocabulary can write.
        UnknownTerminal: the constraint names tokens that neither the vocabulary nor `terminals` defines.
        LimitExceeded: the compilation exceeds a limit; the message names the limit, the amount and the part of the
            constraint.
        Cancelled: another thread cancelled the compilation.
        UnsupportedTokenizer: the encoder is unknown or not modelled, or the vocabulary has a detokenizer that is a
            transducer, for canonical tokenization.
        FstError: the vocabulary has a detokenizer that is a transducer, and the constraint is not regular.
        GrammarError: the grammar is invalid or not supported; the message gives the position and the rule.
        NondeterministicGrammar: the grammar is ambiguous, or a token matches both a label and bytes.
        UnsupportedSchema: the schema has arrays whose items must differ, and `tokenization` is "canonical".
        VocabularyError: the schema has such arrays, and some byte has no token of its own.
        WeightedLanguage: the constraint has weights where they are not supported, such as in a grammar or a schema, or
            with canonical tokenization.
        TypeError: `constraint`, `vocabulary` or `terminals` is of another type; the message says what was probably
            meant.
        ValueError: the string cannot be meant as a pattern; `tokenization` is neither value, or is "canonical" for a
            grammar; or `scale` is negative or not finite.
    """
    if tokenization not in ("any", "canonical"):
        raise ValueError(f"tokenization is 'any' or 'canonical', not {tokenization!r}")
    if not 0 <= scale < inf:
        raise ValueError(f"scale is 0 or more, not {scale!r}")
    check_constraint(constraint)
    check_vocabulary(vocabulary)
    sets = check_terminals(terminals)
    with Work(limits, cancellation).current() as work:
        over = _Over(vocabulary, at_text_start, sets)
        automaton = _compiled(constraint, over, tokenization, scale, work)
    automaton.source = Source(constraint, sets, tokenization)
    return automaton


class _Over(NamedTuple):
    """The tokens of an automaton: arguments of `compile`."""

    vocabulary: Vocabulary
    at_text_start: bool
    terminals: Terminals


def _compiled(
    constraint: Constraint, over: _Over, tokenization: Literal["any", "canonical"], scale: float, work: Work
) -> TokenAutomaton:
    """Return the automaton; arguments are those of `compile`."""
    if over.vocabulary.detokenizer is not None:
        constraint = _spelled(constraint, over.vocabulary.detokenizer, tokenization)
    if tokenization == "canonical":
        return _canonical(constraint, over, work)
    if not isinstance(constraint, _ORDINARY) and (found := _from_rules(constraint, over, work)) is not None:
        return found
    try:
        language = language_of(constraint, work)
    except WeightedLanguage:
        if not isinstance(constraint, Expr):
            raise
        return _weighted(constraint, over, scale, work)
    return _unweighted(language, over, work)


def _from_rules(constraint: Compilable, over: _Over, work: Work) -> TokenAutomaton | None:
    """Return the automaton of a constraint with rules between brackets, for which no automaton over bytes is made; None
    if the constraint has no such rules, or a lazy automaton would not be exact."""
    given = constraint
    if not _has_rules(constraint):
        return None
    if _has_unique_items(constraint) and (arrays := constraint.unique_arrays()) is not None:
        return _with_memory(arrays, over, work)
    return lazy_from_visibly_pushdown(
        constraint.to_visibly_pushdown(),
        over.vocabulary,
        over.terminals,
        lambda work: _tables(language_of(given, work), over, work),
        work,
        at_text_start=over.at_text_start,
    )


def _has_rules(constraint: object) -> TypeGuard[SupportsLazy]:
    """Return whether a constraint is a `SupportsLazy`, in a tenth of the time that `isinstance` takes."""
    return hasattr(constraint, "to_visibly_pushdown")


def _has_unique_items(constraint: object) -> TypeGuard[SupportsUniqueItems]:
    """Return whether a constraint is a `SupportsUniqueItems`, in a tenth of the time that `isinstance` takes."""
    return hasattr(constraint, "unique_arrays") and _has_rules(constraint)


def _with_memory(arrays: UniqueArrays, over: _Over, work: Work) -> UniqueItemsTokenAutomaton:
    """Return the automaton of a language in which the items of some arrays differ.

    Raises:
        VocabularyError: there is no token for some single byte, so it is unknown which texts can be completed.
    """
    if not over.vocabulary.has_every_byte:
        raise VocabularyError("arrays whose items must differ need a vocabulary with a token for every single byte")
    bounds: dict[str, Any] = {"limits": work.limits, "cancellation": work.cancellation}
    rules = compile(RulesAlone(repeating(arrays)), **over._asdict(), **bounds)
    by_byte = compile(RulesAlone(marked(arrays)), ALL_BYTES, **bounds)
    assert isinstance(rules, NativeTokenAutomaton)
    assert isinstance(by_byte, NativeTokenAutomaton)
    return UniqueItemsTokenAutomaton(rules, by_byte, arrays)


def _spelled(constraint: Constraint, detokenizer: ByteDecoder, tokenization: str) -> Expr:
    """Return the language of the bytes for which the vocabulary's detokenizer writes a text of a constraint.

    Raises:
        UnsupportedTokenizer: canonical tokenization is required.
        FstError: the language is not regular.
    """
    if tokenization == "canonical":
        raise UnsupportedTokenizer("canonical tokenization is not known for a detokenizer that is a transducer")
    return detokenizer.spelled(parse(constraint) if isinstance(constraint, str) else constraint)


def _weighted(expr: Expr, over: _Over, scale: float, work: Work) -> WeightedTokenAutomaton:
    """Return the automaton of an expression with weights: that of its texts, with costs.

    Raises:
        WeightedLanguage: see `_cost_table`.
    """
    weighted = compile_weighted(expr, work).scaled(scale)
    table = _cost_table(weighted, over)
    return WeightedTokenAutomaton(_unweighted(weighted.support, over, work), table)


def _cost_table(weighted: WeightedByteAutomaton, over: _Over) -> CostTable:
    """Return the costs of tokens.

    Raises:
        WeightedLanguage: a label stands for a token that writes text, or two labels stand for one token: then bytes and
            labels could be read with different costs.
        UnknownTerminal, VocabularyError: as for `tokenfst.finite.terminals.token_set`.
    """
    vocabulary, at_text_start, terminals = over
    if weighted.labels and label_numbers(weighted.labels, vocabulary, terminals) is None:
        raise WeightedLanguage(
            f"a constraint with weights has labels ({', '.join(weighted.labels)}) for tokens that write text, or that "
            "belong to several labels; weights are known only beside labels for tokens that write nothing"
        )
    sets = {name: token_set(name, vocabulary, terminals).tolist() for name in weighted.labels}
    return CostTable(vocabulary, weighted, sets, begins=at_text_start and vocabulary.text_start is not None)


def _unweighted(language: _Language, over: _Over, work: Work) -> TokenAutomaton:
    """Return the automaton over tokens, lazy where that is exact."""
    return _lazily(language, over, work) or _tables(language, over, work)


def _lazily(language: _Language, over: _Over, work: Work) -> LazyTokenAutomaton | None:
    """Return the lazy automaton of an automaton over bytes, None if it would not be exact."""
    if isinstance(language, CountedByteAutomaton):
        return None
    vocabulary, at_text_start, terminals = over
    tables = lambda work: _tables(language, over, work)  # noqa: E731
    return lazy_from_automaton(language, vocabulary, terminals, tables, work, at_text_start=at_text_start)


def _tables(language: _Language, over: _Over, work: Work) -> TokenAutomaton:
    """Return the automaton over tokens with complete tables."""
    vocabulary, at_text_start, terminals = over
    if isinstance(language, CountedByteAutomaton):
        return from_counted(language, vocabulary, at_text_start=at_text_start, work=work)
    if isinstance(language, PushdownAutomaton):
        return from_pushdown(language, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)
    return from_bytes(language, vocabulary, at_text_start=at_text_start, terminals=terminals, work=work)


def language_of(constraint: Constraint, work: Work, *, may_count: bool = True) -> _Language:
    """Return the automaton over bytes of a constraint, with a register only if `may_count`."""
    made = constraint
    if not isinstance(made, _ORDINARY) and isinstance(made, Compilable):
        made = made.to_automaton(work)
    if isinstance(made, Grammar):
        return compile_grammar(made, work=work)
    if isinstance(made, ByteAutomaton | PushdownAutomaton):
        return made
    expr = parse(made) if isinstance(made, str) else made
    counted = compile_counted(expr, work) if may_count else None
    return compile_expr(expr, work) if counted is None else counted


def _canonical(constraint: Constraint, over: _Over, work: Work) -> TokenAutomaton:
    try:
        language = language_of(constraint, work, may_count=False)
    except WeightedLanguage as error:
        if not isinstance(constraint, Expr):
            raise
        raise WeightedLanguage("canonical tokenization takes no weights; tokenization='any' does") from error
    if not isinstance(language, ByteAutomaton):
        raise ValueError(
            "canonical tokenization is not known for automata with a stack (of grammars, and of recursive schemas and "
            "types); tokenization='any' allows all"
        )
    return canonical_from_bytes(language, over.vocabulary, terminals=over.terminals, work=work)

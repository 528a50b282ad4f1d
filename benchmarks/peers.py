"""Engines behind one interface, for schemas, patterns and grammars: masks and steps over one vocabulary.

    tokenfst               properties in any order if that is cheap, derivations side by side if necessary
    tokenfst@1             the same with a limit of a second each for reading a schema and for compiling, as servers set
    llguidance             by default: it raises for a keyword that it does not support
    xgrammar               `strict_mode=False`, its documentation's setting for objects that a schema leaves open
    outlines-core          the pattern that it makes of a schema, and the index of the pattern
    glrmask                by default; `is_accepting` tells where a text may end, as in its documentation
    lm-format-enforcer     its parser and its token enforcer, without its limit of twenty items, which is a setting

Each is used as its documentation shows first, unless that means another language than the schema's and a setting
corrects it. No engine keeps a compiled constraint from one call to the next.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Final, Protocol

import engines
import numpy as np
import numpy.typing as npt
from engines import _unpacked
from oracles import Kind

import constraints
import tokenfst
from automata import Limits
from automata.errors import LimitExceeded, TokenfstError, TokenNotAllowed, TooManyConfigurations
from tokenfst import Vocabulary


class Refused(Exception):
    """The engine reports that it cannot honour a constraint."""


class Peer(Protocol):
    """One engine, which follows at most one text at a time.

    Attributes:
        name: the name of the engine, with its version.
        forces: whether its masks, if the rest of a text is certain, allow only the tokenization that it prefers.
    """

    name: str
    forces: bool

    def compile(self, kind: Kind, source: Any) -> None:
        """Compile a constraint and begin a text.

        Raises:
            Refused: the engine does not support the constraint. `mask` and `advance` may raise it, too.
        """

    def reset(self) -> None:
        """Begin a text."""

    def mask(self) -> npt.NDArray[np.bool_]:
        """Return the mask of the tokens that may follow, `[V + 1]`; the last one is the end."""

    def advance(self, token: int) -> bool:
        """Advance by a token other than the end, and return whether the engine allows it."""


def _json(schema: Any) -> str:
    """Return the JSON text of a schema, even if it is very deep or its numbers are very long."""
    depth, digits = sys.getrecursionlimit(), sys.get_int_max_str_digits()
    sys.setrecursionlimit(200_000)
    sys.set_int_max_str_digits(0)
    try:
        return json.dumps(schema)
    finally:
        sys.setrecursionlimit(depth)
        sys.set_int_max_str_digits(digits)


class TokenFst:
    """This project; `seconds` is the limit for reading a schema, and again for compiling any constraint."""

    forces = False

    def __init__(self, vocabulary: Vocabulary, seconds: float | None = None) -> None:
        self.name = f"tokenfst {tokenfst.__version__}"
        self.vocabulary = vocabulary
        self._limits = Limits() if seconds is None else Limits(seconds=seconds)
        self._automaton: Any = None
        self._state: Any = None

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        try:
            if kind == "schema":
                source = constraints.json_schema(source, property_order="any-if-cheap", limits=self._limits)
            elif kind == "grammar":
                source = constraints.grammar(source["lark"], ambiguity="parallel")
            self._automaton = tokenfst.compile(source, self.vocabulary, limits=self._limits)
        except TokenfstError as error:
            raise Refused(f"{type(error).__name__}: {error}") from error
        self.reset()

    def reset(self) -> None:
        """See `Peer`."""
        self._state = self._automaton.start

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        return np.asarray(self._asked(self._automaton.mask, self._state))

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        try:
            self._state = self._asked(self._automaton.advance, self._state, token)
        except TokenNotAllowed:
            return False
        return True

    def _asked(self, question: Callable[..., Any], *arguments: Any) -> Any:
        """Return an answer of the automaton, which may exceed a limit, such as that of derivations side by side."""
        try:
            return question(*arguments)
        except (LimitExceeded, TooManyConfigurations) as error:
            raise Refused(f"{type(error).__name__}: {error}") from error


class LLGuidance:
    """llguidance."""

    forces = True

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._prepared = engines.LLGuidance(vocabulary)
        self.name, self._size = self._prepared.name, len(vocabulary)
        self._matcher: Any = None

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        matcher = self._prepared.module.LLMatcher
        try:
            if kind == "schema":
                grammar = matcher.grammar_from_json_schema(_json(source))
            elif kind == "pattern":
                grammar = matcher.grammar_from_regex(source)
            else:
                grammar = matcher.grammar_from_lark(source["lark"])
            self._matcher = matcher(self._prepared.tokenizer, grammar, log_level=0)
        except ValueError as error:
            raise Refused(str(error)) from error
        if self._matcher.get_error():
            raise Refused(self._matcher.get_error())

    def reset(self) -> None:
        """See `Peer`."""
        self._matcher.reset()

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        self._prepared.module.numpy.fill_next_token_bitmask(self._matcher, self._prepared.words)
        # If it exceeds a limit of its own on the way, its mask allows the end; it reports the error only when asked.
        if self._matcher.is_error():
            raise Refused(self._matcher.get_error())
        return _unpacked(self._prepared.words, self._size)

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        # A matcher is of no use after it has refused a token, so validate the token first.
        return bool(self._matcher.validate_tokens([token])) and bool(self._matcher.consume_token(token))


class XGrammar:
    """XGrammar."""

    forces = False

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._prepared = engines.XGrammar(vocabulary)
        self.name, self._size = self._prepared.name, len(vocabulary)
        self._matcher: Any = None

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        compiler, module = self._prepared.compiler, self._prepared.xgrammar
        try:
            if kind == "schema":
                compiled = compiler.compile_json_schema(_json(source), strict_mode=False)
            elif kind == "pattern":
                compiled = compiler.compile_regex(source)
            else:
                compiled = compiler.compile_grammar(module.Grammar.from_ebnf(source["gbnf"]))
            self._matcher = module.GrammarMatcher(compiled)
        except RuntimeError as error:
            raise Refused(str(error)) from error

    def reset(self) -> None:
        """See `Peer`."""
        self._matcher.reset()

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        if self._matcher.is_terminated():
            return np.zeros(self._size, np.bool_)
        # False means that everything is allowed; the words are then unchanged.
        if not self._matcher.fill_next_token_bitmask(self._prepared.words):
            self._prepared.words.fill_(-1)
        return _unpacked(self._prepared.words, self._size)

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        return bool(self._matcher.accept_token(token))


class Outlines:
    """outlines-core, which does not support grammars."""

    forces = False

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._prepared = engines.Outlines(vocabulary)
        self.name, self._size = self._prepared.name, len(vocabulary)
        self._index: Any = None
        self._guide: Any = None

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        from outlines_core.json_schema import build_regex_from_schema

        if kind == "grammar":
            raise Refused("it does not support grammars")
        try:
            pattern = source if kind == "pattern" else build_regex_from_schema(_json(source))
            self._index = self._prepared.compile(pattern)
        except (TypeError, ValueError) as error:
            raise Refused(str(error)) from error
        self.reset()

    def reset(self) -> None:
        """See `Peer`."""
        self._guide = self._prepared.module.Guide(self._index)

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        found = np.zeros(self._size, np.bool_)
        found[self._guide.get_tokens()] = True
        if self._guide.is_finished():
            found[-1] = True
        return found

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        try:
            self._guide.advance(token)
        except ValueError:
            return False
        return True


class GlrMask:
    """glrmask."""

    forces = False

    def __init__(self, vocabulary: Vocabulary) -> None:
        import glrmask

        self.name, self._size = f"glrmask {version('glrmask')}", len(vocabulary)
        self._grammar: Any = glrmask.Grammar
        self._vocab = glrmask.Vocab.from_id_to_bytes({n: token for n, token in enumerate(vocabulary.tokens) if token})
        self._constraint: Any = None
        self._state: Any = None

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        try:
            if kind == "schema":
                grammar = self._grammar.from_json_schema(_json(source))
            elif kind == "pattern":
                # In its own notation, a pattern matches a text as a whole.
                escaped = source.replace("/", "\\/")
                grammar = self._grammar.from_glrm(f"glrm 1; start text; t TEXT = /{escaped}/; nt text = TEXT;")
            else:
                grammar = self._grammar.from_lark(source["lark"])
            self._constraint = grammar.compile(self._vocab)
        except ValueError as error:
            raise Refused(str(error)) from error
        self.reset()

    def reset(self) -> None:
        """See `Peer`."""
        self._state = self._constraint.start()

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        found = np.array(self._state.mask(size=self._size))
        found[-1] = self._state.is_accepting()
        return found

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        # A state is of no use after it has refused a token, so try the token on a copy.
        state = self._state.copy()
        if not state.commit_token(token):
            return False
        self._state = state
        return True


class LMFormatEnforcer:
    """lm-format-enforcer, which does not support grammars."""

    forces = False

    def __init__(self, vocabulary: Vocabulary) -> None:
        os.environ.setdefault("LMFE_MAX_JSON_ARRAY_LENGTH", "1000000")
        import lmformatenforcer

        # It logs an error for what it takes for a bug of its own, and then allows the end.
        logging.disable(logging.ERROR)
        self.name = f"lm-format-enforcer {version('lm-format-enforcer')}"
        self._module: Any = lmformatenforcer
        self._size, tokens = len(vocabulary), vocabulary.tokens
        # As in its adapters, a token is its text, with replacement characters for bytes that are not UTF-8.
        texts = [(n, token.decode(errors="replace"), False) for n, token in enumerate(tokens) if token]

        def decoded(ids: list[int]) -> str:
            return b"".join(tokens[n] for n in ids).decode(errors="replace").rstrip("\ufffd")

        data = lmformatenforcer.TokenEnforcerTokenizerData
        self._data = data(texts, decoded, self._size - 1, False, self._size)
        self._parser: Any = None
        self._enforcer: Any = None
        self._taken: list[int] = []

    def compile(self, kind: Kind, source: Any) -> None:
        """See `Peer`."""
        if kind == "grammar":
            raise Refused("it does not support grammars")
        try:
            parser = self._module.JsonSchemaParser if kind == "schema" else self._module.RegexParser
            self._parser = parser(source)
            self._enforcer = self._module.TokenEnforcer(self._data, self._parser)
        except Exception as error:  # it may raise an exception of any type
            raise Refused(f"{type(error).__name__}: {error}") from error
        self.reset()

    def reset(self) -> None:
        """See `Peer`."""
        self._taken = []

    def mask(self) -> npt.NDArray[np.bool_]:
        """See `Peer`."""
        found = np.zeros(self._size, np.bool_)
        try:
            found[list(self._enforcer.get_allowed_tokens(self._taken).allowed_tokens)] = True
        except self._module.LMFormatEnforcerException as error:
            raise Refused(str(error)) from error
        return found

    def advance(self, token: int) -> bool:
        """See `Peer`."""
        if not self.mask()[token]:
            return False
        self._taken.append(token)
        return True


PEERS: Final[dict[str, Any]] = {
    "tokenfst": TokenFst,
    "llguidance": LLGuidance,
    "xgrammar": XGrammar,
    "outlines-core": Outlines,
    "glrmask": GlrMask,
    "lm-format-enforcer": LMFormatEnforcer,
}


def peer(name: str, vocabulary: Vocabulary) -> Peer:
    """Return an engine by name; `tokenfst@S` is this project with a limit of S seconds."""
    name, _, seconds = name.partition("@")
    made: Peer = PEERS[name](vocabulary, float(seconds)) if seconds else PEERS[name](vocabulary)
    return made

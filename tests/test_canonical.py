"""Canonical tokenization against encoders: a naive one over small vocabularies, exhaustively, and two real ones.

The naive encoder cuts a text with the `regex` module and merges pair by pair. The real ones are Mistral's Tekken
(131,072 tokens, mistral-common's own code) and two of tokenizers: GPT-2's pre-tokenizer over merges that are trained
here, and the bundled model's tokenizer, which has Llama 3's.
"""

from __future__ import annotations

import json
import random
import re
import sysconfig
import unicodedata
from collections.abc import Callable, Iterator
from importlib.resources import files
from itertools import pairwise, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import regex
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

import tokenfst
from automata import EmptyLanguage, LimitExceeded, UnsupportedTokenizer, VocabularyError, concat, extensions, parse
from automata.limits import Limits
from automata.queries import random_strings
from constraints.paper import PATTERNS, SAMPLES
from tokenfst import BPE, CanonicalAutomaton, NotBPE, Vocabulary, from_tekken, from_tiktoken, from_transformers
from tokenfst.bpe import GPT2_PATTERN
from tokenfst.canonical.derivations import derivations
from tokenfst.canonical.pairs import compatible, pairs
from tokenfst.canonical.piece_bytes import piece_bytes
from tokenfst.canonical.pieces import pieces
from tokenfst.canonical.prepared import prepare

ANYTHING = r"(.|\n)*"
TEKKEN_PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LAZY_PATTERN = r"a+?b|(?:ab|a)(?:a|b)??|\p{L}{2,}?|[\s\S]"
PRE_TOKENIZERS = [None, GPT2_PATTERN, LLAMA3_PATTERN, TEKKEN_PATTERN, LAZY_PATTERN]


# The naive encoder, over small vocabularies


class Toy:
    """A random small vocabulary, and its encoder by definition."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.alphabet = self.random.choice(["ab ", "a \n", "ab", "a1 ", "a' s", "A a", "é ", "a.\n"])
        merges = self.draw()
        self.pattern = self.random.choice(PRE_TOKENIZERS)
        self.whole_pieces = self.random.random() < 0.5
        listed = tuple((self.id[a], self.id[b], self.id[a + b]) for a, b in merges)
        bpe = BPE(listed if self.is_listed else None, self.pattern, self.whole_pieces)
        if self.is_listed:
            self.rank = {(a, b): (place, result) for place, (a, b, result) in enumerate(listed)}
        else:
            spelled = product(self.tokens, repeat=2)
            self.rank = {
                (self.id[a], self.id[b]): (self.id[a + b], self.id[a + b]) for a, b in spelled if a + b in self.id
            }
        ends = [len(self.tokens)] if self.random.random() < 0.7 else []
        self.vocabulary = Vocabulary([*self.tokens, b""], ends, bpe=bpe)

    def draw(self) -> list[tuple[bytes, bytes]]:
        """Draws tokens and merges; some tokens cannot be made, some merges come before those that they need."""
        self.tokens = sorted({bytes([byte]) for byte in self.alphabet.encode()})
        merges: list[tuple[bytes, bytes]] = []
        for _ in range(self.random.randrange(1, 10)):
            pair = self.random.choice(self.tokens), self.random.choice(self.tokens)
            if len(pair[0] + pair[1]) <= 5 and pair not in merges:
                merges.append(pair)
                self.tokens += [pair[0] + pair[1]] * (pair[0] + pair[1] not in self.tokens)
        if self.random.random() < 0.4:
            self.random.shuffle(self.tokens)
            self.random.shuffle(merges)
        self.is_listed = self.random.random() < 0.5
        if not self.is_listed and self.random.random() < 0.4:
            self.tokens = [token for token in self.tokens if len(token) != 2 or self.random.random() < 0.4]
        self.id = {token: number for number, token in enumerate(self.tokens)}
        return merges if self.is_listed else []

    def merged(self, piece: bytes) -> list[int]:
        symbols = [self.id[bytes([byte])] for byte in piece]
        while True:
            found = [(self.rank[pair][0], at) for at, pair in enumerate(pairwise(symbols)) if pair in self.rank]
            if not found:
                return symbols
            at = min(found)[1]
            symbols[at : at + 2] = [self.rank[symbols[at], symbols[at + 1]][1]]

    def encode(self, text: str) -> list[int] | None:
        """The encoder's tokens; None where it lacks one for a byte."""
        cut = [text] * bool(text) if self.pattern is None else regex.findall(self.pattern, text)
        tokens: list[int] = []
        for piece in (piece.encode() for piece in cut):
            if self.whole_pieces and piece in self.id:
                tokens.append(self.id[piece])
            elif all(bytes([byte]) in self.id for byte in piece):
                tokens += self.merged(piece)
            else:
                return None
        return tokens

    def texts(self) -> Iterator[str]:
        length = 8 if len(self.alphabet) == 2 else 6
        for size in range(length + 1):
            yield from map("".join, product(self.alphabet, repeat=size))


@pytest.mark.parametrize("seeds", [range(150), range(150, 300)])
def test_pairs_are_those_that_the_encoder_leaves_alone(seeds: range) -> None:
    late = 0
    for seed in seeds:
        toy = Toy(seed)
        made = derivations(toy.vocabulary, toy.vocabulary.bpe)
        relation = pairs(made)
        late += bool((made.clock != made.rank).any())
        for token in toy.tokens:
            assert made.made[toy.id[token]] == (toy.merged(token) == [toy.id[token]])
        canonical = [number for number in range(len(toy.tokens)) if made.made[number]]
        for left, right in product(canonical, repeat=2):
            expected = toy.merged(toy.tokens[left] + toy.tokens[right]) == [left, right]
            assert compatible(relation, left, right) == expected, (seed, left, right)
        for few in product(canonical, repeat=3):
            expected = toy.merged(b"".join(toy.tokens[number] for number in few)) == list(few)
            assert all(compatible(relation, *pair) for pair in pairwise(few)) == expected, (seed, few)
    assert late > 10  # merges that become possible late are among them


@pytest.mark.parametrize("pattern", PRE_TOKENIZERS)
def test_pieces_end_where_the_regular_expression_says(pattern: str | None) -> None:
    automaton, matcher = pieces(pattern), regex.compile(pattern or r"[\s\S]+")
    alphabet = "aA5 '\n/.s\u0301中"
    generator = random.Random(0)
    texts = ["".join(some) for size in range(1, 4) for some in product(alphabet, repeat=size)]
    texts += ["".join(generator.choices(alphabet + "    \n\ttRreElLſ\u00a0éb", k=9)) for _ in range(1500)]
    for text in texts:
        runs = {(0, ())}
        for place, char in enumerate(text):
            kind = automaton.kind[ord(char)]
            decided = runs | {(int(automaton.split[state]), (*ends, place)) for state, ends in runs}
            runs = {(int(automaton.next[state, kind]), ends) for state, ends in decided if state >= 0}
            runs = {run for run in runs if run[0] >= 0}
        # Exactly one row of decisions is left.
        found = [ends for state, ends in runs if automaton.final[state]]
        assert found == [tuple(match.start() for match in matcher.finditer(text))], text


def test_characters_are_spelled_in_utf8() -> None:
    automaton = pieces(TEKKEN_PATTERN)
    spelled = piece_bytes(automaton)

    def read(state: int, text: bytes) -> int:
        for byte in text:
            state = int(spelled.next[state, spelled.byte_class[byte]]) if state >= 0 else -1
        return state

    generator = random.Random(0)
    codes = [generator.randrange(limit) for limit in (0x80, 0x800, 0x10000, 0x110000) for _ in range(300)]
    for code in codes:
        if not 0xD800 <= code < 0xE000:
            state, kind = generator.randrange(len(automaton.final)), automaton.kind[code]
            assert read(state, chr(code).encode()) == (automaton.next[state, kind] if kind >= 0 else -1)
    for wrong in (b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xff"):
        assert all(read(state, wrong) == -1 for state in range(len(automaton.final)))


TOY_CONSTRAINTS = [
    *(ANYTHING, "[ab ]{0,4}", "(a|b|ab)* ?a", r"a{3}|b{4}|\s+a", "aba|abab b", r"( |\n)*", "[a-z]{4}", r"\s{2,5}b?"),
    *("(é|e| )*", "a+1|1+a"),
]


class Language(NamedTuple):
    """A constraint over a toy vocabulary: its automaton, None for an empty one, and its tokenizations by definition."""

    toy: Toy
    pattern: str
    automaton: CanonicalAutomaton | None
    tokenizations: set[tuple[int, ...]]


def language(seed: int) -> Language:
    toy = Toy(seed)
    pattern = toy.random.choice(TOY_CONSTRAINTS)
    encoded = [toy.encode(text) for text in toy.texts() if re.fullmatch(pattern, text)]
    try:
        automaton = tokenfst.compile(pattern, toy.vocabulary, tokenization="canonical")
    except EmptyLanguage:
        automaton = None
    return Language(toy, pattern, automaton, {tuple(tokens) for tokens in encoded if tokens is not None})


@pytest.mark.parametrize("seeds", [range(70), range(70, 140)])
def test_all_sequences_over_small_vocabularies(seeds: range) -> None:
    """Accepted exactly if the encoder makes them of their text and the text is in the language."""
    whole = 0
    for seed in seeds:
        toy, _, automaton, tokenizations = language(seed)
        if automaton is None:
            assert not tokenizations
            continue
        whole += len(prepare(toy.vocabulary).words.tokens) > 0
        assert all(automaton.accepts(tokens) for tokens in tokenizations), seed
        longest = max(map(len, toy.texts()))
        for size in range(5):
            for tokens in product(range(len(toy.tokens)), repeat=size) if len(toy.tokens) ** size < 5000 else ():
                if len(toy.vocabulary.detokenize(tokens)) <= longest:
                    assert automaton.accepts(tokens) == (tokens in tokenizations), (seed, tokens)
    assert whole > 3  # tokens that only whole pieces are, too


@pytest.mark.parametrize("seeds", [range(200, 260), range(260, 320)])
def test_masks_never_lead_into_a_dead_end(seeds: range) -> None:
    """What a mask allows can be completed, in as many tokens as promised, to what the encoder makes of the text."""
    for seed in seeds:
        toy, pattern, automaton, tokenizations = language(seed)
        following: dict[tuple[int, ...], set[int]] = {}
        for tokens in tokenizations:
            for size, token in enumerate(tokens):
                following.setdefault(tokens[:size], set()).add(token)
        for begin, expected in list(following.items())[:40]:
            assert automaton is not None
            state = automaton.start
            for token in begin:
                state = automaton.advance(state, token)
            assert automaton.is_final(state) == (begin in tokenizations)
            allowed = set(np.flatnonzero(automaton.mask(state)).tolist())
            ends = set(toy.vocabulary.eos_ids) if automaton.is_final(state) else set()
            assert allowed >= expected | ends
            for token in allowed - set(toy.vocabulary.eos_ids):
                tokens = [*begin, token, *finish(automaton, automaton.advance(state, token), toy.random)]
                text = toy.vocabulary.detokenize(tokens).decode()
                assert toy.encode(text) == tokens, (seed, tokens)
                assert re.fullmatch(pattern, text)


def finish(automaton: CanonicalAutomaton, state: int, generator: random.Random) -> list[int]:
    """Tokens that end the text in as many steps as `min_tokens` says."""
    tokens: list[int] = []
    while not automaton.is_final(state):
        for token in generator.sample(nearer(automaton, state), k=len(nearer(automaton, state))):
            reached = automaton.advance(state, token)
            if automaton.min_tokens(reached) < automaton.min_tokens(state):
                break
        else:
            raise AssertionError("no token leads to where min_tokens points")
        tokens.append(token)
        state = reached
    return tokens


def nearer(automaton: CanonicalAutomaton, state: int) -> list[int]:
    """The allowed tokens of classes that may lead nearer to the end."""
    row = state // len(automaton.vocabulary)
    edges = slice(automaton.rows.offsets[row], automaton.rows.offsets[row + 1])
    near = automaton.rows.number[edges][automaton.rows.least[:, edges].min(axis=0) < automaton.min_tokens(state)]
    return np.flatnonzero(automaton.mask(state) & np.isin(automaton.class_of, near)).tolist()


# Real encoders


class Real(NamedTuple):
    vocabulary: Vocabulary
    encode: Callable[[str], list[int]]


def tekken() -> Real:
    path = str(files("mistral_common") / "data" / "tekken_240911.json")
    encoder = Tekkenizer.from_file(path)
    return Real(from_tekken(path), lambda text: encoder.encode(text, bos=False, eos=False))


def trained() -> Real:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=3000,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(source_texts(400_000), trainer)
    return of_tokenizers(tokenizer)


def bundled() -> Real:
    return of_tokenizers(Tokenizer.from_file(str(files("decoding") / "model" / "tokenizer.json")))


def of_tokenizers(tokenizer: Tokenizer) -> Real:
    return Real(
        from_transformers(tokenizer, eos_ids=[0]), lambda text: tokenizer.encode(text, add_special_tokens=False).ids
    )


def source_texts(size: int) -> list[str]:
    """Python files that are installed everywhere that Python is."""
    texts: list[str] = []
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("[a-i]*.py")):
        texts.append(path.read_text("utf-8"))
        if sum(map(len, texts)) > size:
            break
    return texts


def mixed_texts() -> list[str]:
    """More than a million bytes: source code, every assigned character, numbers, JSON, white space, contractions."""
    generator = random.Random(0)
    every = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) not in ("Cs", "Cn")]
    every = [char for char in every if unicodedata.category(char) != "Co"] + every[-100:]
    generator.shuffle(every)
    surrounded = [generator.choice(["a", "A", "1", " ", "\n", ".", "'", ""]) + char for char in every]
    values = [
        generator.choice([generator.random() * 10 ** generator.randrange(9), "\u4e2d\u2028x ", None])
        for _ in range(5000)
    ]
    pool = " " * 8 + "\n\n\t\r\u00a0\u3000aB1.'/-\u0301"
    return [
        *source_texts(420_000),
        *("".join(surrounded[at : at + 40]) for at in range(0, len(surrounded), 40)),
        json.dumps(values, indent=1),
        json.dumps(values, ensure_ascii=False),
        *("".join(generator.choices(pool, k=60)) for _ in range(1500)),
        *(
            "".join(generator.choices(["I'm", "we'LL", "'ſ", " 's", "don't", " ", "x'd1'", "''ve"], k=30))
            for _ in range(200)
        ),
    ]


@pytest.fixture(scope="module", params=[tekken, trained, bundled], ids=lambda make: make.__name__)
def real(request: pytest.FixtureRequest) -> Real:
    return request.param()


@pytest.fixture(scope="module")
def mistral() -> Real:
    return tekken()


def test_every_text_is_accepted_as_the_encoder_cuts_it(real: Real) -> None:
    automaton = tokenfst.compile(ANYTHING, real.vocabulary, tokenization="canonical")
    texts = [text[at : at + 3000] for text in mixed_texts() for at in range(0, len(text), 3000)]
    assert sum(len(text.encode()) for text in texts) > 1_000_000
    for text in texts:
        assert automaton.accepts(real.encode(text)), text


def test_other_tokenizations_are_refused(real: Real) -> None:
    automaton = tokenfst.compile(ANYTHING, real.vocabulary, tokenization="canonical")
    token_of = {token: number for number, token in enumerate(real.vocabulary.tokens) if token}
    generator = random.Random(1)
    refused = 0
    for text in generator.choices(source_texts(200_000), k=300) + generator.choices(mixed_texts(), k=300):
        begin = generator.randrange(len(text))
        tokens = real.encode(text[begin : begin + 20])
        # One token is written in two others, or two tokens in one or two others, in each way.
        at, size = generator.randrange(len(tokens)), generator.choice([1, 2])
        spelled = real.vocabulary.detokenize(tokens[at : at + size])
        for cut in range(len(spelled)):
            other = [token_of.get(part, -1) for part in (spelled[:cut], spelled[cut:]) if part]
            changed = [*tokens[:at], *other, *tokens[at + size :]]
            if -1 not in other and changed != tokens:
                assert not automaton.accepts(changed), (text, changed)
                refused += 1
    assert refused > 300


@pytest.mark.parametrize("name", PATTERNS)
def test_texts_of_constraints_are_accepted_as_the_encoder_cuts_them(name: str, real: Real) -> None:
    """And at each step the mask allows the encoder's token."""
    automaton = tokenfst.compile(PATTERNS[name], real.vocabulary, tokenization="canonical")
    texts = [SAMPLES[name].encode(), *random_strings(parse(PATTERNS[name]), 12, seed=3, max_length=40)]
    known = [text.decode() for text in texts if all(unicodedata.category(char) != "Cn" for char in text.decode())]
    assert known
    for text in known:
        tokens, state = real.encode(text), automaton.start
        for token in tokens:
            assert automaton.mask(state)[token], (text, token)
            state = automaton.advance(state, token)
        assert automaton.is_final(state)
        assert len(tokens) + bool(real.vocabulary.eos_ids) >= automaton.min_tokens(automaton.start)


@pytest.mark.parametrize("name", PATTERNS)
def test_what_masks_allow_is_what_the_encoder_writes(name: str, real: Real) -> None:
    automaton = tokenfst.compile(PATTERNS[name], real.vocabulary, tokenization="canonical")
    for seed in range(5):
        generator, state, tokens = random.Random(seed), automaton.start, []
        for _ in range(generator.randrange(1, 9)):
            allowed = np.flatnonzero(automaton.mask(state))
            token = int(generator.choice(allowed))
            if token in real.vocabulary.eos_ids:
                break
            tokens.append(token)
            state = automaton.advance(state, token)
        tokens += finish(automaton, state, generator)
        text = real.vocabulary.detokenize(tokens).decode()
        assert re.fullmatch(PATTERNS[name], text, re.ASCII)
        assert real.encode(text) == tokens, text
        assert automaton.accepts([*tokens, real.vocabulary.eos_ids[0]])


def test_fixed_words_have_one_tokenization(mistral: Real) -> None:
    """Prefixes of a word that no further token may follow are not allowed, though any tokenization allows them."""
    words = ["tokenization", "internationalization", "1234567", "don't   stop\n\n now"]
    automaton = tokenfst.compile("|".join(words), mistral.vocabulary, tokenization="canonical")
    for word in words:
        begin: list[int] = []
        for token in mistral.encode(word):
            state = automaton.start
            for earlier in begin:
                state = automaton.advance(state, earlier)
            spelled = mistral.vocabulary.detokenize(begin).decode("utf-8")
            first = [mistral.encode(other) for other in words if other.startswith(spelled)]
            expected = {other[len(begin)] for other in first if other[: len(begin)] == begin}
            assert set(np.flatnonzero(automaton.mask(state)).tolist()) == expected
            begin.append(token)


def test_characters_of_later_versions_of_unicode_are_left_out(mistral: Real) -> None:
    unassigned = next(chr(c) for c in range(0x370, 0x110000) if unicodedata.category(chr(c)) == "Cn")
    automaton = tokenfst.compile(ANYTHING, mistral.vocabulary, tokenization="canonical")
    assert automaton.accepts(mistral.encode("a\uffff"))
    assert not automaton.accepts(mistral.encode(f"a{unassigned}"))
    with pytest.raises(EmptyLanguage):
        tokenfst.compile(unassigned, mistral.vocabulary, tokenization="canonical")


# Terminals, files, limits


def test_terminals_stand_between_texts(mistral: Real) -> None:
    vocabulary = mistral.vocabulary
    constraint = concat(parse("[ a-z]+"), extensions.token("[TOOL_CALLS]"), parse("[ a-z]*"))
    automaton = tokenfst.compile(constraint, vocabulary, tokenization="canonical")
    call = vocabulary.special_tokens["[TOOL_CALLS]"]
    for before, after in [("hello there  ", "  you know"), ("a", ""), (" ", " x")]:
        tokens = [*mistral.encode(before), call, *mistral.encode(after)]
        assert automaton.accepts(tokens)
        assert automaton.min_tokens(automaton.start) == 3
    assert not automaton.accepts([*mistral.encode("hel"), *mistral.encode("lo"), call])
    assert not automaton.accepts([call, *mistral.encode("a")])
    with pytest.raises(VocabularyError, match="writes"):
        tokenfst.compile(extensions.token("TEXT_TOKEN"), vocabulary, tokenization="canonical")


def test_files(tmp_path: Path) -> None:
    real = bundled()
    automaton = tokenfst.compile(PATTERNS["e-mail"], real.vocabulary, tokenization="canonical")
    automaton.save(tmp_path / "a.safetensors")
    loaded = CanonicalAutomaton.load(tmp_path / "a.safetensors", real.vocabulary)
    state = other = automaton.start
    for token in real.encode(SAMPLES["e-mail"]):
        assert np.array_equal(automaton.mask(state), loaded.mask(other))
        assert automaton.min_tokens(state) == loaded.min_tokens(other)
        state, other = automaton.advance(state, token), loaded.advance(other, token)
    assert loaded.is_final(other)
    bpe = real.vocabulary.bpe
    assert isinstance(bpe, BPE)
    changed = Vocabulary(
        real.vocabulary.tokens,
        real.vocabulary.eos_ids,
        special_tokens=real.vocabulary.special_tokens,
        bpe=BPE(bpe.merges, None, bpe.whole_pieces),
    )
    with pytest.raises(tokenfst.canonical.storage.AutomatonFileError, match="encoder"):
        CanonicalAutomaton.load(tmp_path / "a.safetensors", changed)
    data = bytearray((tmp_path / "a.safetensors").read_bytes())
    data[-40:] = b"\x7f" * 40
    (tmp_path / "b.safetensors").write_bytes(bytes(data))
    with pytest.raises(tokenfst.canonical.storage.AutomatonFileError):
        CanonicalAutomaton.load(tmp_path / "b.safetensors", real.vocabulary)


def test_bitmasks_and_refusals() -> None:
    real = bundled()
    automaton = tokenfst.compile("[a-z ]+", real.vocabulary, tokenization="canonical")
    tokens = real.encode("hello there")
    state = automaton.advance(automaton.start, tokens[0])
    words = np.full(-(-len(real.vocabulary) // 32) + 2, -1, np.int32)
    automaton.fill_bitmask(state, words)
    bits = np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)
    assert np.array_equal(bits[: len(real.vocabulary)], automaton.mask(state))
    assert not bits[len(real.vocabulary) :].any()
    for token in np.flatnonzero(~automaton.mask(state)).tolist()[:50]:
        with pytest.raises(tokenfst.canonical.automaton.TokenNotAllowed):
            automaton.advance(state, token)
    assert automaton.mask(automaton.end_state).sum() == len(real.vocabulary.eos_ids)
    assert automaton.min_tokens(automaton.end_state) == 0
    with pytest.raises(ValueError, match="words"):
        automaton.fill_bitmask(state, words[:3])


def test_limits() -> None:
    with pytest.raises(LimitExceeded, match="states"):
        tokenfst.compile(ANYTHING, bundled().vocabulary, tokenization="canonical", limits=Limits(states=100))


# What is not modelled


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"\p{L}++|[\s\S]", "possessive"),
        (r"\p{L}+|\d", "escape"),
        (r"[a-z]+|[\s\S]", "range"),
        (r"a(?=b)|[\s\S]", "extension"),
        (r"a(?!b)c|[\s\S]", "not at the end"),
        (r"a*|[\s\S]", "may be empty"),
        (r"(a*)*b|[\s\S]", "may be empty"),
        (r"\p{Greek}|[\s\S]", "not a general category"),
        (r"^a|[\s\S]", "expected"),
        (r"\p{L}+| +", "leave out"),
        (r"a)|[\s\S]", "nothing opens"),
        (r"(a|[\s\S]", "nothing closes"),
    ],
)
def test_patterns_that_are_not_modelled(pattern: str, reason: str) -> None:
    with pytest.raises(UnsupportedTokenizer, match=reason):
        pieces(pattern)


def with_definition(**changes: object) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(files("decoding") / "model" / "tokenizer.json"))
    for name, value in changes.items():
        setattr(tokenizer, name, value)
    return tokenizer


def test_encoders_that_are_not_modelled() -> None:
    split = pre_tokenizers.Split(Regex(r"\s+"), "merged_with_next")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    added = with_definition()
    added.add_tokens(["added"])
    for tokenizer, reason in [
        (with_definition(normalizer=normalizers.NFC()), "normalizer NFC"),
        (with_definition(pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True)), "space before"),
        (with_definition(pre_tokenizer=pre_tokenizers.Sequence([split, byte_level])), "joins"),
        (with_definition(pre_tokenizer=pre_tokenizers.Whitespace()), "Whitespace"),
        (added, "added token 'added'"),
    ]:
        vocabulary = from_transformers(tokenizer, eos_ids=[0])
        assert isinstance(vocabulary.bpe, NotBPE)
        with pytest.raises(UnsupportedTokenizer, match=reason):
            tokenfst.compile("a", vocabulary, tokenization="canonical")
        tokenfst.compile("a", vocabulary)


def test_other_sources(tmp_path: Path) -> None:
    lines = b"".join(b"%s %d\n" % (__import__("base64").b64encode(bytes([byte])), byte) for byte in range(256))
    (tmp_path / "a.tiktoken").write_bytes(lines + b"YWI= 256\n")
    with pytest.raises(UnsupportedTokenizer, match="pass `pattern`"):
        tokenfst.compile("a", from_tiktoken(tmp_path / "a.tiktoken"), tokenization="canonical")
    vocabulary = from_tiktoken(tmp_path / "a.tiktoken", pattern=GPT2_PATTERN)
    automaton = tokenfst.compile("ab", vocabulary, tokenization="canonical")
    assert automaton.accepts([256])
    assert not automaton.accepts([97, 98])
    ending = from_tiktoken(tmp_path / "a.tiktoken", pattern=GPT2_PATTERN, eos_ids=[97])
    with pytest.raises(UnsupportedTokenizer, match="token 97 ends a sequence"):
        tokenfst.compile("b", ending, tokenization="canonical")
    with pytest.raises(ValueError, match="'any' or 'canonical'"):
        tokenfst.compile("a", vocabulary, tokenization="other")  # type: ignore[call-overload]

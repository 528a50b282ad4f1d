"""The start of a text: what decoders do there, the transducer with its two states, and automata that agree with both.

First the rule over vocabularies made up here, against the definition by OpenFst and by exhaustive search; then the
decoders themselves: every sequence of a few tokens is decoded by the library, and the automaton accepts exactly those
whose text is in the language.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import mistral_common
import numpy as np
import pytest
import sentencepiece
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from kinds import complete
from strategies import all_sparse, exprs, relabelled, up_to
from tokenizers import (
    BertWordPieceTokenizer,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import BertTokenizerFast, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import tokenfst
from automata import (
    ANY_TEXT,
    ByteAutomaton,
    Expr,
    Label,
    alternation,
    compile_expr,
    concat,
    difference,
    literal,
    parse,
    repeat,
)
from automata.errors import EmptyLanguage, VocabularyError
from automata.openfst import EPSILON, byte_of_symbol, to_arcs
from decoding import generate, vocabulary_of
from tokenfst import TokenAutomaton, Vocabulary, from_sentencepiece, from_transformers, load_vocabulary
from tokenfst.drawing import draw_detokenizer
from tokenfst.finite.compile import from_bytes
from tokenfst.reference import Reference
from tokenfst.vocabulary.detokenizer import ROOT, detokenizer
from tokenfst.vocabulary.text_start import TextStart

# The rule, by definition ----------------------------------------------------------------

TOKENS = (b" ", b"  ", b"a", b" a", b"ab", b" b", b"a b", b"#", b"#a", b"", b" ", b"\xc3", b" \xc3", b"\xa9")
ENDS = (9,)
RULES = {
    "space": TextStart(),
    "space, as SentencePiece": TextStart(exceptions={10: b" "}, ignored=frozenset({0})),
    "all spaces of a token": TextStart(exceptions={1: b"", 6: b"ab"}),
    "mark": TextStart(b"#"),
    "mark, with exceptions": TextStart(b"#", {2: b"a", 4: b"ab"}),
    "long mark": TextStart(b"##a"),
    "nothing but exceptions": TextStart(exceptions=dict(enumerate(TOKENS))),
    "ignored": TextStart(ignored=frozenset({0, 1, 9, 10})),
}


def check(constraint: str | Expr, vocabulary: Vocabulary, length: int = 3) -> None:
    """The fast path is the definition by OpenFst, and both accept what detokenizes to a text of the language."""
    byte_automaton = compile_expr(parse(constraint) if isinstance(constraint, str) else constraint)
    try:
        fast = complete(constraint, vocabulary, at_text_start=True)
    except EmptyLanguage:
        with pytest.raises(EmptyLanguage):
            Reference(byte_automaton, vocabulary, at_text_start=True)
        return
    reference = Reference(byte_automaton, vocabulary, at_text_start=True)
    pairs = {(fast.start, reference.start)}
    waiting = list(pairs)
    while waiting:
        state, by_definition = waiting.pop()
        allowed = set(np.flatnonzero(fast.mask(state)).tolist())
        assert allowed == reference.allowed(by_definition), (constraint, state)
        assert fast.is_final(state) == reference.is_final(by_definition), (constraint, state)
        for token in allowed - set(vocabulary.eos_ids):
            pair = fast.advance(state, token), reference.advance(by_definition, token)
            if pair not in pairs:
                pairs.add(pair)
                waiting.append(pair)
    assert {state for state, _ in pairs} == set(range(fast.num_states - 1)), constraint
    visible = [token for token, text in enumerate(vocabulary.tokens) if text]
    for sequence in sequences(visible, length):
        text = vocabulary.detokenize(sequence, at_text_start=True)
        assert fast.accepts(sequence) == byte_automaton.accepts(text), (constraint, sequence, text)


def sequences(tokens: Sequence[int], length: int) -> Iterable[tuple[int, ...]]:
    return (sequence for n in range(length + 1) for sequence in product(tokens, repeat=n))


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize(
    "pattern",
    [r"", r" *", r"a", r" a| b", r"#?a(b| b)?", r"(?: ?[ab])*", r"##a.*", r".*", r"é| é", r"[^ ].*", r"[^#]*", r"a b"],
)
def test_the_rule_is_its_definition(pattern: str, name: str) -> None:
    check(pattern, Vocabulary(TOKENS, ENDS, text_start=RULES[name]), length=2)


@st.composite
def beginnings(draw: st.DrawFn) -> Vocabulary:
    """Vocabularies of a few tokens with spaces, and any rule at all."""
    tokens = draw(st.lists(st.text(" aé", max_size=3).map(str.encode), min_size=1, max_size=6))
    ids = st.integers(0, len(tokens) - 1)
    exceptions = draw(st.dictionaries(ids, st.text(" a", max_size=2).map(str.encode), max_size=3))
    rule = TextStart(draw(st.sampled_from([b"", b"a", b" a"])), exceptions, draw(st.frozensets(ids, max_size=2)))
    return Vocabulary(tokens, text_start=rule)


@given(exprs(), beginnings())
def test_random_rules_are_their_definition(expr: Expr, vocabulary: Vocabulary) -> None:
    check(expr, vocabulary, length=2)


@given(exprs(), beginnings())
def test_large_automata_begin_texts_as_small_ones_do(expr: Expr, vocabulary: Vocabulary) -> None:
    with all_sparse():
        check(expr, vocabulary, length=1)


@given(st.sampled_from(up_to(3, atoms=("a", " ", "[^ ]"))), beginnings())
def test_small_patterns_under_random_rules_are_exact(pattern: str, vocabulary: Vocabulary) -> None:
    check(pattern, vocabulary)


class LabelledTexts:
    """The definition with labels, by search: where a sequence of tokens can lead, and whether the text has begun."""

    def __init__(self, automaton: ByteAutomaton, vocabulary: Vocabulary, sets: dict[str, set[int]]) -> None:
        assert vocabulary.text_start
        self.automaton, self.vocabulary, self.sets, self.rule = automaton, vocabulary, sets, vocabulary.text_start

    def step(self, place: tuple[int, bool], token_id: int) -> set[tuple[int, bool]]:
        state, begun = place
        token = self.vocabulary.tokens[token_id]
        begins = begun or (bool(token) and token_id not in self.rule.ignored)
        reached = {int(self.automaton.by_label[state, column]) for column in self._labels(token_id)}
        if token:
            reached.add(self.automaton.step(state, token if begun else self.rule.first(token_id, token)))
        return {(target, begins) for target in reached if target >= 0}

    def _labels(self, token_id: int) -> list[int]:
        return [column for column, name in enumerate(self.automaton.labels) if token_id in self.sets[name]]

    def accepts(self, sequence: Sequence[int]) -> bool:
        places = {(self.automaton.start, False)}
        for token_id in sequence:
            places = {target for place in places for target in self.step(place, token_id)}
        return any(self.automaton.final[state] for state, _ in places)


def check_labels(automaton: ByteAutomaton, vocabulary: Vocabulary, sets: dict[str, set[int]]) -> None:
    search, every = LabelledTexts(automaton, vocabulary, sets), range(len(vocabulary))
    matching = {sequence for sequence in sequences(every, 3) if search.accepts(sequence)}
    try:
        fast = from_bytes(automaton, vocabulary, at_text_start=True, terminals=sets)
    except EmptyLanguage:
        assert not matching
        return
    assert {sequence for sequence in sequences(every, 3) if fast.accepts(sequence)} == matching


@given(exprs(), beginnings(), st.data())
def test_labels_at_the_start_are_their_definition(expr: Expr, vocabulary: Vocabulary, data: st.DataObject) -> None:
    automaton = compile_expr(relabelled(expr))
    assume(not automaton.is_empty)
    ids = st.sampled_from(range(len(vocabulary)))
    check_labels(automaton, vocabulary, {name: data.draw(st.sets(ids, max_size=4)) for name in automaton.labels})


@pytest.mark.parametrize("rule", [TextStart(), TextStart(b"a", {3: b""}, frozenset({2})), TextStart(b"ab")], ids=str)
def test_labels_before_texts_are_their_definition(rule: TextStart) -> None:
    vocabulary = Vocabulary([b"", b" a", b" ", b"a", b"b"], text_start=rule)
    a, b, t, u = literal("a"), literal("b"), Label("t"), Label("u")
    for constraint in (
        concat(t, a),
        concat(t, u, alternation(a, concat(a, b))),
        concat(repeat(t, 0, None), repeat(alternation(a, b), 0, 2)),
        concat(t, literal(" a"), u),
        alternation(concat(t, a, b), concat(u, b), literal("ab")),
        concat(repeat(concat(t, u), 0, None), literal("ab")),
    ):
        for sets in ({"t": {0}, "u": {0}}, {"t": {0, 1, 2}, "u": {2, 3}}, {"t": {0, 4}, "u": {0, 2}}):
            automaton = compile_expr(constraint)
            check_labels(automaton, vocabulary, {name: sets[name] for name in automaton.labels})


def test_a_marker_leaves_the_text_to_begin() -> None:
    vocabulary = Vocabulary([b"", b" a", b"a"], special_tokens={"<t>": 0}, text_start=TextStart(b"#"))
    constraint = concat(Label("<t>"), literal("a"))
    automaton = complete(constraint, vocabulary, at_text_start=True)
    assert [sequence for sequence in sequences(range(3), 3) if automaton.accepts(sequence)] == [(0, 1)]
    assert automaton.text([0, 1]) == b"a"
    continued = complete(constraint, vocabulary)
    assert [sequence for sequence in sequences(range(3), 3) if continued.accepts(sequence)] == [(0, 2)]


def test_a_continued_text_knows_no_start() -> None:
    plain, ruled = Vocabulary(TOKENS, ENDS), Vocabulary(TOKENS, ENDS, text_start=TextStart(b"#"))
    for pattern in ("a", " a", "#a", ".*", ""):
        automata = [
            complete(pattern, plain),
            complete(pattern, plain, at_text_start=True),
            complete(pattern, ruled),
        ]
        for sequence in sequences(range(9), 3):
            assert len({automaton.accepts(sequence) for automaton in automata}) == 1
    assert plain.detokenize([3, 3], at_text_start=True) == ruled.detokenize([3, 3]) == b" a a"
    assert ruled.detokenize([9, 3, 3], at_text_start=True) == b"a a"
    assert ruled.detokenize([], at_text_start=True) == b""


def test_the_rule_belongs_to_the_digest() -> None:
    rules: list[TextStart | None] = [None, *RULES.values()]
    assert len({Vocabulary(TOKENS, ENDS, text_start=rule).digest for rule in rules}) == len(rules)
    again = TextStart(b"#", {4: b"ab", 2: b"a"})
    same = [Vocabulary(TOKENS, ENDS, text_start=rule).digest for rule in (again, RULES["mark, with exceptions"])]
    assert same[0] == same[1]


def test_rules_are_immutable_and_about_tokens_that_exist() -> None:
    exceptions = {1: b""}
    rule = TextStart(exceptions=exceptions)
    exceptions[2] = b"x"
    assert dict(rule.exceptions) == {1: b""}
    for wrong in (TextStart(exceptions={len(TOKENS): b""}), TextStart(ignored=frozenset({-1}))):
        with pytest.raises(VocabularyError, match="is outside the 14 tokens"):
            Vocabulary(TOKENS, text_start=wrong)


def test_automata_remember_where_they_begin(tmp_path: Path) -> None:
    vocabulary = Vocabulary(TOKENS, ENDS, text_start=RULES["space, as SentencePiece"])
    for at_text_start in (False, True):
        automaton = complete("a( b)?", vocabulary, at_text_start=at_text_start)
        automaton.save(tmp_path / "saved")
        for kept in (automaton, tokenfst.load_automaton(tmp_path / "saved", vocabulary)):
            assert kept.at_text_start == at_text_start
            assert kept.accepts([3, 5]) == at_text_start
            assert kept.text([3, 5]) == (b"a b" if at_text_start else b" a b")


def test_the_transducer_has_a_state_for_the_start() -> None:
    vocabulary = Vocabulary([b" ", b" ab", b"c"], text_start=TextStart(b"#", ignored=frozenset({0})))
    start, final, arcs = to_arcs(detokenizer(vocabulary, at_text_start=True))
    assert start != ROOT
    assert {state for state in range(len(final)) if final[state]} == {start, ROOT}
    paths = {
        (source, read, written if written == EPSILON else byte_of_symbol(written), target)
        for source, read, written, target in arcs.T.tolist()
    }
    assert (start, 0, EPSILON, start) in paths  # ignored
    assert (ROOT, 0, ord(" "), ROOT) in paths
    (after_a,) = (target for source, read, written, target in paths if (source, written) == (start, ord("a")))
    assert (after_a, 1, ord("b"), ROOT) in paths
    (after_mark,) = (target for source, read, written, target in paths if (source, written) == (start, ord("#")))
    assert (after_mark, 2, ord("c"), ROOT) in paths
    assert detokenizer(vocabulary).num_states() == 3
    assert detokenizer(vocabulary, at_text_start=True, compact=False).num_states() == 6
    assert "ε" in str(draw_detokenizer(vocabulary, at_text_start=True).dot)


# Decoders, by exhaustion ----------------------------------------------------------------

BYTES = ["<0x20>", "<0x61>", "<0xC3>", "<0xA9>"]
PIECES = ["▁", "▁▁", "a", "▁a", "a▁b", "▁b▁", *BYTES, "##a", "##", "##.", ".", " ", "<s>"]
SPACES = decoders.Replace("▁", " ")
DECODERS: dict[str, Any] = {
    "Llama 2": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
    "Gemma": decoders.Sequence([SPACES, decoders.ByteFallback(), decoders.Fuse()]),
    "strip of nothing": decoders.Sequence([SPACES, decoders.Fuse(), decoders.Strip(" ", 0, 0)]),
    "Metaspace always": decoders.Metaspace("▁", "always"),
    "Metaspace first": decoders.Metaspace("▁", "first"),
    "Metaspace never": decoders.Metaspace("▁", "never"),
    "Metaspace and bytes": decoders.Sequence([decoders.Metaspace(), decoders.ByteFallback(), decoders.Fuse()]),
    "ByteLevel": decoders.ByteLevel(),
    "WordPiece": decoders.WordPiece("##", cleanup=False),
    "WordPiece with clean-up": decoders.WordPiece("##", cleanup=True),
    "WordPiece of another mark": decoders.WordPiece("▁", cleanup=True),
    "WordPiece, then replaced": decoders.Sequence([decoders.WordPiece("##", cleanup=False), SPACES]),
}
# "a" and "b" with spaces, marks and stops anywhere; every text is one of a few of these.
PATTERNS = [
    r"",
    r" *",
    r"a",
    r" a",
    r"a b|a  b|é",
    r" ?(?:a ?b? ?)*",
    r"(?:##)?a.*",
    r"[^ ].*",
    r".*\.",
    r"[a .é]*",
    r".* ",
    r"(?:[^a]|a[^ ])*",
]


def check_decoder(vocabulary: Vocabulary, decode: Callable[[list[int]], str], tokens: list[int], length: int) -> None:
    """Every sequence of some tokens is accepted at the start of a text exactly if its decoding is in the language."""
    tokens = [token for token in tokens if vocabulary.tokens[token]]
    texts = {}
    for sequence in sequences(tokens, length):
        text, written = decode(list(sequence)), vocabulary.detokenize(sequence, at_text_start=True)
        if "\ufffd" in text:  # no text; each library shows broken characters in its own way
            with pytest.raises(UnicodeDecodeError):
                written.decode()
            continue
        texts[sequence] = text
        assert text == written.decode(), sequence
    for pattern in PATTERNS:
        matching = {sequence for sequence, text in texts.items() if re.fullmatch(pattern, text)}
        try:
            automaton = complete(pattern, vocabulary, at_text_start=True)
        except EmptyLanguage:
            assert not matching
            continue
        assert {sequence for sequence in texts if automaton.accepts(sequence)} == matching, pattern


@pytest.mark.parametrize("name", DECODERS)
def test_hugging_face_decoders_by_exhaustion(name: str) -> None:
    tokenizer = Tokenizer(models.BPE(vocab={piece: i for i, piece in enumerate(PIECES)}, merges=[]))
    tokenizer.decoder = DECODERS[name]
    tokenizer.add_special_tokens(["<s>"])
    vocabulary = from_transformers(tokenizer)
    check_decoder(vocabulary, tokenizer.decode, list(range(len(PIECES))), 3)
    # Special tokens in front are skipped, and the text has still to begin.
    begin = PIECES.index("<s>")
    for token in range(begin):
        ids = [begin, token, begin, token]
        if vocabulary.tokens[token] and "\ufffd" not in tokenizer.decode(ids):
            assert tokenizer.decode(ids) == vocabulary.detokenize(ids, at_text_start=True).decode()


SENTENCEPIECE_SETTINGS = {
    "defaults": {},
    "no dummy prefix": {"add_dummy_prefix": False},
    "spaces kept": {"remove_extra_whitespaces": False},
    "no rule": {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
}


def trained_sentencepiece(path: Path, texts: Iterable[str], **options: Any) -> Any:
    writer = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(texts),
        model_writer=writer,
        vocab_size=330,
        hard_vocab_limit=False,
        minloglevel=2,
        byte_fallback=True,
        **options,
    )
    path.write_bytes(writer.getvalue())
    return sentencepiece.SentencePieceProcessor(model_file=str(path))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("name", SENTENCEPIECE_SETTINGS)
def test_sentencepiece_by_exhaustion(tmp_path: Path, name: str, kind: str) -> None:
    symbols = ["▁▁", "a▁b", "▁b▁", "##a", "."]
    processor = trained_sentencepiece(
        tmp_path / "toy.model",
        ["a b", "ab a", "é a"] * 20,
        user_defined_symbols=symbols,
        model_type=kind,
        **SENTENCEPIECE_SETTINGS[name],
    )
    vocabulary = from_sentencepiece(tmp_path / "toy.model")
    assert (vocabulary.text_start is None) == (name == "no rule")
    pieces = [*symbols, "▁", "a", "▁a", *BYTES]
    known = [processor.piece_to_id(piece) for piece in pieces]
    assert processor.unk_id() not in known[:7]
    tokens = [token for token in known if token != processor.unk_id()]
    check_decoder(vocabulary, processor.decode, tokens, 3)
    # Control pieces in front do not count as the start.
    for token in tokens:
        assert processor.decode([1, token]) == processor.decode([token])
        if "\ufffd" not in processor.decode([token]):
            assert vocabulary.detokenize([1, token], at_text_start=True).decode() == processor.decode([1, token])


# Real vocabularies, by walks ------------------------------------------------------------


def walk(automaton: TokenAutomaton, choose: random.Random, limit: int = 40) -> list[int]:
    """Tokens that the masks allow, chosen at random, so that the text is complete within a limit."""
    state, tokens = automaton.start, list[int]()
    ends = set(automaton.vocabulary.eos_ids)
    while True:
        allowed = np.flatnonzero(automaton.mask(state)).tolist()
        if automaton.is_final(state) and (not set(allowed) - ends or choose.random() < 0.2):
            return tokens
        steps = [(token, automaton.advance(state, token)) for token in choose.choices(allowed, k=20)]
        steps += [(token, automaton.advance(state, token)) for token in allowed[:2000]] if len(tokens) > limit else []
        steps = [(token, target) for token, target in steps if token not in ends]
        if len(tokens) > limit:
            steps = [min(steps, key=lambda step: automaton.min_tokens(step[1]))]
        if steps:
            token, state = choose.choice(steps)
            tokens.append(token)


WALKED = [
    r"hello world",
    r"(?:red|green|blue)(?:, (?:red|green|blue))*\.",
    r"[A-Za-z ]{1,12}",
    r"\d{4}-\d\d-\d\d",
    r"  leading spaces| one|none|",
    r'"[^"\\]*"',
    r"\S.*",
    r" ?[éèü ]{2,6}",
]


def check_walks(vocabulary: Vocabulary, decode: Callable[[list[int]], str], patterns: Iterable[str]) -> None:
    for pattern in patterns:
        automaton = complete(pattern, vocabulary, at_text_start=True)
        for seed in range(8):
            tokens = walk(automaton, random.Random(seed))
            text = decode(tokens)
            assert re.fullmatch(pattern, text), (pattern, tokens, text)
            assert automaton.text(tokens).decode() == text
            assert automaton.accepts(tokens)


def check_encodings(vocabulary: Vocabulary, encode: Callable[[str], list[int]], texts: Iterable[str]) -> None:
    """What the encoder makes of a text is accepted for that text and for no other."""
    for text in texts:
        automaton = complete(literal(text), vocabulary, at_text_start=True)
        assert automaton.accepts(encode(text)), text
        other = complete(difference(ANY_TEXT, literal(text)), vocabulary, at_text_start=True)
        assert not other.accepts(encode(text)), text


SAMPLES = ["", "hello", " hello", "hello world", "héllo wörld €", "{\n}", '{"a": [1, 2]}', "a", "日本", ".", "x\ty"]


@pytest.mark.parametrize("name", ["tokenizer.model.v1", "mistral_instruct_tokenizer_241114.model.v7m1"])
def test_mistrals_sentencepieces_at_the_start_of_a_text(name: str) -> None:
    path = Path(mistral_common.__file__).parent / "data" / name
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    vocabulary = from_sentencepiece(path)
    check_encodings(vocabulary, processor.encode, SAMPLES)
    check_walks(vocabulary, processor.decode, WALKED)
    # The piece that begins a word is the natural first one; inside a text it would write its space.
    hello = processor.encode("hello world")
    assert complete("hello world", vocabulary, at_text_start=True).accepts(hello)
    assert not complete("hello world", vocabulary).accepts(hello)
    assert complete(" hello world", vocabulary).accepts(hello)


def llama_2() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = DECODERS["Llama 2"]
    trainer = trainers.BpeTrainer(vocab_size=300, show_progress=False)
    tokenizer.train_from_iterator(LETTERS * 4, trainer)
    return tokenizer


def t5() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    tokenizer.train_from_iterator(LETTERS * 4, trainer)
    return tokenizer


LETTERS = [
    "hello world, hello! red, green, blue. 1234567890",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ leading spaces one none",
    "abcdefghijklmnopqrstuvwxyz - \" ' éèü",
]


@pytest.mark.parametrize("make", [llama_2, t5])
def test_tokenizers_at_the_start_of_a_text(make: Callable[[], Tokenizer]) -> None:
    tokenizer = make()
    vocabulary = from_transformers(tokenizer)
    assert vocabulary.text_start
    check_encodings(vocabulary, lambda text: tokenizer.encode(text).ids, ["", "hello", "hello world", "red, green"])
    check_walks(vocabulary, tokenizer.decode, WALKED)


# WordPiece ------------------------------------------------------------------------------


def bert(cleanup: bool) -> Any:
    """BERT's tokenizer, trained on a few words, as transformers wraps it."""
    tokenizer = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    tokenizer.train_from_iterator(LETTERS * 4, vocab_size=220, min_frequency=1, show_progress=False)
    fast = BertTokenizerFast(vocab=tokenizer.get_vocab(), do_lower_case=False, strip_accents=False)
    fast.backend_tokenizer.decoder = decoders.WordPiece("##", cleanup)
    return fast


@pytest.mark.parametrize("cleanup", [False, True])
def test_berts_tokenizer_loads_and_goes_round(cleanup: bool) -> None:
    fast = bert(cleanup)
    vocabulary = from_transformers(fast, eos_ids=[fast.sep_token_id])
    rule = vocabulary.text_start
    assert rule is not None
    assert rule.prefix == b"##"
    assert {vocabulary.tokens[token] for token in rule.exceptions} == ({b".", b",", b"!"} if cleanup else set())
    assert vocabulary.tokens[fast.convert_tokens_to_ids("hello")] == b" hello"
    assert vocabulary.tokens[fast.convert_tokens_to_ids("##e")] == b"e"
    assert vocabulary.tokens[fast.convert_tokens_to_ids(".")] == (b"." if cleanup else b" .")
    assert {fast.unk_token, fast.cls_token, fast.mask_token} <= set(vocabulary.special_tokens)
    texts = ["hello", "hello world", "one", "unhelloed blue worlds", "1234", "é ü"]
    texts += ["hello, world! none."] if cleanup else ["hello , world ! none ."]
    encode = partial(fast.encode, add_special_tokens=False)
    assert [fast.decode(encode(text)) for text in texts] == texts
    check_encodings(vocabulary, encode, texts)
    with_ends = fast.encode("hello world")
    assert fast.decode(with_ends, skip_special_tokens=True) == "hello world"
    assert vocabulary.detokenize(with_ends, at_text_start=True) == b"hello world"


def test_berts_files_are_berts_tokenizer(tmp_path: Path) -> None:
    fast = bert(cleanup=True)
    expected = from_transformers(fast)
    pieces = sorted(fast.get_vocab(), key=fast.get_vocab().__getitem__)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces) + "\n", "utf-8")
    assert load_vocabulary(tmp_path).digest == expected.digest
    assert load_vocabulary(tmp_path / "vocab.txt").special_tokens == expected.special_tokens
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "[SEP]"}')
    assert load_vocabulary(tmp_path).eos_ids == (fast.sep_token_id,)
    fast.backend_tokenizer.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").unlink()
    assert load_vocabulary(tmp_path).digest == expected.digest


@pytest.mark.parametrize("cleanup", [False, True])
def test_what_berts_tokenizer_is_let_write_it_decodes_to(cleanup: bool) -> None:
    fast = bert(cleanup)
    colors = WALKED[1] if cleanup else r"(?:red|green|blue)(?: , (?:red|green|blue))* \."
    patterns = [r"hello world", colors, r"[A-Za-z ]{1,12}", r"\d{4}", r"one|none|", r'" [^"\\ ]* "', r"##a.*", r"\S.*"]
    check_walks(from_transformers(fast), fast.decode, patterns)


@pytest.mark.parametrize(("cleanup", "text"), [(True, r"hello \.|hello  world| hello"), (False, r'"a"|hello,|hello\.')])
def test_what_word_pieces_cannot_write_is_empty(cleanup: bool, text: str) -> None:
    vocabulary = from_transformers(bert(cleanup))
    with pytest.raises(EmptyLanguage):
        complete(text, vocabulary, at_text_start=True)


def test_clean_up_replaces_what_the_decoder_replaces() -> None:
    """Every pair of its rules in one piece; the loader compares each with the decoder."""
    ends = [".", "?", "!", ",", "' ", "n't", "'m", "do not", "'s", "'ve", "'re"]
    pieces = [f"a {left} {right}b" for left, right in product(ends, repeat=2)]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(["x", *pieces])}, unk_token="x"))
    tokenizer.decoder = decoders.WordPiece("##", cleanup=True)
    tokens = from_transformers(tokenizer).tokens
    assert tokens[pieces.index("a . do notb") + 1] == b" a. don'tb"
    tokenizer.decoder = decoders.WordPiece("##", cleanup=False)
    assert from_transformers(tokenizer).tokens[1:] == tuple(f" {piece}".encode() for piece in pieces)


# The loop -------------------------------------------------------------------------------


def test_generate_writes_texts_of_their_own_or_continues_a_prompt() -> None:
    tokenizer = llama_2()
    tokenizer.add_special_tokens(["</s>"])
    fast: Any = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="</s>")
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(fast), hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2
    )
    model = LlamaForCausalLM(config).eval()
    vocabulary, pattern = vocabulary_of(fast), r" ?[a-z]{1,9}"
    # A piece that begins a word, as models prefer for the first.
    token = next(token for token, text in enumerate(vocabulary.tokens) if re.fullmatch(rb" [a-z]+", text))
    options: dict[str, Any] = {"max_new_tokens": 12, "temperature": 0, "sequence_bias": {(token,): 50.0}}
    for at_text_start in (False, True):
        automaton = complete(pattern, vocabulary, at_text_start=at_text_start)
        for constraint in (pattern, automaton):
            texts = generate(model, fast, ["", "hello"], constraint, at_text_start=at_text_start, **options)
            assert all(re.fullmatch(pattern, text) for text in texts), texts
            word = vocabulary.tokens[token].decode()
            assert all(text.startswith(word[1:] if at_text_start else word) for text in texts), texts
    with pytest.raises(ValueError, match="compile it with at_text_start"):
        generate(model, fast, "", complete(pattern, vocabulary), at_text_start=True)

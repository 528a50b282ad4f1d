"""Trees and their masks, drafts, and the loop with the bundled model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kinds import complete
from toy_models import LETTERS, PROMPT, Table

import tokenfst
from automata import IncompleteOutput, VocabularyError
from constraints import grammar, json_schema
from decoding import Speculation, bundled_model, generate, vocabulary_of
from decoding.sampling import Sampling
from decoding.speculation import (
    ROOT,
    CachedModel,
    CountModel,
    DraftModel,
    ForcedText,
    ForcedTokens,
    Proposer,
    Statistics,
    Text,
    Tree,
    Written,
    decode_speculatively,
    tree_masks,
)
from tokenfst import Vocabulary
from tokenfst.token_automaton import TokenAutomaton

MODEL, TOKENIZER = bundled_model()
VOCABULARY = vocabulary_of(TOKENIZER)
RECORD = json_schema(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 30},
            "age": {"type": "integer", "minimum": 0, "maximum": 120},
            "country": {"enum": ["Germany", "France", "Spain"]},
            "is_member": {"type": "boolean"},
            "joined": {"type": "string", "format": "date"},
        },
        "required": ["name", "age", "country", "is_member", "joined"],
        "additionalProperties": False,
    }
)
AUTOMATA: dict[str, TokenAutomaton] = {
    "tokens": complete("(ab|b)*(a|cc)b?", LETTERS),
    "counted": tokenfst.compile("a[a-c]{0,5000}b", LETTERS),
    "stack": complete(grammar("root ::= 'a' root 'b' | 'c'".replace("'", '"')), LETTERS),
    "lazy": tokenfst.compile("(ab|b)*(a|cc)b?", LETTERS),
    "canonical": tokenfst.compile('"[a-z ]*": [0-9]+', VOCABULARY, tokenization="canonical"),
}


def encode(text: str) -> list[int]:
    found: list[int] = TOKENIZER(text)["input_ids"]
    return found


def prompt(text: str) -> list[int]:
    return encode(text)


# Trees


@settings(max_examples=40)
@given(st.sampled_from(sorted(AUTOMATA)), st.data())
def test_masks_of_a_tree_are_those_of_each_way_down(name: str, data: st.DataObject) -> None:
    automaton, tokens, parents = AUTOMATA[name], list[int](), list[int]()
    for index in range(data.draw(st.integers(0, 8))):
        parents.append(data.draw(st.integers(-1, index - 1)))
        tokens.append(data.draw(st.sampled_from(near(automaton, way(tokens, parents, parents[-1])))))
    remaining = data.draw(st.none() | st.integers(automaton.min_tokens(automaton.start), 12))
    masks = tree_masks(automaton, automaton.start, tokens, parents, remaining)
    assert masks.shape == (len(tokens) + 1, -(-len(automaton.vocabulary) // 32))
    for place in range(-1, len(tokens)):
        bits = np.unpackbits(masks[place + 1].view(np.uint8), bitorder="little")[: len(automaton.vocabulary)]
        assert np.flatnonzero(bits).tolist() == allowed(automaton, way(tokens, parents, place), remaining)


def way(tokens: Sequence[int], parents: Sequence[int], place: int) -> list[int]:
    found = list[int]()
    while place != ROOT:
        found.insert(0, tokens[place])
        place = parents[place]
    return found


def allowed(automaton: TokenAutomaton, tokens: Sequence[int], remaining: int | None) -> list[int]:
    """What may come after tokens: none if they may not be written themselves."""
    state = automaton.start
    for index, token in enumerate([*tokens, None]):
        left = None if remaining is None else remaining - index
        mask = automaton.mask(state, left)
        if token is None:
            found: list[int] = np.flatnonzero(mask).tolist()
            return found
        if not mask[token] or token in automaton.vocabulary.eos_ids:
            return []
        state = automaton.advance(state, token)
    raise AssertionError


def near(automaton: TokenAutomaton, tokens: Sequence[int]) -> list[int]:
    """Tokens that are allowed after others, and one that need not be."""
    return [*allowed(automaton, tokens, None)[:5], 3, *automaton.vocabulary.eos_ids[:1]]


def test_masks_of_a_tree_name_a_parent_that_comes_too_late() -> None:
    with pytest.raises(ValueError, match="token 1 comes after token 1"):
        tree_masks(AUTOMATA["tokens"], AUTOMATA["tokens"].start, [1, 1], [-1, 1])


def test_masks_are_made_once_for_the_draft_and_the_target() -> None:
    automaton = AUTOMATA["tokens"]
    draft = DraftModel(Table(seed=2), (2, 1))
    result = decode_speculatively(Table(seed=4), [PROMPT], automaton, [draft], sampling=Sampling(seed=1))
    plain = decode_speculatively(Table(seed=4), [PROMPT], automaton, sampling=Sampling(seed=1))
    places = result.statistics.proposed + result.statistics.rounds
    assert plain.statistics.masks == plain.statistics.tokens
    # One for each place where something may come, which an end token is not.
    assert result.statistics.masks <= places


# The loop with the bundled model


@pytest.fixture(scope="module")
def record() -> TokenAutomaton:
    return tokenfst.compile(RECORD, VOCABULARY)


@pytest.fixture(scope="module")
def plain_greedy(record: TokenAutomaton) -> list[tuple[str, Written]]:
    greedy = Sampling(temperature=0)
    return [
        (text, decode_speculatively(MODEL, [prompt(text)], record, sampling=greedy, max_new_tokens=90))
        for text in PROMPTS[:2]
    ]


PROMPTS = ["A person:\n", "Record: ", "Member: ", "JSON:\n", "The customer as JSON: ", "A user of the shop: "]


def total(results: Sequence[Written]) -> Statistics:
    names = Statistics.__dataclass_fields__
    return Statistics(*[sum(getattr(result.statistics, name) for result in results) for name in names])


@pytest.mark.parametrize("name", ["forced", "counts", "draft", "draft tree", "all"])
def test_greedy_texts_are_the_plain_ones_token_by_token(
    name: str, record: TokenAutomaton, plain_greedy: list[tuple[str, Written]]
) -> None:
    greedy = Sampling(temperature=0)
    proposers: dict[str, list[Proposer]] = {
        "forced": [ForcedTokens(), ForcedText(encode)],
        "counts": [CountModel(record, threshold=0.3)],
        # The model is its own draft: whatever it proposes is right.
        "draft": [DraftModel(CachedModel(MODEL), (1,) * 5)],
        "draft tree": [DraftModel(CachedModel(MODEL), (2, 2, 1))],
        "all": [ForcedTokens(), CountModel(record), ForcedText(encode), DraftModel(CachedModel(MODEL))],
    }
    results = []
    for text, plain in plain_greedy:
        result = decode_speculatively(
            MODEL, [prompt(text)], record, proposers[name], sampling=greedy, max_new_tokens=90
        )
        assert result.tokens == plain.tokens
        results.append(result)
    statistics = total(results)
    assert statistics.forwards < statistics.tokens
    if name == "draft":
        assert statistics.forwards < statistics.tokens / 4


def test_texts_written_together_are_those_written_alone(record: TokenAutomaton) -> None:
    automata = [record, tokenfst.compile("[A-Z][a-z]+ [A-Z][a-z]+", VOCABULARY), record]
    each = [Sampling(temperature=0), Sampling(temperature=0.6, seed=3), Sampling(temperature=0.8, top_k=20, seed=4)]
    prompts = [prompt(text) for text in ("A person:\n", "Name: ", "The record of a member of the club, as JSON: ")]
    counts = CountModel(record, threshold=0.2)
    together = decode_speculatively(
        MODEL, prompts, automata, [ForcedTokens(), counts, ForcedText(encode)], sampling=each
    )
    for row in range(3):
        alone = decode_speculatively(MODEL, [prompts[row]], automata[row], sampling=each[row])
        assert alone.tokens[0] == together.tokens[row]
    assert together.statistics.forwards < max(map(len, together.tokens))


def test_forward_passes_are_at_least_halved_on_records(record: TokenAutomaton) -> None:
    def write(text: str, seed: int, *proposers: Proposer) -> Written:
        sampling = Sampling(temperature=0.5, seed=seed)
        return decode_speculatively(MODEL, [prompt(text)], record, proposers, sampling=sampling, max_new_tokens=100)

    counts = CountModel(record, threshold=0.2)
    counts.learn([write(text, seed).tokens[0] for seed, text in enumerate(PROMPTS)])
    proposers = ForcedTokens(), counts, ForcedText(encode)
    plain = [write(text, 100 + seed) for seed, text in enumerate(PROMPTS)]
    fast = [write(text, 100 + seed, *proposers) for seed, text in enumerate(PROMPTS)]
    assert [result.tokens for result in fast] == [result.tokens for result in plain]
    assert total(plain).forwards == total(plain).tokens
    assert total(fast).forwards < 0.45 * total(plain).forwards


def test_forced_text_that_is_not_verified_is_written_as_the_encoder_cuts_it() -> None:
    automaton = tokenfst.compile("Dear (Sir|Madam), we thank you for your letter of [0-9]{4}-[0-9]{2}", VOCABULARY)
    sampling = Sampling(seed=1, temperature=2.0)
    proposers: list[Proposer] = [ForcedTokens(), ForcedText(encode, verified=False)]
    result = decode_speculatively(MODEL, [prompt("Letter:\n")], automaton, proposers, sampling=sampling)
    (tokens,) = result.tokens
    middle = encode(", we thank you for your letter of")
    assert any(tokens[place : place + len(middle)] == middle for place in range(len(tokens)))
    assert result.statistics.certain >= len(middle)
    assert result.statistics.forwards <= len(tokens) - len(middle)
    assert automaton.accepts(tokens)


@pytest.mark.parametrize("name", ["tokens", "counted", "stack", "lazy"])
@pytest.mark.parametrize("opportunistic", [False, True])
def test_texts_are_complete_within_any_limit(name: str, opportunistic: bool) -> None:
    automaton = AUTOMATA[name]
    least = automaton.min_tokens(automaton.start)
    for limit in range(least, least + 8):
        for seed in range(3):
            proposers: list[Proposer] = [
                ForcedTokens(),
                CountModel(automaton, threshold=0.1),
                DraftModel(Table(seed=9), (2, 1)),
            ]
            result = decode_speculatively(
                Table(seed=seed),
                [PROMPT] * 4,
                automaton,
                proposers,
                sampling=[Sampling(temperature=3, seed=number) for number in range(4)],
                max_new_tokens=limit,
                opportunistic=opportunistic,
            )
            assert all(len(tokens) <= limit and automaton.accepts(tokens) for tokens in result.tokens)
            assert all(tokens[-1] in LETTERS.eos_ids for tokens in result.tokens)
            assert result.texts == [LETTERS.detokenize(tokens) for tokens in result.tokens]


def test_forced_text_that_is_not_verified_heeds_the_limit() -> None:
    """The encoder may take more tokens for a text than the limit leaves."""

    def by_letters(text: str) -> list[int]:
        return [LETTERS.tokens.index(letter.encode()) for letter in text]

    for pattern in ["ababab", "abab(c|a)", "(ab)*cab"]:
        automaton = tokenfst.compile(pattern, LETTERS)
        least = automaton.min_tokens(automaton.start)
        for limit in range(least, least + 4):
            result = decode_speculatively(
                Table(seed=2),
                [PROMPT],
                automaton,
                [ForcedText(by_letters, verified=False)],
                sampling=Sampling(seed=1),
                max_new_tokens=limit,
            )
            (tokens,) = result.tokens
            assert len(tokens) <= limit
            assert automaton.accepts(tokens)
            assert tokens[-1] in LETTERS.eos_ids


@pytest.mark.parametrize("seed", [1048099, 16528811])  # draws that float32 rounds to 1
def test_what_is_drawn_for_certain_is_never_refused(seed: int) -> None:
    automaton = tokenfst.compile("yes", VOCABULARY, tokenization="canonical")
    drafts = Speculation(draft_model=MODEL, draft_widths=(1,))
    assert generate(MODEL, TOKENIZER, "Say: ", automaton, max_new_tokens=8, seed=[seed], speculation=drafts) == ["yes"]


def test_what_is_forced_to_the_end_takes_no_forward_pass() -> None:
    vocabulary = Vocabulary([b"a", b"b", b""], eos_ids=[2])
    automaton = tokenfst.compile("abba", vocabulary)
    result = decode_speculatively(Table(seed=0), [[0, 1]], automaton, [ForcedTokens()])
    assert (result.texts, result.statistics.forwards, result.statistics.certain) == ([b"abba"], 0, 5)


def test_what_cannot_be_written_is_an_error_before_the_first_token() -> None:
    automaton = AUTOMATA["tokens"]
    with pytest.raises(IncompleteOutput, match="at least 2 tokens, and the limit is 1"):
        decode_speculatively(Table(seed=0), [PROMPT], automaton, max_new_tokens=1)
    with pytest.raises(ValueError, match="has no tokens"):
        decode_speculatively(Table(seed=0), [PROMPT, []], automaton)
    with pytest.raises(ValueError, match="2 prompts, 1 automata and 2 settings"):
        decode_speculatively(Table(seed=0), [PROMPT] * 2, [automaton])
    with pytest.raises(VocabularyError, match="no end-of-sequence token"):
        decode_speculatively(Table(seed=0), [PROMPT], tokenfst.compile("a", Vocabulary([b"a"])))


# Drafts


def test_widths_are_the_tokens_after_each_place() -> None:
    automaton = tokenfst.compile("[abc]*", LETTERS)
    tree = Tree(automaton, automaton.start, Text(PROMPT, len(PROMPT)))
    draft = DraftModel(Table(seed=0), (3, 1))
    draft.propose([tree])
    assert tree.parents == [ROOT] * 3
    draft.propose([tree])
    assert tree.parents == [ROOT] * 3 + [0, 1, 2]


def test_widths_that_make_no_sense_are_refused() -> None:
    for widths in ((), (1, 0)):
        with pytest.raises(ValueError, match="widths"):
            DraftModel(Table(seed=0), widths)

"""Where tags end, and which trigger counts: examples, and random forms beside XGrammar.

The random forms leave out what XGrammar 0.2.8 itself confuses: several sets of excluded tokens in one form, repetitions
of such sets with bounds, and tokens that may stand for their text and for any token at once. They also leave out tags
within tags that end with the empty text, which differ (docs/from-xgrammar.md).
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
import xgrammar
from test_serving_tags import ANY, AROUND, CALL, END, ONE, OTHER, A, compiled

from tokenfst.token_automaton import TokenAutomaton


def tag_of(content: Any, end: Any = "1", begin: Any = "") -> Any:
    return {"type": "tag", "begin": begin, "content": content, "end": end}


def sequence_of(*elements: Any) -> Any:
    return {"type": "sequence", "elements": elements}


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        (tag_of(ANY), ["1", "ab1"], ["", "ab", "11", "a1b1"]),
        (tag_of(ANY, ["b", "1"]), ["b", "a1"], ["bb", "b1", "1b"]),
        (tag_of(ANY, "aa"), ["aa", "baa", "aaa"], ["aaaa", "aabaa"]),
        (tag_of({**ANY, "excludes": ["b"]}), ["1", "a1"], ["b1", "11"]),
        (sequence_of(tag_of(ANY), A), ["1a", "b1a"], ["b1a1a", "1ba"]),
        (tag_of(sequence_of(A, ANY)), ["a1", "ab1"], ["1", "a11"]),
        (tag_of(sequence_of(ANY, A)), ["a1", "ba1"], ["1", "1a1"]),
        (tag_of(sequence_of(AROUND, A), "aa"), ["aaa", "b1aaaa"], ["aaaaa", "b1aaaaaa"]),
        (tag_of({"type": "or", "elements": [A, ANY]}), ["a1", "b1"], ["b11"]),
        (tag_of({"type": "optional", "content": ANY}), ["1", "b1"], ["b11"]),
        (tag_of(AROUND, "aa"), ["aa", "ab1aaa", "b1aaa"], ["aaaa", "b1aaaaa", "baa"]),
        (tag_of({**AROUND, "stop_after_first": True}, "aa"), ["aa", "b1aaa"], ["aaaa", "b1abaa"]),
        # An end that a trigger ends.
        (tag_of(AROUND, "ab"), ["ab", "b1aab", "1b1aab"], ["ab1aab", "bb1aab"]),
        # Where the inner tag ends without a text, the outer one ends it.
        (tag_of(tag_of(ANY, "", "a")), ["a1", "ab1"], ["a11"]),
        (tag_of(tag_of(ANY, "b")), ["b1", "1b1"], ["b1b1"]),
    ],
)
def test_free_text_in_a_tag_is_over_at_its_end(form: Any, right: list[str], wrong: list[str]) -> None:
    automaton = compiled(form)
    assert [automaton.accepts(text) for text in [*right, *wrong]] == [True] * len(right) + [False] * len(wrong)


def followed(content: Any) -> Any:
    """A tag between two tokens, and a text after it."""
    return sequence_of(tag_of(content, {"token": OTHER}, {"token": CALL}), A)


TOKENS = {"type": "any_tokens"}


@pytest.mark.parametrize(
    ("form", "right", "wrong"),
    [
        (followed(TOKENS), [CALL, 1, OTHER, 0], [CALL, 1, OTHER, 1, OTHER, 0]),
        (followed({**TOKENS, "exclude_tokens": [1]}), [CALL, 0, OTHER, 0], [CALL, 1, OTHER, 0]),
        (followed({"type": "exclude_token"}), [CALL, CALL, OTHER, 0], [CALL, OTHER, OTHER, 0]),
        (followed({"type": "star", "content": TOKENS}), [CALL, 1, OTHER, 0], [CALL, OTHER, OTHER, 0]),
        (followed(sequence_of(TOKENS, A)), [CALL, 1, 0, OTHER, 0], [CALL, OTHER, 0, OTHER, 0]),
        (followed(ANY), [CALL, 1, OTHER, 0], [CALL, 1, OTHER, 1, OTHER, 0]),
        # Where the inner tag ends without a text, the token ends it.
        (followed(tag_of(TOKENS, "", "a")), [CALL, 0, 1, OTHER, 0], [CALL, 0, OTHER, 1, OTHER, 0]),
        # Where it ends with one, only that ends it.
        (followed(tag_of(TOKENS, "1", "a")), [CALL, 0, OTHER, 2, OTHER, 0], [CALL, 0, OTHER, 0]),
    ],
)
def test_any_tokens_in_a_tag_are_over_at_its_end(form: Any, right: list[int], wrong: list[int]) -> None:
    automaton = compiled(form)
    assert automaton.accepts(right)
    assert not automaton.accepts(wrong)


def test_an_end_token_beside_tokens_of_other_names_is_refused() -> None:
    message = r"exclude_tokens and the end token of the tag around it are numbers .* not \['<call>', 4\]"
    with pytest.raises(ValueError, match=message):
        compiled(followed({**TOKENS, "exclude_tokens": ["<call>"]}))


def test_of_triggers_that_end_together_the_longest_counts() -> None:
    tags = [tag_of(ONE, "", "ba"), tag_of(A, "", "abb")]
    for options in ({}, {"stop_after_first": True}):
        automaton = compiled({"type": "triggered_tags", "triggers": ["b", "ab"], "tags": tags, **options})
        texts = ("ba1", "1ba1", "abba", "1abba", "aba1")
        assert [automaton.accepts(text) for text in texts] == [True, True, True, True, False]


def test_what_may_not_occur_does_not_occur_with_a_trigger_either() -> None:
    form = {**AROUND, "stop_after_first": True, "excludes": ["ab"]}
    automaton = compiled(form)
    assert automaton.accepts("bb1a") is False
    assert [automaton.accepts(text) for text in ("b1a", "1b1a", "ab1a", "aab1a")] == [True, True, False, False]


# Beside XGrammar


# XGrammar finds tokens by the texts they write, and two of these write texts that no form here contains.
COMPILER = xgrammar.GrammarCompiler(
    xgrammar.TokenizerInfo([b"a", b"b", b"1", b"<call>", b"<other>", b""], stop_token_ids=[END]), max_threads=1
)
LENGTH = 5
Texts = set[tuple[int, ...]]


def ours(automaton: TokenAutomaton, state: int, high: int, *tokens: int) -> Texts:
    """The sequences of tokens less than `high`, up to `LENGTH` of them, that are allowed."""
    found = {tokens} if automaton.is_final(state) else set()
    if len(tokens) < LENGTH:
        for token in automaton.mask(state)[:high].nonzero()[0].tolist():
            found |= ours(automaton, automaton.advance(state, token), high, *tokens, token)
    return found


def theirs(matcher: xgrammar.GrammarMatcher, high: int, *tokens: int) -> Texts:
    found = {tokens} if matcher.is_completed() else set()
    for token in range(high if len(tokens) < LENGTH else 0):
        if matcher.accept_token(token):
            found |= theirs(matcher, high, *tokens, token)
            matcher.rollback(1)
    return found


def compare(form: Any, high: int) -> bool:
    """Whether XGrammar takes a form; if it does, both allow the same."""
    text = json.dumps({"type": "structural_tag", "format": form})
    try:
        grammar = COMPILER.compile_structural_tag(text)
    except RuntimeError:
        return False
    automaton = compiled(form)
    assert ours(automaton, automaton.start, high) == theirs(xgrammar.GrammarMatcher(grammar), high), text
    return True


def word(draw: Random) -> str:
    return "".join(draw.choices("ab1", k=draw.randint(1, 2)))


def nested(draw: Random, depth: int, leaves: list[Any]) -> Any:
    """A sequence, alternatives or repetitions of some leaves."""
    kind = draw.choice(["leaf", "sequence", "or", "optional", "star", "plus"]) if depth else "leaf"
    if kind == "leaf":
        return draw.choice(leaves)
    if kind in ("sequence", "or"):
        return {"type": kind, "elements": [nested(draw, depth - 1, leaves) for _ in range(draw.randint(1, 3))]}
    return {"type": kind, "content": nested(draw, depth - 1, leaves)}


def text(draw: Random) -> Any:
    return {"type": "const_string", "value": word(draw)}


def triggered_tags(draw: Random) -> Any:
    tags = [tag_of(text(draw), word(draw), word(draw)) for _ in range(2)]
    triggers = {each["begin"][: draw.randint(1, 2)] for each in tags}
    options = {name: draw.random() < 0.5 for name in ("stop_after_first", "at_least_one")}
    excludes = [word(draw)] if draw.random() < 0.3 else []
    return {"type": "triggered_tags", "triggers": sorted(triggers), "tags": tags, "excludes": excludes, **options}


def text_leaves(draw: Random) -> list[Any]:
    return [
        ANY,
        {**ANY, "excludes": [word(draw)]},
        text(draw),
        {"type": "regex", "pattern": draw.choice(["a*", "[ab]", "b?"])},
        triggered_tags(draw),
    ]


def test_tags_that_end_with_texts() -> None:
    """Followed by a text, so that a tag that goes on after its end is found."""
    compared = 0
    for seed in range(150):
        draw = Random(seed)
        inner = tag_of(nested(draw, 1, text_leaves(draw)), word(draw), word(draw))
        ends = [word(draw) for _ in range(draw.randint(1, 2))]
        outer = tag_of(nested(draw, 2, [*text_leaves(draw), inner]), ends, "a")
        compared += compare(sequence_of(outer, text(draw)), CALL)
    assert compared > 120


def test_triggers_that_end_at_the_same_place() -> None:
    compared = 0
    for seed in range(150):
        form = triggered_tags(Random(seed))
        compared += compare(form, CALL) + compare(tag_of(form, word(Random(seed)), "a"), CALL)
    assert compared > 220


@pytest.mark.parametrize("named", [False, True])
def test_tags_that_end_with_tokens(named: bool) -> None:
    x, y = ({"type": "token", "token": each} for each in (("<call>", "<other>") if named else (CALL, OTHER)))
    for seed in range(100):
        draw = Random(seed)
        end = draw.choice([x, y])
        excluded = draw.choice([[], [end["token"]]])
        leaves = [{"type": kind, "exclude_tokens": excluded} for kind in ("any_tokens", "exclude_token")]
        outer = tag_of(nested(draw, 2, [*leaves, x]), end, draw.choice([x, y]))
        assert compare(sequence_of(outer, A), END)

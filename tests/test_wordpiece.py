"""WordPiece: what BERT's tokenizer writes and reads."""

from __future__ import annotations

from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from kinds import complete
from text_start_cases import LETTERS, WALKED, check_encodings, check_walks
from tokenizers import (
    BertWordPieceTokenizer,
    Tokenizer,
    decoders,
    models,
)
from transformers import BertTokenizer

from automata.errors import EmptyLanguage
from tokenfst import from_transformers, load_vocabulary


def bert(cleanup: bool) -> Any:
    """BERT's tokenizer, trained on a few words, as transformers wraps it."""
    tokenizer = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    tokenizer.train_from_iterator(LETTERS * 4, vocab_size=220, min_frequency=1, show_progress=False)
    fast = BertTokenizer(vocab=tokenizer.get_vocab(), do_lower_case=False, strip_accents=False)
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

"""Load vocabularies from tokenizers and their files; one module per format.

    huggingface.py     from_transformers    a fast tokenizer of transformers, or a tokenizers.Tokenizer
    tiktoken.py        from_tiktoken        a .tiktoken file of ranks, or a tiktoken.Encoding
    sentencepiece.py   from_sentencepiece   a SentencePiece .model file
    tekken.py          from_tekken          Mistral's tekken.json
    files.py           load_vocabulary      any of these files, recognized by its content
    byte_level.py      the encoder of a byte-level BPE, for canonical tokenization
    common.py          assembling a vocabulary, and comparing it with the decoder

Every loader determines two things: the bytes that each token adds to earlier text, and how the start of a text differs
(`Vocabulary.text_start`). Both have to be exact, because a token automaton guarantees that the tokens it allows decode
to texts of its language. A tokenizer whose decoder does more than concatenate the bytes of tokens is refused with
`UnsupportedTokenizer` and the reason; nothing is approximated. Tokens that write nothing (special, unknown, unused and
padding tokens, and ids without a token) become `b""`.

Every loader takes `eos_ids`, one end-of-sequence id or several, as in the generation configuration of a chat model.
Given ids replace those of the source. By default the source's own are used.

A loader imports the library that it needs when it is called.
"""

from tokenfst.loaders.files import load_vocabulary
from tokenfst.loaders.huggingface import from_transformers
from tokenfst.loaders.sentencepiece import from_sentencepiece
from tokenfst.loaders.tekken import from_tekken
from tokenfst.loaders.tiktoken import from_tiktoken

__all__ = ["from_sentencepiece", "from_tekken", "from_tiktoken", "from_transformers", "load_vocabulary"]

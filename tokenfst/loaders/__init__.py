"""Vocabularies from the formats that tokenizers are kept in, one file per source.

    huggingface.py     from_transformers    a fast tokenizer of transformers, or a tokenizers.Tokenizer
    tiktoken.py        from_tiktoken        a .tiktoken file of ranks, or a tiktoken.Encoding
    sentencepiece.py   from_sentencepiece   a SentencePiece .model file
    tekken.py          from_tekken          Mistral's tekken.json
    files.py           load                 any of these files, recognised by what is in it

Every loader answers two questions: which bytes does this token add to a text that has begun, and what is
different at the start of a text (`Vocabulary.text_start`)? The answers have to be exact, because a token
automaton promises that what it allows is what the decoder will write. So a tokenizer whose decoder does
more than write tokens side by side is refused with `UnsupportedTokenizer` and the reason; nothing is
approximated. Tokens that write nothing (special, unknown, unused, padding, holes
between ids) become `b""`.

Every loader takes `eos_ids`. Several end-of-sequence ids are one end, as in the generation configurations
of chat models. When given, they are the ids, all of them; when left out, the source's own is used, if it
has one.

The libraries that a source needs are imported when its loader is called, not before.
"""

from tokenfst.loaders.files import load_vocabulary
from tokenfst.loaders.huggingface import from_transformers
from tokenfst.loaders.sentencepiece import from_sentencepiece
from tokenfst.loaders.tekken import from_tekken
from tokenfst.loaders.tiktoken import from_tiktoken

__all__ = ["from_sentencepiece", "from_tekken", "from_tiktoken", "from_transformers", "load_vocabulary"]

"""Vocabularies: the bytes of each token, and how a tokenizer encodes and decodes them.

    vocabulary    Vocabulary: tokens as bytes, sorted into tries
    byte_decoder  ByteDecoder: how a decoder changes the bytes of tokens, as a transducer
    text_start    TextStart: how a decoder treats the start of a text differently
    bpe           BPE: how the encoder cuts a text, for canonical tokenization
    token_ids     sets of tokens by number or by exclusion
    names         readable names of tokens, for tables of symbols
    detokenizer   the transducer from tokens to bytes, for OpenFst
    all_bytes     the vocabulary whose tokens are single bytes
    arguments     checks of the arguments of Vocabulary

`tokenfst.loaders` reads vocabularies from tokenizers and files.
"""

from tokenfst.vocabulary.bpe import BPE, NotBPE
from tokenfst.vocabulary.text_start import TextStart
from tokenfst.vocabulary.vocabulary import Vocabulary

__all__ = ["BPE", "NotBPE", "TextStart", "Vocabulary"]

"""ALL_BYTES: the vocabulary whose tokens are single bytes, to follow texts byte by byte."""

from __future__ import annotations

from typing import Final

from tokenfst.vocabulary.vocabulary import Vocabulary

ALL_BYTES: Final = Vocabulary([*(bytes([byte]) for byte in range(256)), b""], eos_ids=[256])

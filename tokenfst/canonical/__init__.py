"""Canonical tokenization: of every text only the tokens that the vocabulary's own encoder makes of it.

(Berglund, Martens & van der Merwe 2024, "Constructing a BPE tokenization DFA".) A model has seen texts cut in one way;
with this a constraint lets it write in no other.

    BPE                  what the encoder does                               tokenfst.vocabulary.bpe, by the loaders
    Derivations, Pairs   which tokens may be neighbours inside a piece       derivations, pairs
    Program, Pieces      where the pieces of a text end                      pattern_reader, pieces, piece_bytes
    Prepared             all of this, once for a vocabulary                  prepared
    CanonicalTokenAutomaton   states, and masks from them and the last token      compile, automaton

It is exact on all texts that an encoder can be given: sequences of characters in UTF-8. There is one thing that a file
does not say, the version of Unicode that the encoder's library has. Characters that are not assigned in Python's
version are therefore in no text, if the pre-tokenizer asks for categories (`characters`)."""

"""Canonical tokenization: accept each text only as the tokens that the vocabulary's encoder produces for it.

A model is trained on texts that the encoder tokenized. A canonical automaton keeps it from writing the same texts with
other tokens (Berglund, Martens & van der Merwe 2024, "Constructing a BPE tokenization DFA").

    BPE                       the encoder, as the loaders read it            tokenfst.vocabulary.bpe
    Derivations, Pairs        which tokens may be neighbours in a piece       derivations, pairs
    PatternProgram, Pieces    where the pieces of a text end                 pattern_reader, pieces, piece_bytes
    Prepared                  all tables of an encoder, cached               prepared
    CanonicalTokenAutomaton   states, and masks by state and last token      compile, automaton; storage: from files

The automaton is exact for every text that an encoder accepts, that is, every sequence of characters in UTF-8, with one
restriction: a file does not name the version of Unicode that the encoder's library uses. So if the pre-tokenizer refers
to categories, texts with characters that are unassigned in Python's version are not accepted (`characters`).
"""

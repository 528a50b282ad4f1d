"""The arguments of a call that writes text, prepared for the loop.

vocabularies     a tokenizer           -> its `Vocabulary`
prompts          texts                 -> token ids, padded on the left for a batch
constraints      any kind of constraint -> one automaton for each prompt
healing          a prompt that ends inside a word -> a shorter one, and an automaton whose texts begin with the rest
retokenize       a text                -> the tokens with which the model would have written it
tokens_by_bytes  the tokens of a vocabulary, sorted by their bytes
counts           numbers of tokens, checked
caches           the names of a model's argument and result for its cache of keys and values
"""

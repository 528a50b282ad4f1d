"""A grammar backend for SGLang, in SGLang's registry of backends.

plugin     registers the backend
backend    one for each scheduler: the vocabulary, the compiler, and the cache
grammar    the state of a request
"""

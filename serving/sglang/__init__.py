"""SGLang, as a grammar backend by its registry.

plugin     registers the backend
backend    one for each scheduler: the vocabulary, what compiles, and what is kept
grammar    the state of a request
"""

"""Compile while the model reads the prompt: a server requests an automaton and takes it when the first token is due.

background  BackgroundCompiler: threads that compile, and a cache of their automata
content     the key of a constraint in that cache, which depends on its content and not on the object
"""

from decoding.compiling.background import BackgroundCompiler, Compiling

__all__ = ["BackgroundCompiler", "Compiling"]

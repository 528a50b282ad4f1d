"""What llguidance lets stand in brackets after a rule's name, `name[capture, lazy]: ...`, and what becomes of it.

capture, stop_capture    name a part of the output: accepted, since the texts are the same
temperature              is about choosing among the texts: accepted
lazy, suffix             make one word of the body, and of the suffix, that ends as soon as it can
stop                     takes back what has been written, which no automaton does: refused
max_tokens               counts tokens, and which tokens write a text is the vocabulary's business: refused
"""

from __future__ import annotations

# The kinds of symbols that each may have as a value.
_WORD = ("string", "regexp", "terminal")
ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "capture": ("string",),
    "stop_capture": ("string",),
    "temperature": ("number",),
    "lazy": (),
    "suffix": _WORD,
    "stop": _WORD,
    "max_tokens": ("number",),
}
REFUSED = {
    "stop": "the attribute stop takes back what has been written: use suffix, which does not",
    "max_tokens": "the attribute max_tokens is not supported: bound the characters, as in /.{0,100}/",
}

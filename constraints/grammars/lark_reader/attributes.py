"""The attributes that llguidance allows in brackets after a rule's name, `name[capture, lazy]: ...`.

capture, stop_capture    name a part of the output; accepted, because the texts are the same
temperature              affects only the choice among texts; accepted
lazy, suffix             turn the body and the suffix into one word that ends as soon as it can
stop                     takes back text that was written, which an automaton cannot do; refused
max_tokens               counts tokens, which depend on the vocabulary; refused
"""

from __future__ import annotations

# The kinds of symbols that may be the value of each attribute.
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

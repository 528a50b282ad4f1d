"""Special tokens: `<|name|>`, `<name>`, and tokens by number, `<[128010]>`.

A token becomes a label with its name, including the angle brackets. So does a token by number, because the vocabulary
is not known here.
"""

from __future__ import annotations

import re

from constraints.grammars.lark_reader.document import Item
from constraints.grammars.line_index import LineIndex

_NUMBERS = re.compile(r"<\[(?:\*|\^?[0-9]{1,9}(?:-[0-9]{1,9})?(?:,[0-9]{1,9}(?:-[0-9]{1,9})?)*)\]>")


def token_name(item: Item, rule: str, lines: LineIndex) -> str:
    """Return the name of a token, or of a set of tokens given by their numbers."""
    name = str(item.value)
    if name.startswith("<["):
        if not _NUMBERS.fullmatch(name):
            raise lines.error(
                f"{name} is not a list of token ids: write <[12]>, <[12,20-29]>, <[^12]> or <[*]>", item.position, rule
            )
        for part in name.strip("<[^]>").split(","):
            low, _, high = part.partition("-")
            if high and int(low) > int(high):
                raise lines.error(f"the range {part} of token ids goes backwards", item.position, rule)
    return name

"""LogitsProcessor: compiled grammars for one call of `generate` of transformers."""

from __future__ import annotations

from collections.abc import Sequence

from decoding.masking.processor import ConstraintLogitsProcessor
from in_place_of.xgrammar.compiler import CompiledGrammar


class LogitsProcessor(ConstraintLogitsProcessor):
    """Masks one call of `model.generate`; make one for each call.

    It does not know `max_new_tokens`, so a text is cut off where `model.generate` stops. A `ConstraintLogitsProcessor`
    that knows this number completes every text.
    """

    def __init__(self, compiled_grammar: CompiledGrammar | Sequence[CompiledGrammar]) -> None:
        """Begin with the prompts of the first step.

        Args:
            compiled_grammar: one for all prompts, or a list with one for each.
        """
        several = [compiled_grammar] if isinstance(compiled_grammar, CompiledGrammar) else compiled_grammar
        automata = [one.automaton for one in several]
        super().__init__(automata, automata[0].vocabulary, max_new_tokens=None)

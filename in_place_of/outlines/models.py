"""A model and the type of its texts, with Outlines' interface; `decoding.generate` and `decoding.stream` do the work.

from_transformers    a model of transformers and its tokenizer    -> Transformers
Generator            a model and a type, compiled once            -> SteerableGenerator
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import tokenfst
from automata.errors import NotOffered
from decoding.inputs.vocabularies import vocabulary_of
from decoding.writing.generate import generate
from decoding.writing.streaming import stream
from in_place_of.outlines.types import python_types_to_terms
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary


@dataclass
class Chat:
    """The messages of a chat so far, for the chat template of a tokenizer.

    Attributes:
        messages: dicts with "role" and "content".
    """

    messages: list[dict[str, Any]] = field(default_factory=list)

    def append(self, message: dict[str, Any]) -> None:
        """Add a message."""
        self.messages.append(message)

    def extend(self, messages: Iterable[dict[str, Any]]) -> None:
        """Add messages."""
        self.messages.extend(messages)

    def pop(self) -> dict[str, Any]:
        """Remove the last message, and return it."""
        return self.messages.pop()

    def add_system_message(self, content: Any) -> None:
        """Add a system message."""
        self.append({"role": "system", "content": content})

    def add_user_message(self, content: Any) -> None:
        """Add a user message."""
        self.append({"role": "user", "content": content})

    def add_assistant_message(self, content: Any) -> None:
        """Add a message that the model wrote."""
        self.append({"role": "assistant", "content": content})


class Transformers:
    """A model of transformers and its fast tokenizer."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer

    def __call__(
        self, model_input: str | Chat, output_type: Any = None, backend: str | None = None, **inference_kwargs: Any
    ) -> Any:
        """Write a text after a prompt, as `Generator(model, output_type)` does; a Generator compiles only once."""
        return Generator(self, output_type, backend)(model_input, **inference_kwargs)

    def batch(
        self,
        model_input: Sequence[str | Chat],
        output_type: Any = None,
        backend: str | None = None,
        **inference_kwargs: Any,
    ) -> list[Any]:
        """Write a text after each prompt, and return them."""
        return Generator(self, output_type, backend).batch(model_input, **inference_kwargs)

    def stream(
        self, model_input: str | Chat, output_type: Any = None, backend: str | None = None, **inference_kwargs: Any
    ) -> Iterator[str]:
        """Yield a text after a prompt piece by piece."""
        return Generator(self, output_type, backend).stream(model_input, **inference_kwargs)

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens."""
        return vocabulary_of(self.tokenizer)

    def generate(self, model_input: str | Chat, automaton: TokenAutomaton | None, **inference_kwargs: Any) -> Any:
        """Write a text after a prompt, and return it; with `num_return_sequences` above 1, a list.

        Args:
            model_input: the prompt. If the tokenizer has a chat template, a text is a message from the user.
            automaton: the constraint; None for any text.
            inference_kwargs: `max_new_tokens` and further arguments of `decoding.generate`; and `do_sample`, by default
                the model's setting. If it is false, the likeliest token is taken.

        Raises:
            IncompleteOutput: the shortest text takes more than `max_new_tokens`.
        """
        found = self._written([model_input], automaton, inference_kwargs)
        return found[0] if len(found) == 1 else found

    def generate_batch(
        self, model_input: Sequence[str | Chat], automaton: TokenAutomaton | None, **inference_kwargs: Any
    ) -> list[Any]:
        """Write a text after each prompt, and return them; with `num_return_sequences` above 1, a list for each."""
        found, number = self._written(model_input, automaton, inference_kwargs), len(model_input)
        each = len(found) // max(number, 1)
        return found if each <= 1 else [found[at * each : (at + 1) * each] for at in range(number)]

    def generate_stream(
        self, model_input: str | Chat, automaton: TokenAutomaton | None, **inference_kwargs: Any
    ) -> Iterator[str]:
        """Yield a text after a prompt piece by piece; arguments are those of `decoding.stream`."""
        settings = self._settings(inference_kwargs)
        for piece in stream(self.model, self.tokenizer, self._prompt(model_input), automaton, **settings):
            yield piece.text

    def _written(
        self, prompts: Sequence[str | Chat], automaton: TokenAutomaton | None, options: dict[str, Any]
    ) -> list[str]:
        texts = [self._prompt(prompt) for prompt in prompts]
        found: list[str] = generate(self.model, self.tokenizer, texts, automaton, **self._settings(options))
        return found

    def _prompt(self, prompt: str | Chat) -> str:
        if not isinstance(prompt, str | Chat):
            raise TypeError(f"a prompt is a text or a Chat, not {type(prompt).__name__}; `batch` takes several")
        if isinstance(prompt, str) and not self.tokenizer.chat_template:
            return prompt
        messages = prompt.messages if isinstance(prompt, Chat) else [{"role": "user", "content": prompt}]
        return str(self.tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))

    def _settings(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return arguments of `transformers` as those of this project: a temperature of 0 takes the likeliest token."""
        configured = self.model.generation_config
        found = dict(options)
        temperature = found.pop("temperature", None)
        is_sampled = found.pop("do_sample", configured.do_sample)
        if temperature is None:
            temperature = configured.temperature or 1.0
        return {**found, "temperature": temperature if is_sampled else 0.0}


class SteerableGenerator:
    """Writes texts of one type; made by `Generator`.

    Attributes:
        model: the model.
        automaton: the constraint; None for any text.
    """

    def __init__(self, model: Transformers, output_type: Any) -> None:
        self.model = model
        self.automaton: TokenAutomaton | None = None
        if output_type is not None:
            constraint = python_types_to_terms(output_type).constraint
            self.automaton = tokenfst.compile(constraint, model.vocabulary)

    def __call__(self, prompt: str | Chat, **inference_kwargs: Any) -> Any:
        """Write a text after a prompt; arguments and errors are those of `Transformers.generate`."""
        return self.model.generate(prompt, self.automaton, **inference_kwargs)

    def batch(self, prompts: Sequence[str | Chat], **inference_kwargs: Any) -> list[Any]:
        """Write a text after each prompt, and return them."""
        return self.model.generate_batch(prompts, self.automaton, **inference_kwargs)

    def stream(self, prompt: str | Chat, **inference_kwargs: Any) -> Iterator[str]:
        """Yield a text after a prompt piece by piece."""
        return self.model.generate_stream(prompt, self.automaton, **inference_kwargs)


def from_transformers(model: Any, tokenizer_or_processor: Any) -> Transformers:
    """Return a model of transformers with its fast tokenizer.

    Raises:
        TypeError: the argument is not a tokenizer but, for example, the processor of a model that reads images.
        UnsupportedTokenizer: the tokenizer's decoder cannot be modelled exactly.
    """
    vocabulary_of(tokenizer_or_processor)
    return Transformers(model, tokenizer_or_processor)


def Generator(  # noqa: N802 (Outlines' name)
    model: Transformers, output_type: Any = None, backend: str | None = None, *, processor: Any = None
) -> SteerableGenerator:
    """Return a generator of texts of one type.

    Args:
        model: a model.
        output_type: the type of its texts, as for `python_types_to_terms`; None for any text.
        backend: has no effect, because there is only one.
        processor: must be None.

    Raises:
        NotOffered: the model is from another package, or there is a processor.
        TypeError: there is no term for the type.
        PatternError, GrammarError, SchemaError, LimitExceeded: the type cannot be honoured.
    """
    if not isinstance(model, Transformers):
        raise NotOffered(
            f"Generator of a {type(model).__name__}", "in_place_of.outlines.from_transformers makes a model"
        )
    if processor is not None:
        raise NotOffered("processor", "`model.generate` of transformers takes processors")
    return SteerableGenerator(model, output_type)

"""From prompts and a constraint to complete texts.

generate    by the loop of `transformers` with a logits processor; or by speculation (`decoding.speculation`)

With `trace=True`, the processor also records the steps (`decoding.tracing`).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from operator import index
from typing import TYPE_CHECKING, Any, Final, Literal, overload

import torch
from transformers import LogitsProcessorList

from automata.errors import IncompleteOutput
from automata.limits import DEFAULT_LIMITS, Limits
from decoding.inputs.constraints import ConstraintLikes, automata_for, check_count, constrained
from decoding.inputs.counts import token_count
from decoding.inputs.prompts import Prompts, pad_token, padded, prompt_tokens
from decoding.inputs.vocabularies import vocabulary_of
from decoding.masking.processor import ConstraintLogitsProcessor, InPlace
from decoding.sampling import Noise, Sampling, derived_seed
from decoding.speculation import Speculation, decode_speculatively
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary

if TYPE_CHECKING:
    from decoding.tracing import Recorder, Trace

# Settings of `transformers` that leave the model's distribution unchanged; its defaults may differ, such as top_k=50.
_NEUTRAL: Final = {"top_k": 0, "top_p": 1.0, "min_p": None, "typical_p": 1.0}
# Below this temperature only the likeliest token is left, and the scores of `transformers` would be infinite.
_COLD: Final = 1e-30
# Seeds are numbers modulo 2^64, in all loops.
_LARGEST_SEED: Final = (1 << 64) - 1
# Options of `model.generate` that are set here.
_OWN: Final = (
    *("eos_token_id", "pad_token_id", "inputs", "input_ids", "attention_mask", "return_dict_in_generate"),
    *("generation_config", "tokenizer"),
)
# Held while torch's random state, which all threads share, is that of a seed.
_SEEDED: Final = threading.RLock()
# Settings of `Sampling` that the loop of `transformers` does not have.
_ONLY_OURS: Final = ("presence_penalty", "frequency_penalty")


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | Sequence[int] | None = None,
    num_beams: int = 1,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    speculation: Speculation | None = None,
    trace: Literal[False] = False,
    **options: Any,
) -> list[str]: ...


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | Sequence[int] | None = None,
    num_beams: int = 1,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    speculation: Speculation | None = None,
    trace: Literal[True],
    **options: Any,
) -> Trace: ...


@overload
def generate(
    model: Any,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | Sequence[int] | None = None,
    num_beams: int = 1,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    speculation: Speculation | None = None,
    trace: bool,
    **options: Any,
) -> list[str] | Trace: ...


def generate(
    model: Any,
    tokenizer: Any,
    prompts: Prompts,
    constraint: ConstraintLikes,
    *,
    max_new_tokens: int = 256,
    wrap_up_after: int | None = None,
    temperature: float = 1.0,
    seed: int | Sequence[int] | None = None,
    num_beams: int = 1,
    at_text_start: bool = False,
    max_depth: int | None = None,
    limits: Limits = DEFAULT_LIMITS,
    speculation: Speculation | None = None,
    trace: bool = False,
    **options: Any,
) -> list[str] | Trace:
    """Let a model write, after each prompt, a text that the constraint allows.

    Args:
        model: a causal language model of `transformers`.
        tokenizer: the model's fast tokenizer; or its `Vocabulary` if prompts are token ids.
        prompts: one prompt or several, each a text or a list of token ids. An empty text begins with the tokenizer's
            first special token.
        constraint: anything that `tokenfst.compile` takes, an automaton, or one that is being compiled
            (`BackgroundCompiler`); the call waits for it after reading the prompts. Or a list with one constraint for
            all prompts, or one for each; None if anything may be written.
        max_new_tokens: the limit for each text, including the end token. Every text is complete within this limit.
        wrap_up_after: the number of tokens after which a soft close begins (`ConstraintLogitsProcessor`): tokens that
            lengthen the text are charged for it, more with every token. None for never.
        temperature: 0 takes the likeliest token; a greater value samples. 1 is the model's own distribution.
        seed: makes sampling repeatable, without affecting the program's random state. Calls with a seed in several
            threads run one after the other; other threads must not draw torch's random numbers meanwhile. With the same
            seed, the draws with and without speculation differ. With speculation, `seed` may be a list with one seed
            for each prompt: the draws of a text then depend only on its own seed, whatever else is in the batch.
        num_beams: if more than one and `temperature` is 0, search for the likeliest text; at a greater temperature,
            `transformers` draws the tokens of each beam. See `beam_search` for scores and diverse texts.
        at_text_start: the text to which the constraint applies, and that is returned. False: the text that is added to
            the prompt. True: the text of the new tokens alone, as chat programs show an answer. The two differ for
            tokenizers that mark words (`tokenfst.compile`). A compiled automaton has its own value.
        max_depth: for grammars, the maximum number of symbols on the stack. None for the default of `Arena` if the
            automaton's tables can be made at once, and for no maximum otherwise.
        limits: the limits of compiling a constraint.
        speculation: proposes several tokens at once, without changing the distribution; None for one token at a time.
        trace: whether to return a trace of each token with the texts: candidates, stacks, places (`decoding.tracing`).
            The texts are the same; each token takes some more time and memory. Not with beams, drafts or speculation.
        **options: further settings of `Sampling`, such as `top_k`; without speculation also options of
            `model.generate`, such as `num_return_sequences`, `assistant_model` or `cache_implementation`. Processors in
            `logits_processor` come before the mask.

    Returns:
        One text for each prompt, without the prompt; `num_return_sequences` times as many if this option is given. With
        `trace`, a `Trace` of them.

    Raises:
        PatternError, EmptyLanguage, LimitExceeded: as for `tokenfst.compile`.
        TooManyConfigurations: a text has more derivations side by side than the automaton may carry.
        IncompleteOutput: the shortest text takes more than `max_new_tokens`; a text cannot be completed within both
            `max_new_tokens` and `max_depth`, or the depth of its automaton (`within`); other options stopped a text
            early; or the model itself rules out every token that the constraint allows, with logits of minus infinity.
        RuntimeError: `transformers` cannot draw from logits that are infinite or not numbers. `stream` and the searches
            can.
        VocabularyError: the tokenizer has no end token, an automaton is over another vocabulary, or the model's logits
            are more than twice as wide as the vocabulary.
        TypeError, ValueError: an argument has the wrong type or value; options cannot be combined; there are more or
            fewer constraints or seeds than prompts; or `at_text_start` is true, and an automaton was compiled without
            it.
    """
    vocabulary, rows = vocabulary_of(tokenizer, model), prompt_tokens(tokenizer, prompts, model)
    max_new_tokens = token_count("max_new_tokens", max_new_tokens, least=1)
    num_beams = token_count("num_beams", num_beams, least=1, of="beams")
    _check_settings(temperature, seed, options)
    if "num_return_sequences" in options:
        token_count("num_return_sequences", options["num_return_sequences"], least=1, of="texts")
    if speculation is not None:
        _check_speculation(
            speculation,
            {"num_beams": num_beams, "wrap_up_after": wrap_up_after, "max_depth": max_depth, "trace": trace, **options},
        )
        samplings = samplings_of(_sampling(temperature, options), seed, len(rows))
        automata = automata_for(
            constraint, vocabulary, len(rows), max_new_tokens, at_text_start=at_text_start, limits=limits
        )
        return _speculated(model, rows, automata, samplings, max_new_tokens, speculation)
    if isinstance(seed, Sequence):
        raise ValueError("a list of seeds needs `speculation`: `transformers` draws a batch from one seed")
    each = constrained(constraint, vocabulary, at_text_start=at_text_start, limits=limits)
    check_count(len(each), len(rows))
    if not rows:
        return _trace(None, rows, [], [], [], vocabulary, at_text_start, limits) if trace else []
    processor = ConstraintLogitsProcessor(
        each,
        vocabulary,
        max_new_tokens=max_new_tokens,
        wrap_up_after=wrap_up_after,
        at_text_start=at_text_start,
        max_depth=max_depth,
    )
    recorder = _recorder(processor, num_beams, options) if trace else None
    pad = pad_token(tokenizer, vocabulary, model)
    settings = {**_drawn(temperature, options), **options, "num_beams": num_beams, "max_new_tokens": max_new_tokens}
    if tokenizer is not vocabulary:
        settings["tokenizer"] = tokenizer  # for strings that stop a text, which the model's own settings may name, too
    with _seeded(seed):
        found = _by_transformers(model, rows, recorder or InPlace(processor), vocabulary, pad, settings)
    processor.check()
    made = processor.automata()
    owners = [made[number * len(made) // len(found)] for number in range(len(found))]
    found = [_without_padding(row, one, pad) for row, one in zip(found, owners, strict=True)]
    texts = [_text(row, one, vocabulary, at_text_start) for row, one in zip(found, owners, strict=True)]
    if recorder is None:
        return texts
    return _trace(recorder, rows, found, texts, owners, vocabulary, at_text_start, limits)


@torch.no_grad()
def _by_transformers(
    model: Any, rows: list[list[int]], masking: InPlace, vocabulary: Vocabulary, pad: int, settings: dict[str, Any]
) -> list[list[int]]:
    """Return the new tokens of each row, written by the loop of `transformers`."""
    others = settings.pop("logits_processor", None) or ()
    written = model.generate(
        **padded(rows, pad, model.device),
        logits_processor=LogitsProcessorList([*others, masking]),
        eos_token_id=list(vocabulary.eos_ids),
        pad_token_id=pad,
        return_dict_in_generate=False,
        **settings,
    )
    found: list[list[int]] = written[:, max(map(len, rows)) :].tolist()
    return found


def _recorder(processor: ConstraintLogitsProcessor, num_beams: int, options: Mapping[str, Any]) -> Recorder:
    """Return a processor that masks scores and records the steps."""
    from decoding.tracing import Recorder

    if num_beams != 1:
        raise ValueError("`trace` cannot be combined with `num_beams`: beams change places")
    for name in ("assistant_model", "prompt_lookup_num_tokens"):
        if options.get(name) is not None:
            raise ValueError(f"`trace` cannot be combined with `{name}`: a trace follows one token at a time")
    return Recorder(processor)


def _trace(
    recorder: Recorder | None,
    rows: list[list[int]],
    found: list[list[int]],
    texts: list[str],
    automata: list[TokenAutomaton | None],
    vocabulary: Vocabulary,
    at_text_start: bool,
    limits: Limits,
) -> Trace:
    """Return the trace of texts; each prompt has the same number of texts, which are adjacent."""
    from decoding.tracing import Trace, Written, readers_of, traced_texts

    written = [
        Written(
            rows[number * len(rows) // len(found)],
            found[number],
            texts[number],
            at_text_start if (own := automata[number]) is None else own.at_text_start,
            readers_of(automata[number], limits),
        )
        for number in range(len(found))
    ]
    return Trace(
        tuple(traced_texts([] if recorder is None else recorder.steps(found), written, vocabulary)), len(vocabulary)
    )


def _check_settings(temperature: float, seed: int | Sequence[int] | None, options: dict[str, Any]) -> None:
    """Check options.

    Raises:
        ValueError: `generate` sets an option itself, `do_sample` contradicts `temperature`, or the assistant has
            another vocabulary.
        ValueError, TypeError: as for `_sampling`.
    """
    for name in _OWN:
        if name in options:
            raise ValueError(f"{name} is set by `generate` itself")
    if options.get("token_healing"):
        raise ValueError("`token_healing` changes the prompt and ignores the constraint: `decoding.heal` does neither")
    if options.get("max_length") is not None:
        raise ValueError("max_length counts the prompt, too: `max_new_tokens` is the limit of each text")
    if "assistant_tokenizer" in options:
        raise ValueError("an assistant has the model's vocabulary, since the masks of its tokens are the model's")
    _sampling(temperature, options).with_seed(None if isinstance(seed, Sequence) else seed)
    if (wants := options.get("do_sample")) is not None and wants == (temperature < _COLD):
        raise ValueError(f"do_sample={wants} contradicts temperature={temperature}: 0 takes the likeliest token")


def _sampling(temperature: float, options: dict[str, Any]) -> Sampling:
    """Return the settings among the options; values that are neutral for `transformers` are left out.

    Raises:
        ValueError, TypeError: as for `Sampling`.
    """
    ours = {name: value for name, value in options.items() if name in Sampling.__dataclass_fields__}
    return Sampling(temperature, **{name: value for name, value in ours.items() if value != _NEUTRAL.get(name)})


def _drawn(temperature: float, options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings with which `transformers` chooses tokens."""
    for name in _ONLY_OURS:
        if name in options:
            raise ValueError(f"{name} is a setting of `stream`, `best_of_n` and of `generate` with speculation")
    if temperature < _COLD:
        return {"repetition_penalty": 1.0, "do_sample": False}
    # `transformers` refuses a temperature that is an int.
    return {"repetition_penalty": 1.0, "do_sample": True, "temperature": float(temperature), **_NEUTRAL}


def _check_speculation(speculation: Speculation, options: dict[str, Any]) -> None:
    if not isinstance(speculation, Speculation):
        raise TypeError(f"`speculation` is a `Speculation(proposers)`, not {type(speculation).__name__}")
    neutral = {"num_beams": 1, "wrap_up_after": None, "max_depth": None, "trace": False}
    foreign = [
        name
        for name, value in options.items()
        if (name in neutral and value != neutral[name])
        or (name not in neutral and name not in Sampling.__dataclass_fields__)
    ]
    if foreign:
        raise ValueError(f"`{foreign[0]}` cannot be combined with `speculation`")


def _speculated(
    model: Any,
    rows: list[list[int]],
    automata: Sequence[TokenAutomaton],
    samplings: Sequence[Sampling],
    max_new_tokens: int,
    speculation: Speculation,
) -> list[str]:
    if not rows:
        return []
    written = decode_speculatively(
        model,
        rows,
        automata,
        speculation.proposers_for(len(rows)),
        sampling=samplings,
        max_new_tokens=max_new_tokens,
        max_proposed=speculation.max_proposed,
        opportunistic=speculation.opportunistic,
    )
    speculation.statistics = written.statistics
    return [text.decode() for text in written.texts]


def samplings_of(sampling: Sampling, seed: int | Sequence[int] | None, batch: int) -> list[Sampling]:
    """Return the settings of each text of a batch, which differ only in their seeds.

    Raises:
        ValueError: `seed` is a list, and does not have one seed for each text.
    """
    if not isinstance(seed, Sequence):
        first = int(Noise.of([seed]).seeds)
        return [sampling.with_seed(derived_seed(first, number)) for number in range(batch)]
    if len(seed) != batch:
        raise ValueError(f"there are {len(seed)} seeds for {batch} prompts: give one for all, or one for each")
    return [sampling.with_seed(each) for each in seed]


def _without_padding(row: list[int], automaton: TokenAutomaton | None, pad: int) -> list[int]:
    """Return the tokens of a text that was stopped before others of the batch, without the padding after it. A
    constraint may allow the padding token, so only as many are removed as a complete text requires."""
    if automaton is None or pad in automaton.vocabulary.eos_ids or set(row) == {pad}:
        return row  # with beams, a row of padding means that no further text was found
    end = len(row)
    while end and row[end - 1] == pad:
        if automaton.accepts(row[:end]):
            break
        end -= 1
    return row[:end] if automaton.accepts(row[:end]) else row


def _text(row: list[int], automaton: TokenAutomaton | None, vocabulary: Vocabulary, at_text_start: bool) -> str:
    ends = [place for place, token in enumerate(row) if token in vocabulary.eos_ids]
    tokens = row[: ends[0]] if ends else row
    if automaton is None:
        # Free text may be cut off anywhere.
        return vocabulary.text(tokens, at_text_start=at_text_start).decode(errors="replace")
    if not automaton.accepts(tokens):
        reason = (
            "the model or another option forbade every token that the constraint allows, another option stopped it, or "
            "asked for more sequences than there are"
        )
        raise IncompleteOutput(f"the text stopped before it was complete, at {automaton.text(tokens)!r}: {reason}")
    return automaton.text(tokens).decode()


@contextlib.contextmanager
def _seeded(seed: int | None) -> Iterator[None]:
    if seed is None:
        yield
        return
    with _SEEDED, torch.random.fork_rng():
        torch.manual_seed(index(seed) & _LARGEST_SEED)
        yield

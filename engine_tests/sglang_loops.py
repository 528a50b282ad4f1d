"""SGLang's own loops around our objects, in this process and without its engine.

published       SGLang's configuration
manager         SGLang's `GrammarManager`, with a stand-in for its scheduler
request         a request
written         requests, sampled from the bundled model: masks, logits, acceptance and ends as SGLang's steps do them
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from sglang.srt import runtime_context
from sglang.srt.constrained.base_grammar_backend import InvalidGrammarObject
from sglang.srt.constrained.grammar_manager import GrammarManager
from sglang.srt.managers.schedule_batch import Req
from sglang.srt.managers.scheduler_components.batch_result_processor import SchedulerBatchResultProcessor
from sglang.srt.plugins import load_plugins
from sglang.srt.sampling.sampling_batch_info import SamplingBatchInfo
from sglang.srt.sampling.sampling_params import SamplingParams
from sglang.srt.server_args import ServerArgs
from sglang.srt.utils.hf_transformers_utils import get_tokenizer

from decoding import bundled_model

PROMPT = "A person as JSON: "
# The width of the bundled model's logits.
WIDTH = 2048


def model_folder() -> str:
    spec = find_spec("decoding")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "model")


@cache
def tokenizer() -> Any:
    """The bundled model's tokenizer, as SGLang loads it."""
    return get_tokenizer(model_folder())


@cache
def model() -> Any:
    return bundled_model()[0].eval()


@contextmanager
def published(**arguments: Any) -> Iterator[None]:
    """SGLang's configuration, with our backend chosen, as of a process with one rank."""
    load_plugins()
    before = runtime_context.snapshot_context()
    known = {"device": "cpu", "attention_backend": "torch_native", "disable_cuda_graph": True}
    server_args = ServerArgs(model_path=model_folder(), grammar_backend="tokenfst", **(known | arguments))
    runtime_context.publish(server_args, role="test", ranks=runtime_context.SpawnRanks(world_rank=0))
    try:
        yield
    finally:
        runtime_context.restore_context(before)


def manager(ends: Sequence[int] = (0,), think_end_ids: Sequence[int] | None = None) -> Any:
    """SGLang's manager of grammars, with the backend that the configuration names."""
    config = SimpleNamespace(vocab_size=WIDTH, hf_eos_token_id=set(ends), think_end_ids=think_end_ids)
    group = SimpleNamespace(world_size=1, first_rank=0, is_first_rank=True)
    scheduler = SimpleNamespace(
        server_args=runtime_context.get_server_args(),
        tokenizer=tokenizer(),
        model_config=config,
        dp_tp_cpu_group=None,
        dp_tp_group=group,
        pp_group=None,
    )
    return GrammarManager(scheduler)


def request(name: str = "request", *, reasoning: bool = False, **parameters: Any) -> Any:
    """A request with parameters of sampling, such as `regex`."""
    sampling = SamplingParams(**({"max_new_tokens": 50} | parameters))
    sampling.normalize(tokenizer())
    ids = array("q", tokenizer().encode(PROMPT))
    made = Req(name, PROMPT, ids, sampling, require_reasoning=reasoning, eos_token_ids={0}, vocab_size=WIDTH)
    made.tokenizer = tokenizer()
    return made


def submitted(grammars: Any, requests: Sequence[Any]) -> None:
    """Hand requests to a manager, and wait until it has an answer for each."""
    for each in requests:
        grammars.process_req_with_grammar(each)
    end = time.monotonic() + 60
    while grammars.has_waiting_grammars():
        grammars.get_ready_grammar_requests()
        assert time.monotonic() < end


def masked_logits(requests: Sequence[Any], logits: torch.Tensor) -> torch.Tensor:
    """The logits of a step, `[B, V]`, after SGLang has made and applied the masks."""
    number = len(requests)
    plain = torch.ones(number, 1)
    info = SamplingBatchInfo(
        plain, plain, plain, plain, False, False, False, False, False, logits.shape[1], device="cpu"
    )
    info.grammars = [each.grammar for each in requests] if any(each.grammar for each in requests) else None
    info.update_regex_vocab_mask()
    info.apply_logits_bias(logits)
    return logits


def written(requests: Sequence[Any], seed: int = 0) -> list[str]:
    """Sample requests together until all have ended, and return their texts."""
    generator = torch.Generator().manual_seed(seed)
    while any(not each.finished() for each in requests):
        live = [each for each in requests if not each.finished()]
        texts = [[*each.origin_input_ids, *each.output_ids] for each in live]
        with torch.no_grad():
            logits = torch.stack([model()(torch.tensor([text])).logits[0, -1].float() for text in texts])
        drawn = torch.multinomial(masked_logits(live, logits).softmax(1), 1, generator=generator)
        for each, token in zip(live, drawn.flatten().tolist(), strict=True):
            took(each, token)
    return [tokenizer().decode(each.output_ids, skip_special_tokens=True) for each in requests]


def took(each: Any, token: int) -> None:
    """Do what SGLang does with the token of a request."""
    each.output_ids.append(token)
    each.update_finish_state()
    if each.grammar is not None:
        SchedulerBatchResultProcessor._accept_grammar_tokens(None, each, token)
        each.grammar.finished = each.finished()


def compiled(backend: Any, kind: str, text: str) -> Any:
    """The grammar of a kind and a text."""
    found = backend.get_cached_or_future_value((kind, text), False)[0]
    grammar = found.result(60) if hasattr(found, "result") else found
    assert not isinstance(grammar, InvalidGrammarObject), grammar
    return grammar


def ids(text: str) -> list[int]:
    found: list[int] = tokenizer().encode(text, add_special_tokens=False)
    return found


def allowed(mask: torch.Tensor, row: int = 0) -> list[int]:
    return [token for token in range(32 * mask.shape[1]) if mask[row, token >> 5] >> (token & 31) & 1]


def accepted(grammar: Any, tokens: Any = None) -> list[int]:
    """The tokens that a grammar takes, each tried on a copy."""
    found = []
    for token in range(len(tokenizer())) if tokens is None else tokens:
        try:
            grammar.copy().accept_token(token)
        except ValueError:
            continue
        found.append(token)
    return found


def mask_of(grammar: Any, width: int = WIDTH) -> list[int]:
    mask = grammar.allocate_vocab_mask(width, 1, "cpu")
    grammar.fill_vocab_mask(mask, 0)
    return allowed(mask)

"""Measure how long a GPU works on masks, steps and sampling, without the calls from Python and the launches.

    python benchmarks/gpu_times.py [--vocab FILE] [--size 128000] [--batches 1,16,64,256,512] [--dtype bfloat16]
                                   [--device cpu] [--compiled]

Each program is captured in a CUDA graph, ten times in a row, and the graph is replayed between two events. Times are
microseconds for one run of a program. The sequences and constraints are those of `decode.py`, four tokens after the
start.

    floor           one `masked_fill_` of the logits with a ready mask
    mask            minus infinity written into the logits of forbidden tokens
    budget          the same with a budget of tokens that is too large to forbid any token
    bitmask         the mask as packed words
    step            the states after one more token
    probabilities   the probabilities of all tokens at temperature 0.8
    top-k           the same, truncated to the 50 likeliest tokens
    top-p           the same, truncated to the likeliest tokens that together have nine tenths
    choose          drawing a token for each sequence
    loop            a whole step: a copy of the logits, mask, probabilities, choose and step
    X (compiled)    the program X, compiled with `torch.compile`, if `--compiled` is given

With `--device cpu` there are no graphs: each program is timed by the clock, including the calls.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from decode import Floor, TokenFst, texts, vocabulary_of
from torch import Tensor

from decoding.arena import Sequences
from decoding.sampling import Noise, Sampling, choose, probabilities

SAMPLING = Sampling(temperature=0.8)
TRUNCATIONS = {"top-k": replace(SAMPLING, top_k=50), "top-p": replace(SAMPLING, top_p=0.9)}
IN_A_GRAPH, REPLAYS = 10, 20


def microseconds(program: Callable[[], object], device: str) -> float:
    """Return the time of one run of a program in microseconds."""
    program()
    if device == "cpu":
        first = time.perf_counter()
        for _ in range(REPLAYS):
            program()
        return 1e6 * (time.perf_counter() - first) / REPLAYS
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(IN_A_GRAPH):
            program()
    graph.replay()
    before, after = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    before.record()
    for _ in range(REPLAYS):
        graph.replay()
    after.record()
    torch.cuda.synchronize()
    milliseconds: float = before.elapsed_time(after)
    return 1e3 * milliseconds / (IN_A_GRAPH * REPLAYS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a file that `load_vocabulary` reads; by default Tekken's")
    parser.add_argument("--size", type=int, default=128000)
    parser.add_argument("--batches", default="1,16,64,256,512")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16", "float16"])
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    device = options.device
    vocabulary = vocabulary_of(options.size, options.vocab)
    engine, floor = TokenFst(vocabulary, device), Floor(TokenFst(vocabulary, device))
    arena = engine.arena
    number = torch.zeros((), dtype=torch.int64, device=device)
    for batch in map(int, options.batches.split(",")):
        logits = torch.randn(batch, options.size, dtype=getattr(torch, options.dtype), device=device)
        engine.start(logits)
        # The floor masks a copy, because two masks for different positions together may forbid every token.
        floor.start(logits.clone())
        *before, tokens = torch.tensor(texts(vocabulary, batch, 5), device=device)
        for each in before:
            engine.advance(each)
        at, noise = engine.at, Noise.of([None] * batch, device)
        chances = probabilities(logits, None, SAMPLING)

        def loop(logits: Tensor, at: Sequences, noise: Noise, number: Tensor) -> Sequences:
            chances = probabilities(arena.apply_(logits.clone(), at), None, SAMPLING)
            return arena.advance(at, choose(chances, noise, number))

        def chances_of(logits: Tensor, sampling: Sampling = SAMPLING) -> Tensor:
            return probabilities(logits, None, sampling)

        programs: dict[str, tuple[Callable[..., object], tuple[object, ...]]] = {
            "floor": (floor.mask, ()),
            "mask": (arena.apply_, (logits, at)),
            "budget": (arena.apply_, (logits, at, 100_000)),
            "bitmask": (arena.bitmask, (at,)),
            "step": (arena.advance, (at, tokens)),
            "probabilities": (chances_of, (logits,)),
            **{name: (chances_of, (logits, sampling)) for name, sampling in TRUNCATIONS.items()},
            "choose": (choose, (chances, noise, number)),
            "loop": (loop, (logits, at, noise, number)),
        }
        found = {name: microseconds(partial(program, *given), device) for name, (program, given) in programs.items()}
        for name in ("mask", "step", "probabilities", "choose", "loop") if options.compiled else ():
            program, given = programs[name]
            torch._dynamo.reset()
            compiled = torch.compile(program, fullgraph=True, dynamic=False)
            found[f"{name} (compiled)"] = microseconds(partial(compiled, *given), device)
        print(f"B {batch:>3}", *(f"{name} {taken:,.1f}" for name, taken in found.items()), sep="  ", flush=True)
    print(
        f"torch {torch.__version__}, {options.dtype}, {torch.cuda.get_device_name() if device != 'cpu' else 'no GPU'}"
    )


if __name__ == "__main__":
    main()

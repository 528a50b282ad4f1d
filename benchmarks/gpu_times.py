"""What masks, steps and sampling take of a GPU itself, without the calls from Python and the launches.

    python benchmarks/gpu_times.py [--vocab FILE] [--size 128000] [--batches 1,16,64,256,512] [--dtype bfloat16]

Each program is captured in a CUDA graph, ten times in a row, and the graph is replayed between two events; microseconds
for one. The sequences and constraints are those of `decode.py`, four tokens after the start.

    floor           one `masked_fill_` of the logits by a ready mask
    mask            minus infinity into the logits; `budget`: within one that does not bind; `bitmask`: as words
    step            the states after a token
    probabilities   at temperature 0.8; `top-k`: of the 50 likeliest tokens; `top-p`: of nine tenths
    choose          a token for each sequence
    loop            all of a step: a copy of the logits, mask, both of these, and step
    (compiled)      the same through `torch.compile`

With `--device cpu` each is simply timed; `--compiled` adds what is compiled.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import torch
from decode import Floor, TokenFst, texts, vocabulary_of
from torch import Tensor

from decoding.arena import Sequences
from decoding.sampling import Noise, Sampling, choose, probabilities

SAMPLING = Sampling(temperature=0.8)
TRUNCATIONS = {"top-k": replace(SAMPLING, top_k=50), "top-p": replace(SAMPLING, top_p=0.9)}
IN_A_GRAPH, REPLAYS = 10, 20


def microseconds(program: Callable[[], object], device: str) -> float:
    """What one run of a program takes."""
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
    return 1e3 * before.elapsed_time(after) / (IN_A_GRAPH * REPLAYS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocab", help="a vocabulary that `tokenfst.load` reads; Tekken's if left out")
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
        # Two masks of different places may leave nothing.
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
        found = {
            name: microseconds(lambda program=program, given=given: program(*given), device)
            for name, (program, given) in programs.items()
        }
        for name in ("mask", "step", "probabilities", "choose", "loop") if options.compiled else ():
            program, given = programs[name]
            torch._dynamo.reset()
            compiled = torch.compile(program, fullgraph=True, dynamic=False)
            found[f"{name} (compiled)"] = microseconds(lambda run=compiled, given=given: run(*given), device)
        print(f"B {batch:>3}", *(f"{name} {taken:,.1f}" for name, taken in found.items()), sep="  ", flush=True)
    print(
        f"torch {torch.__version__}, {options.dtype}, {torch.cuda.get_device_name() if device != 'cpu' else 'no GPU'}"
    )


if __name__ == "__main__":
    main()

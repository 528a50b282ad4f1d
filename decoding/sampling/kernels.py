"""The distribution and the draw as kernels for a GPU, in Triton (`decoding.sampling.on_gpu` calls them).

Tensor operations make 36 passes over data of the size of the logits. Here a row is divided into chunks, with a program
for each:

    find_tops       the largest score of a chunk, and its token
    add_weights     the sum of a chunk's weights
    write_chances   the probabilities
    race            the fastest token of a chunk
    find_winners    the fastest token of a row

`decoding.sampling.distribution` and `decoding.sampling.noise` define the results. A kernel needs the results of the
previous one for all chunks of a row, so each is a separate launch.

Rejected: one program for a row (four fifths of a GPU are idle with 32 sequences); a race among the scores themselves,
without probabilities (one pass, but rounded differently from the race on the CPU, so it would draw other tokens).
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

from decoding.sampling import split_mix

GAMMA = tl.constexpr(split_mix.GAMMA)
FIRST, SECOND = tl.constexpr(split_mix.FIRST), tl.constexpr(split_mix.SECOND)
LARGEST = tl.constexpr(3.4028234663852886e38)
TINY = tl.constexpr(1.1754943508222875e-38)


@triton.jit
def scores_of(logits, stride, mask, mask_stride, row, token, width, MASKED: tl.constexpr):
    """Return the scores of some tokens, float32, minus infinity for those that are not allowed."""
    inside = token < width
    found = tl.load(logits + row * stride + token, mask=inside, other=float("-inf")).to(tl.float32)
    if MASKED:
        # Tokens that the model rules out and the mask allows count if there are no others.
        found = tl.where(found == found, tl.maximum(found, -LARGEST), -LARGEST)
        inside = tl.load(mask + row * mask_stride + token, mask=inside, other=0) != 0
        found = tl.where(inside, found, float("-inf"))
    else:
        found = tl.where(found == found, found, float("-inf"))
    return tl.minimum(found, LARGEST)


@triton.jit
def top_of(tops, row, num_chunks, CHUNKS: tl.constexpr):
    """Return the largest score of a row, and the chunk that it is in: the first of several."""
    chunk = tl.arange(0, CHUNKS)
    found = tl.load(tops + row * num_chunks + chunk, mask=chunk < num_chunks, other=float("-inf"))
    return tl.max(found, 0), tl.argmax(found, 0)


@triton.jit
def distances_of(scores, top, temperature):
    """Return how far scores are below the largest, in units of the temperature. Their weights are `exp(-distance)`."""
    return tl.div_rn(top - scores, tl.maximum(temperature, TINY))


@triton.jit
def sum_of_chunks(numbers, row, num_chunks, CHUNKS: tl.constexpr):
    """Return the sum of the numbers of a row's chunks."""
    chunk = tl.arange(0, CHUNKS)
    return tl.sum(tl.load(numbers + row * num_chunks + chunk, mask=chunk < num_chunks, other=0), 0)


@triton.jit(do_not_specialize=["stride", "mask_stride", "width"])
def find_tops(tops, best, logits, stride, mask, mask_stride, width, MASKED: tl.constexpr, TOKENS: tl.constexpr):
    """Write the largest score of each chunk and its token, the first of several, `[B, C]` float32 and int32."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    scores = scores_of(logits, stride, mask, mask_stride, row, token, width, MASKED)
    place = row * tl.num_programs(1) + chunk
    tl.store(tops + place, tl.max(scores, 0))
    tl.store(best + place, chunk * TOKENS + tl.argmax(scores, 0))


@triton.jit(do_not_specialize=["stride", "mask_stride", "width", "temperature_stride"])
def add_weights(
    sums, tops, temperatures, temperature_stride, logits, stride, mask, mask_stride, width,
    MASKED: tl.constexpr, TOKENS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the sum of each chunk's weights, `[B, C]` float32; 0 in rows that allow nothing."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    top, _ = top_of(tops, row, tl.num_programs(1), CHUNKS)
    found = tl.zeros((), tl.float32)
    if tl.load(tops + row * tl.num_programs(1) + chunk) > float("-inf"):
        token = chunk * TOKENS + tl.arange(0, TOKENS)
        scores = scores_of(logits, stride, mask, mask_stride, row, token, width, MASKED)
        found = tl.sum(tl.exp(-distances_of(scores, top, tl.load(temperatures + row * temperature_stride))), 0)
    tl.store(sums + row * tl.num_programs(1) + chunk, found)


@triton.jit(do_not_specialize=["stride", "mask_stride", "width", "temperature_stride", "end_token"])
def write_chances(
    chances, tops, best, sums, end_token, temperatures, temperature_stride, logits, stride, mask, mask_stride, width,
    MASKED: tl.constexpr, TOKENS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the probabilities, `[B, width]` float32; rows that allow nothing get `end_token`, or none if it is -1."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    num_chunks = tl.num_programs(1)
    top, first = top_of(tops, row, num_chunks, CHUNKS)
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    temperature = tl.load(temperatures + row * temperature_stride)
    found = tl.zeros((TOKENS,), tl.float32)
    if top == float("-inf"):
        found = (token == end_token).to(tl.float32)
    elif temperature == 0:
        found = (token == tl.load(best + row * num_chunks + first)).to(tl.float32)
    elif tl.load(tops + row * num_chunks + chunk) > float("-inf"):
        total = sum_of_chunks(sums, row, num_chunks, CHUNKS)
        scores = scores_of(logits, stride, mask, mask_stride, row, token, width, MASKED)
        found = tl.exp(-distances_of(scores, top, temperature)) / total
    tl.store(chances + row * width + token, found, mask=token < width)


@triton.jit
def folded(word, bits: tl.constexpr):
    """Return the word XOR itself shifted to the right."""
    return word ^ (word >> bits)


@triton.jit
def mixed(word):
    """Apply SplitMix64's finalizer."""
    return folded(folded(folded(word, 30) * FIRST, 27) * SECOND, 31)


@triton.jit
def times_gamma(number):
    """Return `(number + 1) * GAMMA` as a word; the number may be a constant of the compiled kernel."""
    return (tl.full((), number, tl.int64) + 1).to(tl.uint64, bitcast=True) * GAMMA


@triton.jit
def exponential(key, token):
    """Return a number of the exponential distribution for each of some tokens, from half a word each."""
    word = mixed(key + (token // 2 + 1).to(tl.uint64) * GAMMA)
    half = tl.where(token % 2 == 0, word, word >> 32) & 0x7FFFFFFF
    return -libdevice.log1p(-tl.minimum((half.to(tl.int32).to(tl.float32) + 0.5) * 2.0**-31, 1 - 2.0**-24))


@triton.jit(do_not_specialize=["stride", "step_stride", "stream_number", "step", "width"])
def race(
    speeds, fastest, chances, stride, seeds, steps, step_stride, stream_number, step, width,
    HAS_STEPS: tl.constexpr, TOKENS: tl.constexpr,
):  # fmt: skip
    """Write the speed of the fastest token of each chunk and the token, `[B, C]` float32 and int32.

    The steps are those of rows, or `step` for all. Triton reserves the name `stream` for an argument of its own."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    chance = tl.load(chances + row * stride + token, mask=token < width, other=0.0)
    best, at = tl.zeros((), tl.float32), tl.zeros((), tl.int32)
    if tl.max(chance, 0) > 0:
        key = mixed(tl.load(seeds + row).to(tl.uint64, bitcast=True) + GAMMA)
        key = mixed(key + times_gamma(stream_number))
        if HAS_STEPS:
            key += times_gamma(tl.load(steps + row * step_stride))
        else:
            key += times_gamma(step)
        speed = tl.div_rn(tl.full((TOKENS,), 1.0, tl.float32), exponential(mixed(key), token)) * chance
        best, at = tl.max(speed, 0), tl.argmax(speed, 0)
    place = row * tl.num_programs(1) + chunk
    tl.store(speeds + place, best)
    tl.store(fastest + place, chunk * TOKENS + at)


@triton.jit(do_not_specialize=["num_chunks"])
def find_winners(tokens, speeds, fastest, num_chunks, CHUNKS: tl.constexpr):
    """Write the fastest token of each row, `[B]` int64; -1 if none has a chance."""
    row = tl.program_id(0).to(tl.int64)
    best, chunk = top_of(speeds, row, num_chunks, CHUNKS)
    tl.store(tokens + row, tl.where(best > 0, tl.load(fastest + row * num_chunks + chunk), -1).to(tl.int64))

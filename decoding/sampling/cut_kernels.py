"""Top-k, top-p and min-p as kernels for a GPU, in Triton (`decoding.sampling.cuts` calls them).

Each keeps the likeliest tokens of a row, so a *cut* describes which tokens are kept:

    distance     how far the score of a token is below the largest, in units of the temperature, 0 or more
    key          the bits of the distance as an integer, which have the same order
    threshold    all tokens with a smaller key are kept
    ties         the tokens whose key is the threshold; a number of them are kept too, lower ids first

No row is sorted. The key of a threshold is found four bits at a time: each chunk counts its tokens, or adds up their
weights, in 16 intervals of keys, and the next launch continues in the interval that contains the threshold.

    write_distances    the distances, in place of the probabilities
    narrow             the count or the weight of a chunk in each interval
    finish             the cut
    weigh              the total weight that a cut keeps of a chunk
    write_kept         the probabilities, in place of the distances

`decoding.sampling.truncation` defines the results. Sums of weights are rounded in a different order there, so a token
on the border of a nucleus may fall on the other side.

Rejected: `torch.sort` and `torch.topk` (1.8 milliseconds for 64 rows of 128,000 tokens, most of a step); sums by atomic
additions (their order, and so the draw, would vary from run to run).
"""

from __future__ import annotations

import triton
import triton.language as tl

from decoding.sampling.kernels import distances_of, scores_of, sum_of_chunks, top_of

# How many intervals of keys a launch distinguishes, and how many bits of a key an interval leaves open, by launch.
INTERVALS = 16
OPEN_BITS = (28, 24, 20, 16, 12, 8, 4, 0)
# A state of the search has the lower end of the interval; how many ties are kept, -1 while it is not known; the number
# of tokens with smaller keys, and their weight.
NUM_FIELDS = 4
FIELDS = tl.constexpr(NUM_FIELDS)
# The key of tokens that are not allowed, which is the largest; and a number beyond all keys.
LARGEST_KEY, BEYOND_KEYS = 0x7F800000, 0x7FFFFFFF
LARGEST, BEYOND = tl.constexpr(LARGEST_KEY), tl.constexpr(BEYOND_KEYS)


@triton.jit
def key_of(distances):
    """Return the keys of distances."""
    return distances.to(tl.int32, bitcast=True)


@triton.jit
def weight_at(key):
    """Return the weight of a token with a key."""
    return tl.exp(-key.to(tl.float32, bitcast=True))


@triton.jit(do_not_specialize=["stride", "mask_stride", "width", "temperature_stride"])
def write_distances(
    distances, tops, temperatures, temperature_stride, logits, stride, mask, mask_stride, width,
    MASKED: tl.constexpr, TOKENS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the distances of a chunk, `[B, width]` float32; in rows that allow nothing they are not numbers."""
    row, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    top, _ = top_of(tops, row, tl.num_programs(1), CHUNKS)
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    scores = scores_of(logits, stride, mask, mask_stride, row, token, width, MASKED)
    found = distances_of(scores, top, tl.load(temperatures + row * temperature_stride))
    tl.store(distances + row * width + token, found, mask=token < width)


@triton.jit
def in_intervals(values, row, num_chunks, CHUNKS: tl.constexpr, INTERVALS: tl.constexpr):
    """Return the sum over the chunks of a row of their values in each interval, `[INTERVALS]`."""
    chunk, interval = tl.arange(0, CHUNKS)[:, None], tl.arange(0, INTERVALS)[None, :]
    place = (row * num_chunks + chunk) * INTERVALS + interval
    return tl.sum(tl.load(values + place, mask=chunk < num_chunks, other=0), 0)


@triton.jit
def kept_weight(sums, ties, thresholds, kept_ties, row, num_chunks, CHUNKS: tl.constexpr):
    """Return the weight that a cut keeps of a row, from the results of `weigh`."""
    num_ties, threshold = tl.load(kept_ties + row), tl.load(thresholds + row)
    found = sum_of_chunks(sums, row, num_chunks, CHUNKS)
    if num_ties > 0:
        found += tl.minimum(num_ties, sum_of_chunks(ties, row, num_chunks, CHUNKS)) * weight_at(threshold)
    return found


@triton.jit
def needed_by(
    needs, need_stride, sums, ties, thresholds, kept_ties, row, num_chunks, width,
    BY_WEIGHT: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Return the number of tokens that top-k keeps of a row; or the weight that top-p keeps of an earlier cut."""
    given = tl.load(needs + row * need_stride)
    if BY_WEIGHT:
        needed = given * kept_weight(sums, ties, thresholds, kept_ties, row, num_chunks, CHUNKS)
    else:
        needed = tl.minimum(given, width).to(tl.int32)
    return needed


@triton.jit
def narrowed(
    states, counts, weights, open_bits, needed, row, num_chunks,
    BY_WEIGHT: tl.constexpr, CHUNKS: tl.constexpr, INTERVALS: tl.constexpr,
):  # fmt: skip
    """Return the state of the search after a launch that left `open_bits` bits open."""
    low, num_ties = tl.load(states + row * FIELDS), tl.load(states + row * FIELDS + 1)
    count = tl.load(states + row * FIELDS + 2)
    weight = tl.load(states + row * FIELDS + 3).to(tl.float32, bitcast=True)
    if num_ties < 0:
        interval = tl.arange(0, INTERVALS)
        own_counts = in_intervals(counts, row, num_chunks, CHUNKS, INTERVALS)
        if BY_WEIGHT:
            own_weights = in_intervals(weights, row, num_chunks, CHUNKS, INTERVALS)
            reached = weight + tl.cumsum(own_weights, 0) >= needed
        else:
            reached = count + tl.cumsum(own_counts, 0) >= needed
        # Because of rounding, the sums may not reach what is needed: then the last interval is taken.
        last = tl.full((), BEYOND, tl.int32) >> open_bits
        own = tl.minimum(tl.min(tl.where(reached, interval, INTERVALS - 1), 0), last)
        inside = tl.sum(tl.where(interval == own, own_counts, 0), 0)
        count += tl.sum(tl.where(interval < own, own_counts, 0), 0)
        low += own << open_bits
        if BY_WEIGHT:
            weight += tl.sum(tl.where(interval < own, own_weights, 0.0), 0)
            is_whole = inside == 1
        else:
            is_whole = count + inside == needed
        if is_whole:
            low = tl.minimum(low.to(tl.int64) + (tl.full((), 1, tl.int64) << open_bits), BEYOND).to(tl.int32)
            num_ties = tl.full((), 0, tl.int32)
        elif open_bits == 0:
            if BY_WEIGHT:
                fitting = tl.ceil((needed - weight) / tl.maximum(weight_at(low), 1e-45))
                num_ties = tl.maximum(tl.minimum(fitting, 1e9), 1).to(tl.int32)
            else:
                num_ties = (needed - count).to(tl.int32)
    return low, num_ties, count, weight


@triton.jit(do_not_specialize=["need_stride", "width", "open_bits", "old_bits"])
def narrow(
    states, counts, weights, old_states, old_counts, old_weights, open_bits, old_bits,
    needs, need_stride, sums, ties, thresholds, kept_ties, distances, width,
    FIRST: tl.constexpr, BY_WEIGHT: tl.constexpr, INTERVALS: tl.constexpr, TOKENS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the state after the previous launch, and the counts and weights of chunks by interval, `[B, C, INTERVALS]`.

    Counts are int32. Weights are float32, and only top-p needs them."""
    row, chunk, num_chunks = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    if FIRST:
        low, num_ties = tl.full((), 0, tl.int32), tl.full((), -1, tl.int32)
        count, weight = tl.full((), 0, tl.int32), tl.full((), 0.0, tl.float32)
    else:
        needed = needed_by(
            needs, need_stride, sums, ties, thresholds, kept_ties, row, num_chunks, width, BY_WEIGHT, CHUNKS
        )
        low, num_ties, count, weight = narrowed(
            old_states, old_counts, old_weights, old_bits, needed, row, num_chunks, BY_WEIGHT, CHUNKS, INTERVALS
        )
    if chunk == 0:
        tl.store(states + row * FIELDS, low)
        tl.store(states + row * FIELDS + 1, num_ties)
        tl.store(states + row * FIELDS + 2, count)
        tl.store(states + row * FIELDS + 3, weight.to(tl.int32, bitcast=True))
    if num_ties < 0:
        token = chunk * TOKENS + tl.arange(0, TOKENS)
        found = tl.load(distances + row * width + token, mask=token < width, other=float("nan"))
        key = key_of(found)
        # NaN, as in padding and in rows that allow nothing, is in no interval.
        own = (key - low) >> open_bits
        own = tl.where((found == found) & (key >= low) & (own < INTERVALS), own, INTERVALS)
        interval = tl.arange(0, INTERVALS)
        place = (row * num_chunks + chunk) * INTERVALS + interval
        is_any = tl.min(own, 0) < INTERVALS
        slot = tl.arange(0, 2 * INTERVALS)
        own_counts = tl.zeros((2 * INTERVALS,), tl.int32)
        if is_any:
            own_counts = tl.histogram(own, 2 * INTERVALS)
        tl.store(counts + (row * num_chunks + chunk) * INTERVALS + slot, own_counts, mask=slot < INTERVALS)
        if BY_WEIGHT:
            own_weights = tl.zeros((INTERVALS,), tl.float32)
            if is_any:
                weight_of = tl.exp(-found)
                for each in tl.static_range(INTERVALS):
                    there = tl.sum(tl.where(own == each, weight_of, 0.0), 0)
                    own_weights = tl.where(interval == each, there, own_weights)
            tl.store(weights + place, own_weights)


@triton.jit(do_not_specialize=["need_stride", "width", "num_chunks"])
def finish(
    new_thresholds, new_kept_ties, old_states, old_counts, old_weights,
    needs, need_stride, sums, ties, thresholds, kept_ties, width, num_chunks,
    BY_WEIGHT: tl.constexpr, INTERVALS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the cut of each row, `[B]` int32 each. Top-p keeps no more than the cut that came before."""
    row = tl.program_id(0).to(tl.int64)
    needed = needed_by(needs, need_stride, sums, ties, thresholds, kept_ties, row, num_chunks, width, BY_WEIGHT, CHUNKS)
    low, num_ties, _, _ = narrowed(
        old_states, old_counts, old_weights, 0, needed, row, num_chunks, BY_WEIGHT, CHUNKS, INTERVALS
    )
    if BY_WEIGHT:
        old_threshold, old_num_ties = tl.load(thresholds + row), tl.load(kept_ties + row)
        keeps_all = tl.load(needs + row * need_stride) >= 1
        if keeps_all | (old_threshold < low) | ((old_threshold == low) & (old_num_ties < num_ties)):
            low = old_threshold
            num_ties = old_num_ties
    tl.store(new_thresholds + row, low)
    tl.store(new_kept_ties + row, tl.where(low > LARGEST, 0, num_ties))


@triton.jit(do_not_specialize=["width"])
def weigh(sums, ties, thresholds, distances, width, TOKENS: tl.constexpr):
    """Write the weight of each chunk's tokens before a cut, `[B, C]` float32, and the number of tokens at it, int32."""
    row, chunk, threshold = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.load(thresholds + tl.program_id(0))
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    found = tl.load(distances + row * width + token, mask=token < width, other=float("nan"))
    key, place = key_of(found), row * tl.num_programs(1) + chunk
    tl.store(sums + place, tl.sum(tl.where((key < threshold) & (found == found), tl.exp(-found), 0.0), 0))
    tl.store(ties + place, tl.sum((key == threshold).to(tl.int32), 0))


@triton.jit(do_not_specialize=["width", "temperature_stride", "end_token"])
def write_kept(
    chances, sums, ties, thresholds, kept_ties, tops, best, end_token, temperatures, temperature_stride, width,
    TOKENS: tl.constexpr, CHUNKS: tl.constexpr,
):  # fmt: skip
    """Write the probabilities in place of the distances; `end_token` is as for `write_chances`."""
    row, chunk, num_chunks = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.num_programs(1)
    top, first = top_of(tops, row, num_chunks, CHUNKS)
    token = chunk * TOKENS + tl.arange(0, TOKENS)
    found = tl.zeros((TOKENS,), tl.float32)
    if top == float("-inf"):
        found = (token == end_token).to(tl.float32)
    elif tl.load(temperatures + row * temperature_stride) == 0:
        found = (token == tl.load(best + row * num_chunks + first)).to(tl.float32)
    else:
        threshold, num_ties = tl.load(thresholds + row), tl.load(kept_ties + row)
        distances = tl.load(chances + row * width + token, mask=token < width, other=float("inf"))
        key = key_of(distances)
        kept = key < threshold
        if num_ties > 0:
            part = tl.arange(0, CHUNKS)
            own_ties = tl.load(ties + row * num_chunks + part, mask=part < chunk, other=0)
            is_tie = (key == threshold) & (token < width)
            kept = kept | (is_tie & (tl.sum(own_ties, 0) + tl.cumsum(is_tie.to(tl.int32), 0) <= num_ties))
        total = kept_weight(sums, ties, thresholds, kept_ties, row, num_chunks, CHUNKS)
        found = tl.where(kept, tl.exp(-distances), 0.0) / total
    tl.store(chances + row * width + token, found, mask=token < width)

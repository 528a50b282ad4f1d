"""The number of tokens that are needed after each class, for budgets and the soft close.

    distance    the least number of tokens after a class, including the end token           [B, K]
                = rest[context, rest of move] + cost      of the stack that the move leaves
                + runs of the node by count       if something is counted

A class is allowed within a budget if its distance is less than the number of tokens that may still be written. The
numbers are those of `min_tokens`: exact for automata without a stack, and for those with a stack while it has room.
"""

from __future__ import annotations

import torch
from torch import Tensor

from decoding.arena import layout
from decoding.arena.layout import PAIR_SIZE
from decoding.arena.program import Program, Tables
from decoding.arena.sequences import CONTEXT, COST, Sequences
from tokenfst.pushdown.distance import FAR


def distances(program: Program, at: Sequences) -> Tensor:
    """Return the fewest tokens after each class, including the end token, `[B, K]`; `FAR` or more if not allowed."""
    shape, tables = program.shape, program.tables(at.slot)
    configurations = at.row.shape[1]
    classes = torch.arange(shape.classes, device=program.device)
    inside = classes < tables.number(layout.NUM_CLASSES)
    number = torch.where(inside, classes, 0).repeat(1, configurations)
    move = program.moves(tables, program.rows(at).repeat_interleave(shape.classes, 1), number).flatten(1)
    times = shape.classes * shape.at_once
    pops, _, _, node, keeps, adds = program.effects(tables, move)
    # The entries of classes that are not allowed may pop more than there is.
    base = (at.height.repeat_interleave(times, 1) - pops).clamp(min=0)
    context, cost = _below(program, at, base.unflatten(1, (configurations, -1)))
    column = program.read(tables.place(layout.REST_OF) + move)
    rest = program.read(tables.place(layout.REST) + context * tables.number(layout.NUM_RESTS) + column) + cost
    if shape.runs:
        count = keeps * at.counter.repeat_interleave(times, 1) + adds
        rest = rest + _of_count(program, tables, node, count)
    rest = rest.view(len(at.slot), configurations, shape.classes, shape.at_once).amin((1, 3))
    return torch.where(inside, rest, FAR)


def allowed_within(program: Program, at: Sequences, remaining: Tensor | int, begin: int, end: int) -> Tensor:
    """Return the masks of the tokens from `begin` to `end` within budgets, `[B, end - begin]` bool.

    Args:
        program: the steps.
        at: the states of the sequences.
        remaining: the number of tokens that may still be written, `[B]` or one number.
        begin, end: the range of tokens.
    """
    budgets = remaining[:, None] if isinstance(remaining, Tensor) else remaining
    return (distances(program, at) < budgets).gather(1, _classes(program, at, begin, end))


def excess(program: Program, at: Sequences, begin: int, end: int) -> Tensor:
    """Return by how many tokens each token makes a text longer than the shortest, `[B, end - begin]`."""
    rest = distances(program, at)
    return (rest - rest.amin(1, keepdim=True)).clamp(max=1 << 20).gather(1, _classes(program, at, begin, end))


def _classes(program: Program, at: Sequences, begin: int, end: int) -> Tensor:
    """Return the class of each token for each sequence, `[B, end - begin]`."""
    tokens = torch.arange(begin, end, device=program.device)
    return program.read(program.tables(at.slot).place(layout.CLASSES) + tokens)


def _below(program: Program, at: Sequences, base: Tensor) -> tuple[Tensor, Tensor]:
    """Return the context and the cost of the stacks below the heights `base`, `[B, P, n / P]`; `[B, n]` each."""
    if not program.depth:
        nothing = torch.zeros_like(base).flatten(1)
        return nothing, nothing
    place = (base - 1).clamp(min=0)
    context, cost = (at.stack[..., column].gather(2, place).long() for column in (CONTEXT, COST))
    return torch.where(base > 0, context, 0).flatten(1), torch.where(base > 0, cost, 0).flatten(1)


def _of_count(program: Program, tables: Tables, node: Tensor, count: Tensor) -> Tensor:
    """Return the fewest tokens by count, `[B, n]`: those of the node's last run that begins no later than the count."""
    has_runs = tables.number(layout.HAS_RUNS) > 0
    place = torch.where(has_runs, tables.place(layout.NODE_RUNS) + PAIR_SIZE * node, 0)
    begin, size = program.read(place), torch.where(has_runs, program.read(place + 1), 0)
    first = tables.place(layout.RUNS) + PAIR_SIZE * begin
    low, high = torch.zeros_like(size), size
    for _ in range(program.shape.runs.bit_length()):
        middle = (low + high) // 2
        inside = low < high
        begins = program.read(torch.where(inside, first + PAIR_SIZE * middle, 0)) <= count
        low = torch.where(inside & begins, middle + 1, low)
        high = torch.where(inside & ~begins, middle, high)
    found = program.read(torch.where(low > 0, first + PAIR_SIZE * (low - 1) + 1, 0))
    return torch.where(low > 0, found, 0)

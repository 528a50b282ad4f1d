"""From a machine to its block (`decoding.arena.layout`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from automata.arrays import IntArray
from automata.errors import LimitExceeded
from automata.limits import Work
from decoding.arena import layout
from decoding.arena.comb import comb
from decoding.arena.layout import CHUNK_WORDS, FIELDS
from decoding.arena.machine import Machine
from decoding.arena.mask_chunks import mask_chunks, num_chunks
from decoding.arena.program import Shape
from tokenfst.finite.classes import NEVER

# Places are int32, so a block has at most this many words.
_MAX_WORDS = np.iinfo(np.int32).max


class ArenaKind(NamedTuple):
    """The properties of an arena on which its blocks depend: the vocabulary's digest, and arguments of `Arena`."""

    vocabulary: str
    width: int
    begin: int
    end: int
    max_depth: int


class Block(NamedTuple):
    """A machine in the form that is copied into an arena.

    Attributes:
        words: `[n]` int32, the words that are copied.
        shape: the shapes that a step with it needs.
        depth: the maximum number of symbols on its stack.
        least: the fewest tokens of a whole text, including the end token.
        is_ambiguous: whether a text may have several configurations.
        is_empty: whether no text is allowed, because every text needs a higher stack.
        made_for: the `kind` of the arenas that may enter the block; None for blocks that an arena makes for itself.
    """

    words: IntArray
    shape: Shape
    depth: int
    least: int
    is_ambiguous: bool
    is_empty: bool
    made_for: ArenaKind | None = None


def block_of(machine: Machine, width: int, begin: int, end: int, work: Work) -> Block:
    """Return the block of a machine, for tokens below `width`, with masks over those from `begin` to `end`.

    Raises:
        LimitExceeded: it takes too much memory.
    """
    row_mask, masks, chunks, forced = mask_chunks(machine, begin, end, work)
    of_masks = {layout.ROW_MASK: row_mask, layout.MASKS: masks, layout.ROW_FORCED: forced}
    unsorted = _tables(machine, width, work) | of_masks | weight_tables(machine, begin, end)
    # In the order of the fields: the native core finds the size of a table from the place of the next one.
    tables = dict(sorted(unsorted.items()))
    head = np.zeros(FIELDS, np.int64)
    place = FIELDS + chunks.size
    for field, table in tables.items():
        head[field], place = place, place + table.size
    if place > _MAX_WORDS:
        raise LimitExceeded(f"an automaton in the arena has at most {_MAX_WORDS:,} words, and this one {place:,}")
    work.budget.charge(4 * place)
    for field, number in _numbers(machine).items():
        head[field] = number
    # Chunks follow the head, and masks hold their places.
    tables[layout.MASKS] = FIELDS + masks.astype(np.int64) * CHUNK_WORDS
    tables[layout.ROW_MASK] = head[layout.MASKS] + row_mask.astype(np.int64) * num_chunks(end - begin)
    words, end_of_part = np.empty(place, np.int32), 0
    parts: list[npt.NDArray[np.integer]] = [head, chunks, *tables.values()]
    for part in parts:
        words[end_of_part : end_of_part + part.size] = part.reshape(-1)
        end_of_part += part.size
    return Block(
        words, Shape.of(machine), machine.depth, machine.least, machine.is_ambiguous, machine.first_row == layout.DEAD
    )


def _tables(machine: Machine, width: int, work: Work) -> dict[int, npt.NDArray[np.integer]]:
    """Return the tables of a machine by field, except those of masks and weights."""
    classes, missing = machine.token_class, width - len(machine.token_class)
    if missing:
        classes = np.append(classes, np.full(missing, NEVER))
    combs, entries = comb(machine.rows, machine.num_classes, work)
    return {
        layout.CLASSES: classes,
        layout.ROW_COMB: combs,
        layout.COMB: entries,
        layout.OUTCOMES: machine.outcomes,
        layout.MOVES: machine.moves,
        layout.REST_OF: machine.rest_of,
        layout.PUSHES: machine.pushes,
        layout.NODES: machine.nodes,
        layout.WALK: machine.walk,
        layout.NODE_ROWS: machine.node_rows,
        layout.CUTS: machine.cuts,
        layout.REST: machine.rest,
        layout.NEXT: machine.next,
        layout.COST: machine.cost,
        layout.NODE_RUNS: machine.node_runs,
        layout.RUNS: machine.runs,
    }


def _numbers(machine: Machine) -> dict[int, int]:
    """Return the numbers in the head of a machine's block, by field."""
    return {
        layout.NO_OUTCOME: len(machine.outcomes) - 2,
        layout.TIMES: machine.outcomes.shape[1],
        layout.NUM_CLASSES: machine.num_classes,
        layout.NUM_SYMBOLS: machine.walk.shape[1] - 1,
        layout.NUM_MOVES: len(machine.moves),
        layout.NUM_RESTS: machine.rest.shape[1],
        layout.GAUGE: machine.gauge,
        layout.DEPTH: machine.depth,
        layout.FIRST: machine.first,
        layout.HAS_RUNS: len(machine.runs) > 0,
        layout.HAS_WEIGHTS: len(machine.weight_tokens) > 0,
    }


def weight_tables(machine: Machine, begin: int, end: int) -> dict[int, npt.NDArray[np.integer]]:
    """Return the tables of weights of the tokens from `begin` to `end`, which are numbered from 0 in them."""
    tokens, sizes = machine.weight_tokens, machine.row_weights[:, 1]
    inside = (begin <= tokens) & (tokens < end)
    before = np.concatenate([[0], np.cumsum(inside)])
    first = machine.row_weights[:, 0]
    rows = np.stack([before[first], before[first + sizes] - before[first]], axis=1)
    bits = machine.weight_costs[inside].view(np.int32)
    return {layout.ROW_WEIGHTS: rows, layout.WEIGHTS: np.stack([tokens[inside] - begin, bits], axis=1)}

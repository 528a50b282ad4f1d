"""One step of a batch as tensor operations: each sequence by its own automaton, all by the same gathers.

    head        the head of each sequence's block: the places of its tables                       [B, FIELDS]
    look up     class of the token; combs of the rows -> outcomes -> moves                        [B, P, R]
    stack       the rest of the stack, with the pushed symbols on top                             [B, C, ..], C = P x R
    settle      from the node of the move, along the stack: the row of the gauge's interval       [B, C, L]
    distinct    the first P different candidates (`decoding.arena.parallel`)                      [B, P, L]

Shapes depend only on the batch and on `Shape`, and the host reads no values, so a step can be part of a CUDA graph or a
compiled function. The program is also the reference for the native core (`decoding.arena.on_cpu`) and for the kernels
on a GPU (`decoding.arena.on_gpu`).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from decoding.arena import layout
from decoding.arena.layout import (
    CHUNK_WORDS,
    CUTS_AT,
    DEAD,
    ENDED,
    FIELDS,
    MOVE_SIZE,
    NODE_SIZE,
    NOTHING_ALLOWED,
    NUM_CUTS,
    PAIR_SIZE,
    ROWS_AT,
    WALK_AT,
)
from decoding.arena.machine import Machine
from decoding.arena.parallel import Candidates, keep_distinct
from decoding.arena.sequences import CONTEXT, COST, SYMBOL, Sequences
from tokenfst.pushdown.distance import FAR


class Shape(NamedTuple):
    """The sizes on which the shapes of a step depend, besides that of the batch: maxima over the automata of an arena.

    Attributes:
        times: T, the number of moves of an outcome.
        reads: the number of symbols that nodes read from the top of the stack.
        longest: N, the number of symbols that a move pushes.
        cuts: the number of cuts of a node.
        classes: K, the number of token classes.
        runs: the number of runs of a node.
        parts: L, the number of rows of a configuration.
        at_once: R, the number of moves that a class makes from these rows.
        weights: the number of weights of a row.
    """

    times: int = 1
    reads: int = 0
    longest: int = 0
    cuts: int = 0
    classes: int = 1
    runs: int = 0
    parts: int = 1
    at_once: int = 1
    weights: int = 0

    @staticmethod
    def of(machine: Machine) -> Shape:
        """Return the shapes that one machine needs."""
        return Shape(
            times=machine.outcomes.shape[1],
            reads=machine.reads,
            longest=machine.longest,
            cuts=int(machine.nodes[:, NUM_CUTS].max()),
            classes=machine.num_classes,
            runs=int(machine.node_runs[:, 1].max(initial=0)),
            parts=machine.parts,
            at_once=machine.at_once,
            weights=int(machine.row_weights[:, 1].max(initial=0)),
        )


class Program:
    """The steps of an arena.

    Attributes:
        words: `[H]` int32, the arena's memory.
        places: `[slots]` int64, where the block of each slot lies.
        shape: the shapes of a step.
        depth: D, the maximum number of symbols on a stack.
    """

    def __init__(self, words: Tensor, places: Tensor, depth: int) -> None:
        self.words, self.places, self.depth = words, places, depth
        self.shape = Shape()
        self.device = words.device
        self._head = torch.arange(FIELDS, device=self.device)
        self._chunk = torch.arange(CHUNK_WORDS, device=self.device)
        self._move = torch.arange(MOVE_SIZE, device=self.device)
        self._pair = torch.arange(PAIR_SIZE, device=self.device)

    def read(self, places: Tensor) -> Tensor:
        """Return the words at places, of any shape, int64."""
        return self.words.index_select(0, places.flatten()).view(places.shape).long()

    def tables(self, slot: Tensor) -> Tables:
        """Return the heads of the blocks of sequences."""
        place = self.places.index_select(0, slot)
        return Tables(place, self.read(place[:, None] + self._head))

    def starts(self, slot: Tensor, configurations: int) -> Sequences:
        """Return the start states of sequences in the automata of slots, `[B]` int64."""
        tables = self.tables(slot)
        none = torch.zeros((len(slot), 1), dtype=torch.int64, device=self.device)
        stack = torch.zeros((len(slot), 1, self.depth + 1, 3), dtype=torch.int32, device=self.device)
        symbols = tables.number(layout.NUM_SYMBOLS)[:, :, None].expand(-1, -1, self.shape.reads)
        row = self.settle(tables, tables.number(layout.FIRST), none, none, symbols)
        row = torch.nn.functional.pad(row, (0, 0, 0, configurations - 1), value=DEAD)
        none, stack = none.repeat(1, configurations), stack.repeat(1, configurations, 1, 1)
        # A step may be taken in place, so no two parts share memory.
        return Sequences(slot, row, none, none.clone(), stack, none[:, 0].bool())

    def settle(self, tables: Tables, node: Tensor, count: Tensor, height: Tensor, symbols: Tensor) -> Tensor:
        """Return the rows of nodes and of the nodes that the stack leads to from them, `[B, C, L]`, dead rows last.

        Args:
            tables: the heads of the sequences' blocks.
            node, count, height: `[B, C]`, the node, the count and the height of the stack after each move.
            symbols: `[B, C, reads]`, the topmost symbols, the top first.
        """
        gauge = torch.where(tables.number(layout.GAUGE) == layout.COUNT, count, tables.number(layout.DEPTH) - height)
        rows = [self._row(tables, node, gauge)]
        for symbol in symbols.unbind(2):
            walk = self.read(tables.place(layout.NODES) + NODE_SIZE * node + WALK_AT)
            reached = self.read(tables.place(layout.WALK) + walk.clamp(min=0) + symbol)
            node = torch.where(walk >= 0, reached, DEAD)
            rows.append(self._row(tables, node, gauge))
        found = torch.stack(rows, 2)
        if len(rows) == 1:
            return found
        order = (found == DEAD).to(torch.uint8).argsort(dim=2, stable=True)
        return found.gather(2, order[:, :, : self.shape.parts])

    def _row(self, tables: Tables, node: Tensor, gauge: Tensor) -> Tensor:
        """Return the row that each node itself selects by the gauge, `[B, C]`."""
        at = tables.place(layout.NODES) + NODE_SIZE * node
        rows = self.read(at + ROWS_AT)
        if self.shape.cuts:
            place = torch.arange(self.shape.cuts, device=self.device)
            first = tables.place(layout.CUTS) + self.read(at + CUTS_AT)
            inside = place < self.read(at + NUM_CUTS)[:, :, None]
            cuts = self.read(torch.where(inside, first[:, :, None] + place, 0))
            rows = rows + (inside & (cuts <= gauge[:, :, None])).sum(2)
        return self.read(tables.place(layout.NODE_ROWS) + rows)

    def rows(self, at: Sequences) -> Tensor:
        """Return the rows of sequences, `[B, P, L]`; sequences from before L grew are padded with dead rows."""
        return torch.nn.functional.pad(at.row, (0, self.shape.parts - at.row.shape[2]), value=DEAD)

    def moves(self, tables: Tables, row: Tensor, number: Tensor) -> Tensor:
        """Return the numbers of the moves that classes make from configurations, `[B, n, R]`.

        Args:
            tables: the heads of the sequences' blocks.
            row: `[B, n, L]`, the rows of each configuration.
            number: `[B, n]`, the class.
        """
        combs = (tables.place(layout.ROW_COMB)[:, :, None] + PAIR_SIZE * row)[..., None] + self._pair
        base, first = self.read(combs).unbind(-1)
        entry = tables.place(layout.COMB)[:, :, None] + PAIR_SIZE * (base + number[:, :, None])
        nothing, named = tables.number(layout.NO_OUTCOME)[:, :, None], self.read(entry)
        outcome = torch.where((first <= named) & (named <= row), self.read(entry + 1), nothing)
        if self.shape.times > 1:
            return self._at_once(tables, self._moves_of(tables, outcome).flatten(2))
        # No outcome has several moves, so outcome i is move i.
        return self._at_once(tables, outcome)

    def _moves_of(self, tables: Tables, outcome: Tensor) -> Tensor:
        """Return the moves of outcomes, `[B, n, L, T]`."""
        times = tables.number(layout.TIMES)[:, :, None, None]
        place = torch.arange(self.shape.times, device=self.device)
        first = tables.place(layout.OUTCOMES)[:, :, None, None] + outcome[..., None] * times
        # The second to last move leads nowhere.
        return torch.where(
            place < times, self.read(first + place % times), tables.number(layout.NUM_MOVES)[:, :, None, None] - 2
        )

    def _at_once(self, tables: Tables, move: Tensor) -> Tensor:
        """Return the moves that lead somewhere, `[B, n, R]`, padded with the move that leads nowhere."""
        if move.shape[2] == self.shape.at_once:
            return move
        nowhere = tables.number(layout.NUM_MOVES)[:, :, None] - 2
        found = torch.where(move == nowhere, -1, move)
        if self.shape.at_once == 1:
            found = found.amax(2, keepdim=True)
        else:
            found = found.sort(dim=2, descending=True).values[:, :, : self.shape.at_once]
        return torch.where(found < 0, nowhere, found)

    def effects(self, tables: Tables, move: Tensor) -> list[Tensor]:
        """Return the columns of moves (`layout.POPS` ... `layout.ADDS`), each of the shape of `move`, `[B, n]`."""
        found = self.read((tables.place(layout.MOVES) + MOVE_SIZE * move)[:, :, None] + self._move)
        return list(found.unbind(2))

    def advance(self, at: Sequences, tokens: Tensor) -> Sequences:
        """Return the state of each sequence after one more token, `[B]` int64."""
        tables, configurations = self.tables(at.slot), at.row.shape[1]
        rows = self.rows(at)
        number = self.read(tables.place(layout.CLASSES) + tokens[:, None]).expand(-1, configurations)
        move = self.moves(tables, rows, number).flatten(1)
        times = self.shape.at_once
        pops, pushed, push_at, node, keeps, adds = self.effects(tables, move)
        base = at.height.repeat_interleave(times, 1) - pops
        height = base + pushed
        count = keeps * at.counter.repeat_interleave(times, 1) + adds
        pushes = self._pushes(tables, push_at, pushed)
        symbols = self._top(tables, at, base, height, pushes, self.shape.reads)
        row = self.settle(tables, node, count, height, symbols)
        # After its end, a sequence keeps its rows, whatever token comes.
        rows = rows.repeat_interleave(times, 1)
        has_ended = rows[:, :, 0] == ENDED
        row = torch.where(has_ended[:, :, None], rows, row)
        overflowed, stack = at.overflowed, at.stack
        if configurations > 1:
            near = self._top(tables, at, base, height, pushes, max(self.shape.longest, 1))
            node = torch.where(row[:, :, 0] == DEAD, DEAD, torch.where(has_ended, ENDED, node))
            order, kept, overflows = keep_distinct(stack[..., SYMBOL], Candidates(node, height, base, near))
            overflowed = overflowed | overflows
            row = row.gather(1, order[:, :, None].expand(-1, -1, row.shape[2]))
            row = torch.where((kept & ~overflowed[:, None])[:, :, None], row, DEAD)
            height, base, count, pushed = (part.gather(1, order) for part in (height, base, count, pushed))
            pushes = pushes.gather(1, order[:, :, None].expand(-1, -1, pushes.shape[2]))
            stack = stack.gather(1, (order // times)[:, :, None, None].expand(-1, -1, *stack.shape[2:]))
        return Sequences(at.slot, row, count, height, self._pushed(tables, stack, base, pushed, pushes), overflowed)

    def _pushes(self, tables: Tables, push_at: Tensor, pushed: Tensor) -> Tensor:
        """Return the symbols that moves push, from the bottom up, `[B, C, N]`; values past them have no meaning."""
        place = torch.arange(self.shape.longest, device=self.device)
        wanted = (tables.place(layout.PUSHES) + push_at)[:, :, None] + place
        return self.read(torch.where(place < pushed[:, :, None], wanted, 0))

    def _top(self, tables: Tables, at: Sequences, base: Tensor, height: Tensor, pushes: Tensor, reads: int) -> Tensor:
        """Return the topmost symbols of candidates, `[B, C, reads]`, the top first; below the lowest symbol it is S.

        Args:
            tables: the heads of the sequences' blocks.
            at: the states before the moves.
            base: `[B, C]`, the number of symbols that are left of the old stack.
            height: `[B, C]`, the height of the new stack.
            pushes: `[B, C, N]`, the symbols that are pushed.
            reads: the number of symbols to return.
        """
        place = height[:, :, None] - 1 - torch.arange(reads, device=self.device)
        bottom = tables.number(layout.NUM_SYMBOLS)[:, :, None]
        if not reads or not self.depth:
            return bottom.expand(place.shape)
        old = at.stack[..., SYMBOL].repeat_interleave(self.shape.at_once, 1)
        old = old.gather(2, place.clamp(0, self.depth)).long()
        symbols = torch.where(place >= 0, old, bottom)
        if self.shape.longest:
            above = place - base[:, :, None]
            new = pushes.gather(2, above.clamp(0, self.shape.longest - 1))
            symbols = torch.where(above >= 0, new, symbols)
        return symbols

    def _pushed(self, tables: Tables, stack: Tensor, base: Tensor, pushed: Tensor, pushes: Tensor) -> Tensor:
        """Return the stacks with the pushed symbols on top, each with its context and cost (`Sequences.stack`)."""
        if not self.depth or not self.shape.longest:
            return stack
        below = stack.gather(2, (base - 1).clamp(0, self.depth)[:, :, None, None].expand(-1, -1, 1, 3)).squeeze(2)
        context = torch.where(base > 0, below[..., CONTEXT].long(), 0)
        cost = torch.where(base > 0, below[..., COST].long(), 0)
        entries, places = [], []
        for number, symbol in enumerate(pushes.unbind(2)):
            inside = number < pushed
            symbol = torch.where(inside, symbol, 0)
            entry = context * tables.number(layout.NUM_SYMBOLS) + symbol
            added = self.read(torch.where(inside, tables.place(layout.COST) + entry, 0))
            cost = torch.where(inside, (cost + added).clamp(max=FAR), cost)
            context = torch.where(inside, self.read(torch.where(inside, tables.place(layout.NEXT) + entry, 0)), context)
            entries.append(torch.stack([symbol, context, cost], 2))
            # Symbols that are not pushed are written to the last entry, which is never read.
            places.append(torch.where(inside, base + number, self.depth))
        place = torch.stack(places, 2).clamp(0, self.depth)[..., None].expand(-1, -1, -1, 3)
        return stack.scatter(2, place, torch.stack(entries, 2).int())

    def mask_words(self, at: Sequences, num_chunks: int) -> Tensor:
        """Return packed masks, `[B, num_chunks * CHUNK_WORDS]` int32."""
        tables = self.tables(at.slot)
        mask = self.read(tables.place(layout.ROW_MASK) + at.row.flatten(1)) + tables.base
        first, *others = mask.unbind(1)
        united = self._words(tables, first, num_chunks)
        for other in others:
            united = united | self._words(tables, other, num_chunks)
        return united

    def _words(self, tables: Tables, mask: Tensor, num_chunks: int) -> Tensor:
        """Return the words of one mask for each sequence, `[B, num_chunks * CHUNK_WORDS]`; `mask` is its place."""
        chunk = self.read(mask[:, None] + torch.arange(num_chunks, device=self.device)) + tables.base
        return self.words[chunk[:, :, None] + self._chunk].flatten(1)

    def subtract_weights_(self, logits: Tensor, at: Sequences) -> Tensor:
        """Subtract the costs of tokens from logits, `[B, V]`, in place."""
        if not self.shape.weights:
            return logits
        tables = self.tables(at.slot)
        has_weights = tables.number(layout.HAS_WEIGHTS) > 0
        entry = torch.where(has_weights, tables.place(layout.ROW_WEIGHTS) + 2 * at.row[:, 0, :1], 0)
        begin, size = self.read(entry), self.read(entry + 1)
        number = torch.arange(self.shape.weights, device=self.device)
        inside = has_weights & (size > 0)
        # Past the end, the last weight is repeated, which writes the same logit again. Without weights, token 0 stays
        # unchanged.
        place = tables.place(layout.WEIGHTS) + 2 * (begin + torch.minimum(number, size - 1))
        place = torch.where(inside, place, 0)
        tokens = torch.where(inside, self.read(place), 0)
        bits = self.words.index_select(0, (place + 1).flatten()).view(place.shape)
        costs = torch.where(inside, bits.view(torch.float32), 0)
        # The difference is computed in float32 at least, and rounded once.
        return logits.scatter_(1, tokens, rounded(logits.gather(1, tokens) - costs, logits.dtype))

    def forced(self, at: Sequences) -> Tensor:
        """Return the only token that each sequence may write, or -1, `[B]`."""
        tables = self.tables(at.slot)
        found = self.read(tables.place(layout.ROW_FORCED) + at.row.flatten(1))
        most = found.amax(1)
        least = torch.where(found == NOTHING_ALLOWED, most[:, None], found).amin(1)
        return torch.where((most == least) & (most >= 0), most, -1)


class Tables:
    """The heads of the blocks of sequences: the places of tables, and other numbers.

    Attributes:
        base: `[B, 1]`, where each block begins.
    """

    def __init__(self, base: Tensor, head: Tensor) -> None:
        self.base = base[:, None]
        self._head = head

    def place(self, field: int) -> Tensor:
        """Return the place of a table, `[B, 1]`."""
        return self.base + self._head[:, field, None]

    def number(self, field: int) -> Tensor:
        """Return a number of the head, `[B, 1]`."""
        return self._head[:, field, None]


def rounded(logits: Tensor, dtype: torch.dtype) -> Tensor:
    """Return logits in another floating type. Finite ones stay finite: no cost forbids a token, not even in float16."""
    most = torch.finfo(dtype).max
    return torch.where(logits.isfinite(), logits.clamp(-most, most), logits).to(dtype)

"""The layout of one automaton in the arena: one relocatable block of int32 words.

The tables of an automaton are in one block: after the head and the chunks, one after another in the order of their
fields. The head of the block has the offset of each table from the block's first word. So a block can be moved
unchanged, and a step that knows the place of the block finds all tables by gathers.

    head        FIELDS numbers: offsets of tables, and other numbers
    CLASSES     `[V]`                   the class of each token
    ROW_MASK    `[E]`                   where the chunks of each row's mask begin, as a place in the block
    MASKS       `[A, C]`                the places of the C chunks of each mask
    CHUNKS      `[.., CHUNK_WORDS]`     chunks of packed masks, the empty one first; no two are equal
    ROW_FORCED  `[E]`                   the only token that a row allows; SEVERAL_ALLOWED or NOTHING_ALLOWED
    ROW_COMB    `[E, 2]`                where the comb of each row's family begins, in entries, and its first row
    COMB        `[.., 2]`               row and outcome; the entry at a row's comb + class counts if it names the row or
                                        one before it in its family (`decoding.arena.machine`)
    OUTCOMES    `[O, T]`                the moves of each outcome; outcome i is move i where none has more than one
    MOVES       `[M, 6]`                what a move does (`POPS` ... `ADDS`)
    PUSHES      `[..]`                  symbols pushed, from the bottom up
    NODES       `[N, 4]`                how a node finds its row, and the next node (`WALK_AT` ... `NUM_CUTS`)
    WALK        `[I, S + 1]`            the node that an inner node leads to, by symbol; S below the lowest symbol
    NODE_ROWS   `[..]`                  the rows of nodes, interval by interval
    CUTS        `[..]`                  the values of the gauge at which the row of a node changes
    REST_OF     `[M]`                   the column of each move in REST
    REST        `[H, R]`                the fewest tokens after a move, beyond what is counted for the stack
    NEXT, COST  `[H, S]`                the context with one symbol more on the stack, and what it costs
    NODE_RUNS   `[N, 2]`                where the runs of a node begin, and how many there are
    RUNS        `[.., 2]`               the count from which a run applies, and the fewest tokens there
    ROW_WEIGHTS `[E, 2]`                where the weights of each row begin, in entries, and how many there are
    WEIGHTS     `[.., 2]`               a token that does not cost 0, and its cost as the bits of a float32

The last two outcomes, and the last two moves, lead to the dead row and from the end to itself, respectively. The native
core, which computes the steps on the CPU, has the same constants (`native/decoding/layout.h`).
"""

from __future__ import annotations

# Words in a chunk, for 2,048 tokens.
CHUNK_WORDS = 64
# Words in the head.
FIELDS = 32

(CLASSES, ROW_MASK, MASKS, ROW_FORCED, ROW_COMB, COMB, OUTCOMES, MOVES, REST_OF, PUSHES, NODES, WALK, NODE_ROWS, CUTS,
 REST, NEXT, COST, NODE_RUNS, RUNS, ROW_WEIGHTS, WEIGHTS, NO_OUTCOME, TIMES, NUM_CLASSES, NUM_SYMBOLS, NUM_MOVES,
 NUM_RESTS, GAUGE, DEPTH, FIRST, HAS_RUNS, HAS_WEIGHTS) = range(FIELDS)  # fmt: skip
# The place of the empty chunk, after the head.
EMPTY_CHUNK = FIELDS

# The numbers of a move and of a node, and those of an entry of ROW_COMB, COMB, NODE_RUNS and RUNS.
MOVE_SIZE, NODE_SIZE, PAIR_SIZE = 6, 4, 2
# Columns of MOVES: how many symbols are popped and pushed, where the pushed ones begin, and the node that follows. The
# count afterwards is KEEPS times the count before, plus ADDS.
POPS, PUSHED, PUSH_AT, TARGET, KEEPS, ADDS = range(MOVE_SIZE)
# Columns of NODES: where the targets of an inner node begin in WALK (-1 for one that reads nothing), where the node's
# rows begin in NODE_ROWS, where its cuts begin in CUTS, and how many cuts it has.
WALK_AT, ROWS_AT, CUTS_AT, NUM_CUTS = range(NODE_SIZE)
# What the gauge of nodes is: nothing, the count, or the number of symbols for which there is room above the stack.
NOTHING, COUNT, FREE = range(3)

# In ROW_FORCED: a row that allows several tokens, and one that allows none.
SEVERAL_ALLOWED, NOTHING_ALLOWED = -1, -2
# Rows, and nodes, of every automaton: where nothing is allowed, and after the end.
DEAD, ENDED = 0, 1

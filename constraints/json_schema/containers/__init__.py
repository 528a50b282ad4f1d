"""Containers: the text between two brackets of a JSON text, as automata whose letters are items or members.

    automaton       ContainerAutomaton: states, moves by one item or member, and ends
    arrays          array_automaton: the items; `distinct` for `uniqueItems`; `supply`: whether items may run out;
                    `lengths`: how long different items are
    objects         object_automaton: the members, `in_order`; object_in_any_order: `flagged` or `all_orders`;
                    `members`, `named`, `names`, `orders`, `plain` and `allowance` help
    steps           what may come next in each state, for `supply` and `lengths`
    variants        the alternatives of an array or object
    shannon         which values of an item or member lead to which state
    drawing         the automaton of an array as a picture

A container is read for a vector of mutually exclusive formulas at once, and its end says which one holds. A state says
what is still required, with one formula for each formula of the vector. These are derivatives, as in Brzozowski
("Derivatives of Regular Expressions", 1964), but by items and members instead of characters. The derivative of a
statement by an item is a statement about what follows, combined with statements about the item (`shannon.Holds`); the
truth of the latter decides the next state.
"""

"""Grammars: from rules that call each other to a pushdown automaton over bytes.

Grammar             rules, each an expression that may call rules        grammar
Network             a minimal byte automaton for each rule               network
PushdownAutomaton   states, a stack, and one table of steps              automaton

    compile             from a grammar or its network to the automaton
    places              the network, prepared: what a place reaches without reading
    determinize         steps of sets of places; parallel: steps without sets
    steps               groups of steps, written out
    ambiguity           why a grammar is not deterministic
    completion          steps that lead to no end are taken out (with words); leading_on: most states need no proof
    headroom            how much stack the rest of a text needs
    assembly            the tables
    expansion, drawing  what else can be done with it
"""

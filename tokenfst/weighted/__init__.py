"""Token automata of weighted constraints: masks as those of the constraint without weights, and a cost for every token.

token_costs     what tokens cost in a state of the weighted automaton over bytes
automaton       WeightedTokenAutomaton: an automaton over tokens, and the state over bytes that goes with each state
storage         its files
"""

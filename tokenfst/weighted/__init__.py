"""Token automata of weighted constraints: the masks of the constraint without weights, and a cost for every token.

token_costs     the costs of tokens in a state of the weighted automaton over bytes
automaton       WeightedTokenAutomaton: an automaton over tokens, with the corresponding state over bytes for each state
storage         loading from files
"""

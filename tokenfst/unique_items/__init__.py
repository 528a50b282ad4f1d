"""Unique items: JSON texts in which the items of some arrays must differ, by a memory beside the automaton.

language      UniqueArrays: a grammar and the rules of such arrays; the grammar with marks
values        JSON values as they are compared, and numbers and strings under way
memory        Memory: the items so far and what is under way, byte by byte
reading       Reading: a text in the marked grammar, with the memory, and whether it can go on
token_order   TokenOrder: the tokens of a vocabulary, sorted
endless       Endless: where a string may go on without end, so that no token need be read with the memory
ways          Ways: how many tokens complete a text
automaton     UniqueItemsTokenAutomaton
"""

"""Unique items: JSON texts in which the items of some arrays must differ. A memory next to the automaton holds them.

language      UniqueArrays: a grammar and the rules of such arrays; the grammar with marks
ways          Ways: how many tokens complete a text
automaton     UniqueItemsTokenAutomaton

The native core implements the memory and the masks that depend on it (`native/tokenfst/unique_items/`).
"""

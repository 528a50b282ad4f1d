"""Unique items: JSON texts in which the items of some arrays must differ, by a memory beside the automaton.

language      UniqueArrays: a grammar and the rules of such arrays; the grammar with marks
ways          Ways: how many tokens complete a text
automaton     UniqueItemsTokenAutomaton

The memory, and the masks made with it, are in the native core (`native/tokenfst/unique_items/`).
"""

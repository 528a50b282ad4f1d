import automata._native
import numpy
import numpy.typing
from numpy.typing import NDArray


def spelled(content: automata._native.ByteTables, usual: bool, budget: automata._native.Budget) -> automata._native.ByteTables:
    """
    Return the spellings, in quotes, of the strings that an automaton over UTF-8 accepts.
    """

def listed_spellings(codes: numpy.typing.NDArray[numpy.int32], offsets: numpy.typing.NDArray[numpy.int32], every: automata._native.ByteTables, besides: bool, budget: automata._native.Budget) -> automata._native.ByteTables:
    """
    Return the spellings of strings in ascending order, or of all other strings.
    """

def between_characters(language: automata._native.ByteTables, every: automata._native.ByteTables, budget: automata._native.Budget) -> NDArray[numpy.bool_]:
    """
    Return whether each state of an automaton over spellings is between two characters.
    """

"""Calls of tools: what a model may write when it asks for a function to be called, and what it asked for.

tool_calls(tools, format=...)      a constraint whose `parse` gives `ToolCall`s

    wire        the formats
    tool        functions, dicts and schemas -> Tool
    calls       Tools -> a network, and texts -> calls
    pythonic    functions -> calls as Python writes them
"""

from constraints.tools.call import ToolCall
from constraints.tools.calls import Markers, ToolCalls, tool_calls
from constraints.tools.pythonic import PythonicCalls
from constraints.tools.tool import Tool, ToolLike
from constraints.tools.wire import Format

__all__ = ["Format", "Markers", "PythonicCalls", "Tool", "ToolCall", "ToolCalls", "ToolLike", "tool_calls"]

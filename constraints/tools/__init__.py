"""Tool calls: a constraint on what a model may write to call functions, and the calls that it wrote.

tool_calls(tools, format=...)      a constraint whose `parse` returns `ToolCall`s

    calling     `tool_calls`: calls alone, or in free text
    calls       tools -> a visibly pushdown grammar, and texts -> calls
    tagged      arguments between tags, as some models write them
    pythonic    functions -> calls in Python syntax
    tool        functions, dicts and schemas -> tools
    wire        the formats
"""

from constraints.tools.call import ToolCall
from constraints.tools.calling import TextPlace, tool_calls
from constraints.tools.calls import Markers, ToolCalls
from constraints.tools.pythonic import PythonicCalls
from constraints.tools.tool import Tool, ToolLike
from constraints.tools.wire import WireFormat

__all__ = [
    "Markers",
    "PythonicCalls",
    "TextPlace",
    "Tool",
    "ToolCall",
    "ToolCalls",
    "ToolLike",
    "WireFormat",
    "tool_calls",
]

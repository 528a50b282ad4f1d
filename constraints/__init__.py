"""Ready-made constraints: functions and patterns that describe what a model is to write.

choice(texts)           one of some texts
paper                   the constraints that the paper measures
"""

from constraints.choice import choice

__all__ = ["choice"]

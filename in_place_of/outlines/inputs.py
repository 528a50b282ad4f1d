"""The kinds of prompts besides a text, with Outlines' names: a chat of texts."""

from typing import NoReturn

from in_place_of.absent import missing
from in_place_of.outlines.models import Chat

__all__ = ["Chat"]

_PARTS = "prompts are texts, or chats of texts"
_INSTEAD = {"Audio": _PARTS, "Image": _PARTS, "Video": _PARTS}


def __getattr__(name: str) -> NoReturn:
    missing(__name__, _INSTEAD, name)

"""The groups of a pattern and their flags, as Python's `re` writes them.

    Group           an open group: its content so far, and what to do with it when it closes
    GroupReader     the stack of open groups, and methods that open and close them

There is an explicit stack instead of recursion, so nesting may be arbitrarily deep.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from automata import expressions as ex
from automata.errors import PatternError
from automata.expressions import Expr
from automata.pattern.character_reader import CharacterReader, Flags
from automata.pattern.extension_groups import EXTENSION_GROUPS, Build, Content

# A backslash escapes the character after it, so `\)` does not end a comment.
_COMMENT = re.compile(r"\(\?#(?:\\.|[^\\)])*\)", re.DOTALL)
_EXTENSION = re.compile(r"\(\?P<([^>]*)>")


def _look(content: Content, *, behind: bool, negated: bool) -> Expr:
    return (ex.lookbehind if behind else ex.lookahead)(content.language, negated=negated)


_LOOK_AROUND: Mapping[str, Build] = {
    "(?=": partial(_look, behind=False, negated=False),
    "(?!": partial(_look, behind=False, negated=True),
    "(?<=": partial(_look, behind=True, negated=False),
    "(?<!": partial(_look, behind=True, negated=True),
}
_REFUSED_GROUPS = {
    "(?>": "an atomic group does not describe a language by itself",
    "(?(": "a conditional group is not regular",
    "(?P=": "a back-reference is not regular",
}


# Flags that exclude each other; setting one unsets the other.
_EITHER = {"a": "u", "u": "a"}


@dataclass(slots=True)
class Group:
    """An open group: its content so far, and the function that is applied to it when it closes.

    Attributes:
        names: the names of groups that no later group may have, as long as this alternative lasts.
        all_names: those of all alternatives.
    """

    position: int
    flags: Flags
    build: Build | None = None  # None for a group without a function
    alternatives: list[Expr] = field(default_factory=list)
    items: list[Expr] = field(default_factory=list)
    read: list[list[Expr]] = field(default_factory=list)  # with `build`, the items of each alternative so far
    names: set[str] = field(default_factory=set)
    all_names: set[str] = field(default_factory=set)

    def close_alternative(self) -> None:
        if self.build is not None:
            self.read.append(self.items)
        else:
            self.alternatives.append(ex.concat(*self.items) if len(self.items) != 1 else self.items[0])
        self.items = []
        self.all_names |= self.names


class GroupReader(CharacterReader):
    """The stack of open groups.

    Attributes:
        has_assertion: whether look-around or an anchor has been read.
        bytes_position: where the first group of raw bytes opens.
    """

    flag_fields: Mapping[str, str] = {
        "i": "ignore_case",
        "m": "multiline",
        "s": "dot_all",
        "x": "verbose",
        "u": "unicode",
        "a": "ascii_case",
    }
    refused_flags: Mapping[str, str] = {"L": "the flag L (locale) is not supported"}
    flags = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
    flags_recur = True
    names_recur = False  # whether two alternatives may have groups of one name
    repeats_look_around = True
    global_flags = True

    def __init__(self, pattern: str, flags: Flags | None = None) -> None:
        super().__init__(pattern)
        self.groups = [Group(0, flags or Flags())]
        self.is_quantifiable = False  # whether a quantifier may follow the last item
        self.has_assertion = False
        self.bytes_position: int | None = None

    def add(self, item: Expr) -> None:
        """Append an item to the open group."""
        self.groups[-1].items.append(item)
        self.is_quantifiable = True

    def open(self, flags: Flags, end: int, build: Build | None = None) -> None:
        """Open the group at the current position; its content begins at `end`."""
        self.groups.append(Group(self.position, flags, build))
        self.position = end
        self.is_quantifiable = False

    def read_group(self, flags: Flags) -> None:
        start, pattern = self.position, self.pattern
        if not pattern.startswith("?", start + 1):
            self.open(flags, start + 1)
        elif pattern.startswith(":", start + 2):
            self.open(flags, start + 3)
        elif not self.read_special_group(flags):
            for prefix, reason in _REFUSED_GROUPS.items():
                if pattern.startswith(prefix, start):
                    raise self.irregular(reason)
            for prefix, build in _LOOK_AROUND.items():
                if pattern.startswith(prefix, start):
                    self.asserting(flags)
                    self.open(flags, start + len(prefix), build)
                    return
            self.read_flags(flags)

    def read_special_group(self, flags: Flags) -> bool:
        """Read a comment, or open a group with a name; return whether there is one."""
        if self.pattern.startswith("(?#", self.position):
            self.skip_comment()
            return True
        name = _EXTENSION.match(self.pattern, self.position)
        if not name:
            return False
        if name[1] in EXTENSION_GROUPS:
            self.open_extension(name, flags)
        else:
            if not name[1].isidentifier():
                raise self.error("a group's name must be an identifier", name.start(1))
            self.open_named(name, flags)
        return True

    def open_named(self, name: re.Match[str], flags: Flags) -> None:
        """Open a group with a name, which no other group has that can match at the same time."""
        if any(name[1] in group.names for group in self.groups):
            raise self.error("two groups have this name", name.start(1))
        self.groups[-1].names.add(name[1])
        self.open(flags, name.end())

    def open_extension(self, name: re.Match[str], flags: Flags) -> None:
        extension = EXTENSION_GROUPS[name[1]]
        if extension.raw_bytes:
            flags = flags._replace(raw_bytes=True)
            if self.bytes_position is None:
                self.bytes_position = self.position
        self.open(flags, name.end(), extension.build)

    def skip_comment(self) -> None:
        comment = _COMMENT.match(self.pattern, self.position)
        if comment is None:
            raise self.error("a comment is opened and never closed")
        self.position = comment.end()

    def read_flags(self, flags: Flags) -> None:
        """Open a group with flags, or set the flags of the whole pattern."""
        match = self.flags.match(self.pattern, self.position)
        if match is None:
            raise self.error("this kind of group is unknown")
        added, removed, closing = match[1], match[2] or "", match[3]
        if closing == ")" and not self.global_flags:
            raise self.error("flags for the whole pattern are not part of it")
        if closing == ")" and (self.position != 0 or removed or not added):
            raise self.error("flags for the whole pattern must stand at its start")
        num_flags = len({*added, *removed})
        if num_flags < (len({*added}) + len({*removed}) if self.flags_recur else len(added + removed)):
            raise self.error("a flag is named twice")
        for offset, letter in enumerate(added):
            flags = self.set_flag(flags, letter, True, match.start(1) + offset)
        for offset, letter in enumerate(removed):
            flags = self.set_flag(flags, letter, False, match.start(2) + offset)
        if all(letter in added for letter in _EITHER):
            raise self.error("the flags a and u exclude each other")
        if closing == ":":
            self.open(flags, match.end())
        else:
            self.groups[-1].flags = flags
            self.position = match.end()

    def set_flag(self, flags: Flags, letter: str, value: bool, position: int) -> Flags:
        if letter in self.refused_flags:
            raise self.error(self.refused_flags[letter], position)
        if letter not in self.flag_fields:
            raise self.error(f"the flag {letter} is unknown", position)
        if letter in _EITHER and not value:
            raise self.error(f"the flag {letter} is turned off by the flag {_EITHER[letter]}", position)
        flags = flags._replace(**{self.flag_fields[letter]: value})
        return flags._replace(**{self.flag_fields[_EITHER[letter]]: False}) if letter in _EITHER else flags

    def asserting(self, flags: Flags) -> None:
        """Record that an assertion has been read."""
        if flags.raw_bytes:
            raise self.error("an assertion sees characters and cannot stand among raw bytes")
        self.has_assertion = True

    def read_group_end(self, flags: Flags) -> None:
        if len(self.groups) == 1:
            raise self.error("a group is closed that was never opened")
        group = self.groups.pop()
        self.add(self.close_group(group))
        self.groups[-1].names |= group.all_names
        self.is_quantifiable = self.repeats_look_around or group.build not in _LOOK_AROUND.values()
        self.position += 1

    def close_group(self, group: Group) -> Expr:
        group.close_alternative()
        if group.build is None:
            return ex.alternation(*group.alternatives)

        def refuse(reason: str) -> PatternError:
            return self.error(reason, group.position)

        return group.build(Content(group.read, refuse))

"""Load token automata of any kind from files (`tokenfst.files`)."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path

from automata.errors import AutomatonFileError
from tokenfst.canonical import storage as canonical
from tokenfst.counted import storage as counted
from tokenfst.files import Saved, read_file
from tokenfst.finite import storage as finite
from tokenfst.misuse import check_vocabulary
from tokenfst.pushdown import storage as pushdown
from tokenfst.token_automaton import TokenAutomaton
from tokenfst.vocabulary import Vocabulary
from tokenfst.weighted import storage as weighted

_READERS: dict[str, Callable[[Saved, Vocabulary], TokenAutomaton]] = {
    counted.KIND: counted.from_saved,
    finite.KIND: finite.from_saved,
    pushdown.KIND: pushdown.from_saved,
    canonical.KIND: canonical.from_saved,
    weighted.KIND: weighted.from_saved,
}


def load_automaton(path: str | PathLike[str], vocabulary: Vocabulary) -> TokenAutomaton:
    """Return the automaton that `TokenAutomaton.save` wrote to a file.

    >>> from tempfile import TemporaryDirectory
    >>> import tokenfst
    >>> vocabulary = tokenfst.Vocabulary([b"a", b"b", b""], eos_ids=2)
    >>> with TemporaryDirectory() as folder:
    ...     tokenfst.compile("a+b", vocabulary).save(Path(folder, "ab.safetensors"))
    ...     automaton = load_automaton(Path(folder, "ab.safetensors"), vocabulary)
    >>> automaton.accepts("aab")
    True

    Args:
        path: the file.
        vocabulary: the vocabulary that the automaton was compiled for.

    Raises:
        AutomatonFileError: the file is damaged, or has another format, version, vocabulary or encoder.
        UnsupportedTokenizer: the automaton is canonical, and the encoder of the vocabulary is unknown.
        FileNotFoundError: there is no such file.
        OSError: the file cannot be read.
        TypeError: `vocabulary` is not a vocabulary.
    """
    check_vocabulary(vocabulary)
    return restored(read_file(Path(path), vocabulary), vocabulary)


def restored(saved: Saved, vocabulary: Vocabulary) -> TokenAutomaton:
    """Return the automaton whose tables are in a file or in a pickle.

    Raises:
        AutomatonFileError, UnsupportedTokenizer: as for `load_automaton`.
    """
    kind = saved.header.get("kind", "")
    if kind not in _READERS:
        raise AutomatonFileError(f"the file holds an automaton of the unknown kind {kind!r}")
    return _READERS[kind](saved, vocabulary)


TokenAutomaton._restored = restored

"""Regular expressions of ECMA-262, section 22.2.1, valid with its flag u and without, as far as that is regular.

What the automaton leaves out, so that it is small and accepts nothing that is invalid:

    groups          nested more than `DEPTH` deep; look-around inside of groups; more than one group with a name, and
                    names with characters outside of ASCII or escapes
    references      to groups, by number and by name: whether there is such a group would have to be remembered
    bounds          `{n,m}` where n has two digits and m has no more, or n has more than two
    ranges in sets  except those of digits, those of letters that begin with a or A, and those from a space or `!` to
                    `~`: the beginning of a range must be remembered, in about 16 places; with ranges of all letters of
                    one case the automaton would have twice as many states, with all of ASCII and the first bytes of
                    other characters four times
    escapes         `\\0`, which no digit may follow; properties that are not a general category by its short name
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse

DEPTH = 3

_CATEGORY = "L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|C[cfon]?"
_ESCAPE = (
    rf"\\(?:[dDwWsSfnrtv^$\\.*+?()\[\]{{}}|/]|c[A-Za-z]|x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|"
    rf"u\{{0*(?:10|[0-9a-fA-F])?[0-9a-fA-F]{{1,4}}\}}|[pP]\{{(?:{_CATEGORY})\}})"
)
_ASCENDING = "|".join(f"{low},[{low}-9]" for low in range(10))
_BOUNDS = rf"\{{(?:[0-9]+,?|{_ASCENDING}|[0-9],[1-9][0-9]+|[1-9][0-9],[1-9][0-9]{{2,}})\}}"
_RANGE = "|".join([*(f"{low}-[{low}-9]" for low in range(10)), "a-[a-z]", "A-[A-Z]", "[ !]-~"])


def regex() -> Expr:
    quantifier = parse(rf"(?:(?:[*+?]|{_BOUNDS})\??)?")
    escape = parse(_ESCAPE)
    # In a set a hyphen that makes no range stands at either end.
    member = parse(_RANGE) | parse(r"[^\\\]\-]") | escape | parse(r"\\[b-]")
    sets = ex.concat("[", parse(r"\^?-?"), member.star(), parse("-?"), "]")
    simple = (parse(r"[^\^$\\.*+?()\[\]{}|]|\.") | escape | sets) + quantifier
    unit = simple | parse(r"\||\^|\$|\\[bB]")
    inner = unit.star()
    for _ in range(DEPTH - 1):
        inner = (unit | _group(inner) + quantifier).star()
    around = ex.concat(parse(r"\(\?<?[=!]"), inner, ")")
    whole = (unit | _group(inner) + quantifier | around).star()
    two_names = parse(r"\(\?<[A-Za-z_$](?s:.*)\(\?<[A-Za-z_$]", search=True)
    return whole - two_names


def _group(inner: Expr) -> Expr:
    return ex.concat(parse(r"\((?:\?:|\?<[A-Za-z_$][A-Za-z0-9_$]*>)?"), inner, ")")

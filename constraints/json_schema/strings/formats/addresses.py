"""Addresses: ipv4 as a dotted quad (RFC 2673, section 3.2: decimal numbers without leading zeros), and ipv6 (RFC 4291,
section 2.2), whose grammar is that of RFC 3986, section 3.2.2.
"""

from __future__ import annotations

from automata import expressions as ex
from automata.expressions import Expr
from automata.pattern import parse


def ipv4() -> Expr:
    octet = parse("[0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5]")
    return octet + ("." + octet).repeat(3, 3)


def ipv6(zeros: int = 1, quad: Expr | None = None) -> Expr:
    """Return the IPv6 addresses: eight groups of up to four hexadecimal digits, the last two of which may be a dotted
    quad. Once, `::` may stand for groups of zeros.

    Args:
        zeros: the least number of groups that `::` stands for.
        quad: the dotted quads; None means those of `ipv4`.
    """
    group = parse("[0-9a-fA-F]{1,4}")
    last = group + ":" + group | (quad or ipv4())
    ways = [(group + ":").repeat(6, 6) + last]
    for after in range(9 - zeros):
        # The groups before the double colon and after it are at most `8 - zeros`.
        tail = [ex.EPSILON, group][after] if after < 2 else (group + ":").repeat(after - 2, after - 2) + last
        before = 8 - zeros - after
        head = (group + (":" + group).repeat(0, before - 1)).optional() if before else ex.EPSILON
        ways.append(head + "::" + tail)
    return ex.alternation(*ways)

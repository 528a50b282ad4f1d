"""E-mail addresses and URLs: against the HTML Standard's expression, Python's parsers, and lists of known ones."""

from __future__ import annotations

import re
from email.headerregistry import Address
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from automata import TextNotAllowed, compile_expr, random_strings
from constraints.values import email, url

# https://html.spec.whatwg.org/multipage/input.html#valid-e-mail-address
WHATWG = re.compile(
    r"[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
)
EMAIL = compile_expr(email().expr)
URL = compile_expr(url().expr)


def test_addresses_are_addresses_elsewhere() -> None:
    for text in random_strings(email().expr, 300, seed=1, max_length=40):
        address = text.decode()
        assert email().parse(address) == address
        assert WHATWG.fullmatch(address)
        assert Address(addr_spec=address).addr_spec == address


@given(st.from_regex(WHATWG, fullmatch=True))
def test_addresses_of_the_standard(address: str) -> None:
    """All but those with stray dots, hosts without a domain, numbers for one, and names that are too long."""
    name, _, host = address.rpartition("@")
    dots = name.startswith(".") or name.endswith(".") or ".." in name
    last = host.rpartition(".")[2]
    domain = "." in host and re.fullmatch(r"[A-Za-z]{2,63}|xn--[A-Za-z0-9-]+", last) is not None
    assert EMAIL.accepts(address.encode()) == (not dots and domain and len(name) <= 64)


@pytest.mark.parametrize(
    "text",
    [
        *("a@b.co", "john.smith+test@mail.example.com", "x_y-z@sub.domain.museum", "o'hara@example.xn--p1ai"),
        "a@b.xn--vermgensberatung-pwb",
    ],
)
def test_known_addresses(text: str) -> None:
    assert email().parse(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a@b",
            "a@@b.co",
            ".a@b.co",
            "a.@b.co",
            "a..b@c.co",
            "a b@c.co",
            "a@-b.co",
            "a@b-.co",
            "a@b.c",
            "a@b.1",
            "@b.co",
        ),
        "a@b..co",
        "a@b.co.",
        '"a"@b.co',
        "a@[127.0.0.1]",
        "ä@b.co",
        "a" * 65 + "@b.co",
        "a@" + "b" * 64 + ".co",
        "",
    ],
)
def test_no_addresses(text: str) -> None:
    with pytest.raises(TextNotAllowed):
        email().parse(text)


def test_urls_are_urls_elsewhere() -> None:
    for text in random_strings(url().expr, 300, seed=1, max_length=40):
        found = urlsplit(text.decode())
        assert found.scheme in ("http", "https")
        assert found.hostname
        assert found.username is None
        assert found.port is None or 0 <= found.port <= 65535
        assert found.geturl().rstrip("?#") == text.decode().rstrip("?#")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "http://example.com",
            "https://example.com/",
            "https://a.b.example.co.uk:8080/x/y;z?q=1&r=%20#top",
            "http://localhost:3000",
        ),
        *(
            "http://127.0.0.1/x",
            "https://example.com?x",
            "https://en.wikipedia.org/wiki/Kleene_star_(automata)",
            "http://x.yz:0",
        ),
    ],
)
def test_known_urls(text: str) -> None:
    assert url().parse(text) == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "ftp://example.com",
            "http:/example.com",
            "//example.com",
            "http://",
            "http://example.com:65536",
            "http://a b.com",
        ),
        *(
            "http://user@example.com",
            "http://256.0.0.1",
            "http://1.2.3",
            "http://-a.com",
            "https://example.com/%2",
            "HTTP://a.com",
        ),
        *(
            "https://example.com/ä",
            "https://example.com/a b",
            "https://example.com/[x]",
            "https://example.com#a#b",
            "https://",
        ),
    ],
)
def test_no_urls(text: str) -> None:
    assert not URL.accepts(text.encode())


def test_schemes() -> None:
    assert url(["ftp", "svn+ssh"]).parse("svn+ssh://example.com/x") == "svn+ssh://example.com/x"
    for schemes in ([], ["1x"], [""], ["a:b"]):
        with pytest.raises(ValueError, match="scheme"):
            url(schemes)
    with pytest.raises(TypeError, match="list"):
        url("https")

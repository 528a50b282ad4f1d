"""Formats, compared with Python's own readers, with V8, and with the grammars of their RFCs read in another way."""

from __future__ import annotations

import calendar
import datetime
import ipaddress
import itertools
import random
import re
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

from automata import random_strings
from constraints.json_schema.formulas.connectives import Not
from constraints.json_schema.formulas.statements import Format
from constraints.json_schema.strings import KNOWN_FORMATS, string_matches
from constraints.json_schema.strings.formats import INEXACT_FORMATS, format_automaton
from constraints.json_schema.strings.formats.international import MAX_ENCODED


def _has(name: str, text: str) -> bool:
    return format_automaton(name).accepts(text.encode())


def _samples(name: str, count: int, max_length: int = 40) -> list[str]:
    return [text.decode() for text in random_strings(format_automaton(name), count, seed=7, max_length=max_length)]


def test_all_dates() -> None:
    for year in (0, 4, 100, 400, 1900, 1999, 2000, 2023, 2024, 2100, 9999):
        for month, day in itertools.product(range(14), range(33)):
            # 2000 is a leap year as 0 is, which `datetime` does not know.
            last = calendar.monthrange(year or 2000, month)[1] if 1 <= month <= 12 else 0
            assert _has("date", f"{year:04}-{month:02}-{day:02}") == (1 <= day <= last)


def _utc_minute(hour: int, minute: int, sign: str, offset_hour: int, offset_minute: int) -> int:
    offset = datetime.timedelta(hours=offset_hour, minutes=offset_minute) * (1 if sign == "+" else -1)
    utc = datetime.datetime(2000, 6, 15, hour, minute) - offset
    return 60 * utc.hour + utc.minute


def test_leap_seconds() -> None:
    hours, minutes = (0, 1, 8, 15, 22, 23), (0, 14, 29, 30, 44, 59)
    for hour, minute, sign, ahead, part in itertools.product(hours, minutes, "+-", hours, (0, 15, 30, 59)):
        is_last = _utc_minute(hour, minute, sign, ahead, part) == 24 * 60 - 1
        text = f"{hour:02}:{minute:02}:60.5{sign}{ahead:02}:{part:02}"
        if part in (0, 30):
            assert _has("time", text) == is_last, text
        assert not (_has("time", text) and not is_last)
        assert not is_last or format_automaton("time", at_most=True).accepts(text.encode())
    assert _has("time", "23:59:60Z")
    assert not _has("time", "23:58:60z")


def test_times_are_those_of_datetime() -> None:
    for name in ("time", "date-time"):
        read = datetime.time.fromisoformat if name == "time" else datetime.datetime.fromisoformat
        for text in _samples(name, 400):
            if ":60" in text or text.startswith("0000"):
                continue
            plain = re.sub(r"\.(\d{1,6})\d*", r".\1", text.upper())
            assert read(re.sub(r"\.(\d+)", lambda found: "." + found[1].ljust(6, "0"), plain)).tzinfo


def test_durations() -> None:
    pieces = ["P", "T", "1", "Y", "M", "D", "H", "S", "W", "W1"]
    # The order of units, and that none is skipped between two others.
    days, seconds = ("Y", "YM", "YMD", "M", "MD", "D"), ("H", "HM", "HMS", "M", "MS", "S")

    def expected(text: str) -> bool:
        found = re.fullmatch(r"P((?:1+[YMD])*)(?:T((?:1+[HMS])+))?|P1+W", text)
        if not found or text == "P":
            return False
        day, second = (re.sub("1", "", found[group] or "") for group in (1, 2))
        return "W" in text or ((not day or day in days) and (not second or second in seconds))

    for length in range(7):
        for parts in itertools.product(pieces, repeat=length) if length < 5 else _shuffled(pieces, length):
            text = "".join(parts)
            assert _has("duration", text) == expected(text), text


def test_durations_in_small_letters_are_neither_written_nor_excluded() -> None:
    """The grammar of RFC 3339 takes letters in either case, as all of ABNF; ISO 8601 does not."""
    for text in ("p1d", "P1d", "PT1h2M", "p1w"):
        assert not string_matches(Format("duration"), text)
        assert not string_matches(Not(Format("duration")), text)
    for text in ("pt", "p", "PT1\u017f", "1d"):
        assert string_matches(Not(Format("duration")), text)


def _shuffled(pieces: list[str], length: int) -> list[list[str]]:
    generator = random.Random(length)
    return [["P", *generator.choices(pieces, k=length)] for _ in range(5000)]


def _is_address(text: str, version: int) -> bool:
    try:
        return ipaddress.ip_address(text).version == version and "%" not in text
    except ValueError:
        return False


def test_addresses() -> None:
    for octet in [str(number) for number in range(300)] + ["", "00", "01", "1a", "-1"]:
        for text in (f"{octet}.0.25.255", f"1.2.3.{octet}", f"{octet}.1.1"):
            assert _has("ipv4", text) == _is_address(text, 4)
    for length in range(7):
        for parts in itertools.product(["1", ":", "::", "1.2.3.4", "fF0"], repeat=length):
            text = "".join(parts)
            assert _has("ipv6", text) == _is_address(text, 6), text


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(["0", "a:", "1:", ":", "::", "12345", "g", "0.0.0.0", "9:9:9:"]), max_size=9).map("".join)
)
def test_longer_addresses(text: str) -> None:
    assert _has("ipv6", text) == _is_address(text, 6)


def test_sampled_addresses_and_identifiers() -> None:
    assert all(_is_address(text, 6) for text in _samples("ipv6", 300))
    assert all(str(uuid.UUID(text)) == text.lower() for text in _samples("uuid", 100))


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*")


def _is_reference(text: str, absolute: bool) -> bool:
    """RFC 3986 by way of its appendix B: any text falls into parts, and each part has its characters."""
    found = re.fullmatch(r"(?s)(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", text)
    assert found
    scheme, authority, path, query, fragment = found.groups()
    if scheme is None and (absolute or (authority is None and ":" in path.split("/")[0])):
        return False
    if scheme is not None and not _SCHEME.fullmatch(scheme):
        return False
    if authority is not None and not _is_authority(authority):
        return False
    return all(
        re.fullmatch(rf"(?:[A-Za-z0-9._~!$&'()*+,;=:@{more}-]|%[0-9A-Fa-f]{{2}})*", part or "")
        for part, more in ((path, "/"), (query, "/?"), (fragment, "/?"))
    )


def _is_authority(authority: str) -> bool:
    found = re.fullmatch(r"(?:([^@]*)@)?(\[[^\]@]*\]|[^:@\[\]]*)(?::([0-9]*))?", authority)
    if not found:
        return False
    user, host, _ = found.groups()
    allowed = r"(?:[A-Za-z0-9._~!$&'()*+,;={}-]|%[0-9A-Fa-f]{{2}})*"
    if not re.fullmatch(allowed.format(":"), user or ""):
        return False
    if host.startswith("["):
        return (
            _is_address(host[1:-1], 6) or re.fullmatch(r"[vV][0-9a-fA-F]+\.[A-Za-z0-9:._~-]+", host[1:-1]) is not None
        )
    return re.fullmatch(allowed.format(""), host) is not None


@pytest.mark.parametrize("name", ["uri", "uri-reference", "iri", "iri-reference"])
def test_uris_are_what_their_parts_are(name: str) -> None:
    pieces = ["a", "1", ":", "/", "//", "?", "#", "@", "%4", "[::1]", "[", ".", "|", "é"]
    for length in range(5):
        for parts in itertools.product(pieces, repeat=length):
            text = "".join(parts)
            # Beyond ASCII an IRI may have a character wherever a URI may have a letter, but in the scheme.
            plain = text.replace("é", "~") if name.startswith("iri") else text
            assert _has(name, text) == _is_reference(plain, "reference" not in name), text


def test_uri_templates() -> None:
    for text, valid in {
        "{a,b*}": True,
        "{+a:12}": True,
        "{a:}": False,
        "a{": False,
        "%41{b}": True,
        "{a.b}": True,
    }.items():
        assert _has("uri-template", text) == valid
    assert all(text.count("{") == text.count("}") for text in _samples("uri-template", 100))


def test_pointers() -> None:
    for length in range(6):
        for parts in itertools.product("/~01#a", repeat=length):
            text = "".join(parts)
            is_pointer = not text or (text[0] == "/" and "~" not in re.sub("~[01]", "x", text))
            assert _has("json-pointer", text) == is_pointer
            found = re.match("0|1[01]*", text)
            rest = text[found.end() :] if found else None
            assert _has("relative-json-pointer", text) == (
                rest is not None and (rest == "#" or _has("json-pointer", rest))
            )


def test_mail() -> None:
    valid = ["a@b", "a.b@c.d", '"a b"@c', '"\\""@c', "a@[1.2.3.4]", "a@[IPv6:::]", "a@b--c"]
    invalid = ["a@", "@b", "a..b@c", "a@-b", "a@b-", "a@b.", "a b@c", 'a"b@c', "a@[1.2.3]", "a@b@c", "é@b", "a@b_c"]
    for name in ("email", "idn-email"):
        for text in valid:
            assert _has(name, text)
        for text in set(invalid) - {"é@b"}:
            assert not _has(name, text)
    assert not _has("email", "é@b")
    assert _has("idn-email", "é@bücher.example")


def test_numbers_of_addresses_in_mail_that_begin_with_zeros() -> None:
    """RFC 5321, section 4.1.3, takes up to three digits; readers disagree about what they mean."""
    for text in ("a@[01.2.3.4]", "a@[001.000.09.255]", "a@[IPv6:::01.2.3.4]"):
        assert not string_matches(Format("email"), text)
        assert not string_matches(Not(Format("email")), text)
    for text in ("a@[0001.2.3.4]", "a@[256.2.3.4]", "a@[1.2.3]"):
        assert string_matches(Not(Format("email")), text)


def test_labels_of_international_mail() -> None:
    idna = pytest.importorskip("idna")
    for text in _samples("idn-email", 400, 40):
        domain = text.rpartition("@")[2]
        for label in [] if domain.startswith("[") else domain.split("."):
            if not label.isascii():
                idna.check_label(label)
                assert len(label.encode("punycode")) <= 59
    refused = ["A\u00e9", "ab--\u00e9", "xn--\u00e9", "-\u00e9", "\u00e9-", "xe\u0301", "\u00e9" * 100, "\u00e9\u3002a"]
    for label in refused:
        assert not _has("idn-email", f"a@{label}")
    for label in ("AB--C", "a\u00e9", "\u00e9ab--c", "łódź.pl", "موقع.مصر"):
        assert _has("idn-email", f"a@{label}")


@given(st.lists(st.sampled_from(["0", "ab", "1.2.3.4", "", ""]), min_size=2, max_size=9))
def test_addresses_in_mail_leave_out_two_groups_or_more(groups: list[str]) -> None:
    """RFC 5321, section 4.1.3: no more than six groups stand beside `::`."""
    text = ":".join(groups)
    num_groups = sum(1 + ("." in group) for group in groups if group)
    is_allowed = _is_address(text, 6) and ("::" not in text or num_groups <= 6)
    assert _has("email", f"x@[IPv6:{text}]") == is_allowed


def test_host_names() -> None:
    def expected(text: str) -> bool:
        labels = text.split(".")
        return all(re.fullmatch("(?!-)[a1X-]{1,63}(?<!-)", label) for label in labels) and len(text) <= 253

    for length in range(6):
        for parts in itertools.product("a1X-.", repeat=length):
            text = "".join(parts)
            assert _has("hostname", text) == expected(text)
    for size in (1, 15, 16, 31, 62, 63, 64):
        for count in (1, 2, 3):
            text = ".".join(["a" * size] * count)
            assert _has("hostname", text) == expected(text)
    assert all(len(text) <= 253 for text in _samples("hostname", 50, 250))
    assert not any(_has("hostname", text) for text in ("xn--a", "b.xN--4", "xn--"))
    assert all(_has("hostname", text) for text in ("xna-b", "ab--c", "xm--c", "a.xn", "xn-a--b"))


def test_international_host_names() -> None:
    idna = pytest.importorskip("idna")
    for text in _samples("idn-hostname", 400, 60):
        labels = re.split("[.\u3002\uff0e\uff61]", text)
        has_right_to_left = any(re.search("[\u0590-\u06ef\u06fa-\u06ff]", label) for label in labels)
        for label in labels:
            if label.isascii():
                assert re.fullmatch("(?!-)(?!..--)[A-Za-z0-9-]{1,63}(?<!-)", label)
                assert not has_right_to_left or label[0].isalpha()
            else:
                idna.check_label(label)
                assert len(label) <= MAX_ENCODED
                assert len(label.encode("punycode")) <= 59
                assert not has_right_to_left or idna.check_bidi(label)
    for text in ("mail.dept.example.com", "a.b.c.d.e.f", "łódź.pl", "इंडिया", "faß.de", "việt.vn", "ελλάς"):
        idna.encode(text)
        assert _has("idn-hostname", text)
    for text in ("ab--c", "a.b.ab--c.d", "a.b.c.d-", "a" * 64):
        assert not _has("idn-hostname", text)
    for code in range(
        0x370, 0x400
    ):  # a numeral sign before Greek letters, and not before the Coptic ones of that block
        text = "\u0375" + chr(code)
        try:
            idna.alabel(text)
        except idna.IDNAError:
            assert not _has("idn-hostname", text)
        else:
            assert _has("idn-hostname", text)
    for text in (
        "a\u05d0",
        "0a.\u05d0",
        "\u0915\u200d",
        "l\u00b7",
        "\u30fbabc",
        "\u0628\u0660\u06f0",
        "-\u00fc",
        "\u00fc-",
    ):
        assert not _has("idn-hostname", text)


@pytest.fixture(scope="module")
def v8() -> MiniRacer:
    return MiniRacer()


def test_regular_expressions_are_valid(v8: MiniRacer) -> None:
    v8.eval(
        "const valid = (text, flags) => { try { new RegExp(text, flags); return true } catch (e) { return false } }"
    )
    samples = _samples("regex", 600, 30)
    generator = random.Random(3)
    for text in samples:
        assert v8.call("valid", text, "u"), text
        assert v8.call("valid", text, ""), text
        at = generator.randrange(len(text) + 1)
        changed = text[:at] + generator.choice("()[]{}\\|?*+-^1a,") + text[at:]
        if _has("regex", changed):
            assert v8.call("valid", changed, "u"), changed
    for pattern in (
        "^[a-z0-9_-]+$",
        "(?:a|b){1,3}",
        "\\d{4}-\\d{2}",
        "^(?!x)(([^.]+)\\.)*$",
        "[\\w.-]+@\\p{L}",
        "[ -~]",
        "[^!-~]",
    ):
        assert _has("regex", pattern)
    for pattern in ("[b-a]", "[~- ]", "[a-\\d]", "\\1", "(?<a>a)\\k<b>", "(?<a>a)(?<a>b)", "a{2,1}"):
        assert not v8.call("valid", pattern, "u")
        assert not _has("regex", pattern)


def test_what_is_not_exact_has_more_and_nothing_is_in_both() -> None:
    assert INEXACT_FORMATS < KNOWN_FORMATS
    for name in INEXACT_FORMATS:
        widely = format_automaton(name, at_most=True)
        for text in _samples(name, 100):
            assert widely.accepts(text.encode())
            assert string_matches(Format(name), text)
            assert not string_matches(Not(Format(name)), text)
    for between in ("xn--9n2bp8q",):
        assert not string_matches(Format("hostname"), between)
        assert not string_matches(Not(Format("hostname")), between)
    assert string_matches(Not(Format("hostname")), "a_b")

"""The page of a trace stands alone and holds the trace; what its script shows is right, in V8."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from py_mini_racer import MiniRacer

from decoding.tracing import Candidate, Trace, TracedText, TraceStep
from decoding.tracing.page import script

VOID = {"meta", "input", "br", "link", "img"}
HOSTILE = "</script><script>alert('x')</script><!-- \u2028 &amp; /*DATA*/ é"


def step(chosen: int, masses: list[tuple[float, float]], *, size: int = 30, **more: Any) -> TraceStep:
    """A step of tokens 0, 1, ...: the probability of each before, and after, which is 0 for forbidden ones."""
    found = [Candidate(token, f"t{token}", before, after, after > 0) for token, (before, after) in enumerate(masses)]
    found.sort(key=lambda one: -one.before)
    removed = 1 - sum(one.before for one in found if one.allowed)
    chosen_one = next(one for one in found if one.token == chosen)
    allowed = sum(one.allowed for one in found)
    return TraceStep(chosen_one, more.pop("text", f"t{chosen}"), tuple(found), allowed, removed, 0.5, **more)


FREE = step(0, [(0.7, 0.7), (0.2, 0.2), (0.1, 0.1)])
FORCED = step(0, [(0.9, 1.0), (0.1, 0.0)], pointer="/a/0")
INTERVENED = step(1, [(0.6, 0.0), (0.3, 0.75), (0.1, 0.25)], stacks=(("list.0", "list"), ("list",)), notes=("a note",))
BOTH = step(1, [(0.999, 0.0), (0.001, 1.0)], text="\n")
LIKELY = step(1, [(0.5, 0.5), (0.5 - 1e-6, 0.5), (1e-6, 0.0)])
MANY = step(24, [(0.04 * (1 - 0.01 * token), 0.04) for token in range(25)])
TRACE = Trace(
    (
        TracedText("A prompt: ", "t0t0t1\n", (FREE, FORCED, INTERVENED, BOTH, LIKELY, MANY)),
        TracedText(HOSTILE, HOSTILE, (step(0, [(1.0, 1.0)], text=HOSTILE),)),
        TracedText("Nothing stepped in: ", "", (FREE, FREE)),
    ),
    30,
)


class Page(HTMLParser):
    """The elements of a page, which have to be closed in order; and the text of its scripts."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(path.read_text("utf-8"))
        self.close()
        assert not self.open, f"{self.open} are not closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return TRACE.to_html(tmp_path_factory.mktemp("traces") / "trace.html")


def test_the_page_is_well_formed_and_holds_the_trace(path: Path) -> None:
    page = Page(path)
    scripts = [text for tag, text in page.texts if tag == "script"]
    assert len(scripts) == 2
    assert json.loads(scripts[0]) == TRACE.data()
    assert scripts[1] == script()
    assert [tag for tag, _ in page.elements].count("script") == 2


def test_data_are_the_numbers_of_the_trace() -> None:
    data = json.loads(json.dumps(TRACE.data(), allow_nan=False))
    assert data["vocabulary_size"] == 30
    for text, shown in zip(TRACE.texts, data["texts"], strict=True):
        assert (shown["prompt"], shown["text"]) == (text.prompt, text.text)
        for one, seen in zip(text.steps, shown["steps"], strict=True):
            assert seen["chosen"] == one.chosen.token
            assert (seen["allowed"], seen["forced"], seen["intervened"]) == (
                one.num_allowed,
                one.forced,
                one.intervened,
            )
            assert seen["removed"] == pytest.approx(one.removed, rel=1e-5)
            assert [tuple(each[:2]) for each in seen["candidates"]] == [(c.token, c.name) for c in one.candidates]
            numbers = [number for each in seen["candidates"] for number in each[2:4]]
            assert numbers == pytest.approx(
                [number for c in one.candidates for number in (c.before, c.after)], rel=1e-5
            )
            assert seen["stacks"] == [list(stack) for stack in one.stacks]
            assert (seen["pointer"], seen["notes"]) == (one.pointer, list(one.notes))
    infinite = TracedText("", "", (TraceStep(FREE.chosen, "", FREE.candidates, 0, 1.0, float("inf")),))
    assert infinite.data()["surprise"] is None


def test_the_page_needs_nothing_else(path: Path) -> None:
    for tag, attributes in Page(path).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed"), tag
        assert not attributes.keys() & {"src", "href", "srcset", "action", "data"}, (tag, attributes)
    without_data = Trace((), 0).to_html(path.with_name("empty.html")).read_text("utf-8")
    assert not re.search(r"https?:|//\w+\.|@import|url\(|fetch\(|XMLHttp|import\(", without_data)
    assert len(without_data.encode()) < 30_000


def test_every_element_that_the_script_asks_for_is_there(path: Path) -> None:
    known = {attributes["id"] for _, attributes in Page(path).elements if "id" in attributes}
    asked = set(re.findall(r'byId\("(\w+)"\)', script()))
    assert asked
    assert asked <= known
    actions = {attributes["data-action"] for tag, attributes in Page(path).elements if tag == "button"}
    assert len(actions) == 4


# What the script shows

Call = Callable[..., Any]


@pytest.fixture(scope="module")
def explorer() -> Call:
    v8: Any = MiniRacer()
    v8.eval(script())
    v8.eval(f"const data = {json.dumps(TRACE.data())};")

    def call(function: str, *arguments: Any) -> Any:
        given = ", ".join(json.dumps(argument) for argument in arguments)
        return json.loads(v8.eval(f"JSON.stringify(Explorer.{function}({given}))".replace('"DATA"', "data")))

    return call


def by_definition(at: tuple[int, int], action: str) -> tuple[int, int]:
    """The position after an action, from the trace itself."""
    text, place = at
    steps = TRACE.texts[text].steps
    later = [number for number, one in enumerate(steps) if one.intervened and number > place]
    earlier = [number for number, one in enumerate(steps) if one.intervened and number < place]
    last_text = len(TRACE.texts) - 1
    return {
        "next": (text, min(place + 1, len(steps) - 1)),
        "previous": (text, max(place - 1, 0)),
        "first": (text, 0),
        "last": (text, len(steps) - 1),
        "nextIntervention": (text, later[0] if later else place),
        "previousIntervention": (text, earlier[-1] if earlier else place),
        "nextText": (text + 1, 0) if text < last_text else at,
        "previousText": (text - 1, 0) if text > 0 else at,
    }[action]


ACTIONS = ["next", "previous", "first", "last", "nextIntervention", "previousIntervention", "nextText", "previousText"]


def test_steps(explorer: Call) -> None:
    for number, text in enumerate(TRACE.texts):
        for place in range(len(text.steps)):
            at = {"text": number, "step": place}
            for action in ACTIONS:
                reached = explorer("moved", "DATA", at, action)
                assert (reached["text"], reached["step"]) == by_definition((number, place), action), (at, action)
            for wanted in (-5, 0, 1, 99):
                reached = explorer("moved", "DATA", at, wanted)
                assert reached == {"text": number, "step": max(0, min(wanted, len(text.steps) - 1))}
            assert explorer("moved", "DATA", at, "something else") == at


def test_keys_are_actions() -> None:
    v8: Any = MiniRacer()
    v8.eval(script())
    assert set(json.loads(v8.eval("JSON.stringify(Object.values(Explorer.KEYS))"))) == set(ACTIONS)


@pytest.mark.parametrize(
    ("number", "place"), [(n, p) for n, text in enumerate(TRACE.texts) for p in range(len(text.steps))]
)
def test_what_is_seen_of_a_step(explorer: Call, number: int, place: int) -> None:
    one, seen = TRACE.texts[number].steps[place], explorer("view", "DATA", {"text": number, "step": place})
    assert seen["count"] == f"step {place + 1} of {len(TRACE.texts[number].steps)}"
    assert seen["removed"] == pytest.approx(one.removed, rel=1e-5)
    for side, candidates, total in (("before", one.candidates, 30), ("after", one.after, one.num_allowed)):
        rows, rest = seen[side]["found"], seen[side]["rest"]
        expected = list(candidates[:10])
        expected += [] if one.chosen in expected else [one.chosen]
        assert [row["name"] for row in rows] == [candidate.name for candidate in expected]
        assert [row["share"] for row in rows] == pytest.approx([getattr(each, side) for each in expected], rel=1e-5)
        assert [row["allowed"] for row in rows] == [each.allowed for each in expected]
        assert [row["chosen"] for row in rows] == [each == one.chosen for each in expected]
        assert (rest["count"] if rest else 0) == total - len(expected)
        if rest:
            assert rest["share"] + sum(row["share"] for row in rows) == pytest.approx(1, abs=1e-5)
    assert seen["headline"]["name"] == one.chosen.name
    assert ("forced" in seen["headline"]["reason"]) == one.forced
    assert ("forbidden" in seen["headline"]["reason"]) == (one.intervened and not one.forced)
    is_other = one.intervened or (one.chosen != one.wanted and not one.forced)
    assert seen["headline"].get("other") == (one.wanted.name if is_other else None)
    if not (one.stacks or one.pointer or one.notes):
        assert seen["place"] is None
    else:
        shown = {
            "stacks": [list(stack) for stack in one.stacks],
            "more": 0,
            "pointer": one.pointer,
            "notes": [*one.notes],
        }
        assert seen["place"] == shown


def test_what_is_seen_of_a_text(explorer: Call) -> None:
    for number, text in enumerate(TRACE.texts):
        seen = explorer("overview", "DATA", number)
        assert [token["name"] for token in seen["tokens"]] == [one.chosen.name for one in text.steps]
        kinds = ["intervened" if one.intervened else "forced" if one.forced else "" for one in text.steps]
        assert [token["kind"] for token in seen["tokens"]] == kinds
        assert [token["breaks"] for token in seen["tokens"]] == [one.text.endswith("\n") for one in text.steps]
        assert f"{text.num_forced} forced" in seen["summary"]
        assert f"{text.interventions} intervention" in seen["summary"]


def test_percentages(explorer: Call) -> None:
    shown = {
        0: "0%",
        1: "100%",
        0.5: "50.0%",
        0.0123: "1.2%",
        0.0012: "0.12%",
        0.00002: "10⁻⁵",
        3e-29: "10⁻²⁹",
        0.99999: "> 99.9%",
    }
    assert {value: explorer("percent", value) for value in shown} == shown


# In a notebook


def test_a_notebook_shows_it_without_scripts() -> None:
    shown = TRACE._repr_html_()

    class Fragment(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.spans: list[dict[str, str | None]] = []
            self.open: list[str] = []
            self.shown = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag in ("style", "div", "span", "p", "b")
            self.open.append(tag)
            if tag == "span":
                self.spans.append(dict(attrs))

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

        def handle_data(self, data: str) -> None:
            self.shown += data if self.open[-1] != "style" else ""

    fragment = Fragment()
    fragment.feed(shown)
    fragment.close()
    assert not fragment.open
    kinds = [span["class"] for span in fragment.spans if span["class"] != "prompt"]
    steps = [one for text in TRACE.texts for one in text.steps]
    assert kinds == ["intervened" if one.intervened else "forced" if one.forced else "" for one in steps]
    assert HOSTILE in fragment.shown
    assert "t1, not t0 (60.0%)" in fragment.shown
    assert "6 tokens, 2 forced (dotted), 2 against" in fragment.shown


# In a browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), None)


class Elements(HTMLParser):
    """The text of each element with an id in what a browser made of a page, and which of them are hidden."""

    def __init__(self, made: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.shown: dict[str, str] = {}
        self.hidden: set[str] = set()
        self.feed(made)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag not in VOID:
            self.open.append((tag, known.get("id")))
        if "hidden" in known and known.get("id"):
            self.hidden.add(str(known["id"]))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, name in self.open:
            if name is not None:
                self.shown[name] = self.shown.get(name, "") + data


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
@pytest.mark.parametrize(("number", "place"), [(0, 0), (0, 1), (0, 2), (1, 0)])
def test_a_browser_shows_a_step(number: int, place: int, tmp_path: Path) -> None:
    page = TRACE.to_html(tmp_path / "trace.html")
    command = [str(BROWSER), "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'own'}"]
    address = f"{page.as_uri()}#{number + 1}.{place + 1}"
    made = subprocess.run([*command, "--dump-dom", address], capture_output=True, text=True, timeout=120, check=True)
    seen, one = Elements(made.stdout), TRACE.texts[number].steps[place]
    assert seen.shown["headline"].startswith(one.chosen.name)
    assert seen.shown["count"] == f"step {place + 1} of {len(TRACE.texts[number].steps)}"
    assert TRACE.texts[number].prompt in seen.shown["text"]
    is_placed = bool(one.stacks or one.pointer or one.notes)
    assert ("place" in seen.hidden) == (not is_placed)
    for part in (one.pointer or "", *one.notes, *(rule for stack in one.stacks for rule in stack)):
        assert part in (seen.shown["where"] if is_placed else "")

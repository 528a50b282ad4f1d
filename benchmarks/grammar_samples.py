"""Sample texts of the bundled grammars, like those that models write: of any length, and different for every seed."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

WORDS = [
    "time",
    "year",
    "people",
    "way",
    "day",
    "man",
    "thing",
    "woman",
    "life",
    "child",
    "world",
    "school",
    "state",
    "family",
    "student",
    "group",
    "country",
    "problem",
    "hand",
    "part",
    "place",
    "case",
    "week",
    "company",
    "system",
    "program",
    "question",
    "work",
    "government",
    "number",
    "night",
    "point",
    "home",
    "water",
    "room",
    "mother",
    "area",
    "money",
    "story",
    "fact",
    "month",
    "lot",
    "right",
    "study",
    "book",
    "eye",
    "job",
    "word",
    "business",
    "issue",
    "side",
    "kind",
    "head",
    "house",
    "service",
    "friend",
    "father",
    "power",
    "hour",
    "game",
    "line",
    "end",
    "member",
    "law",
    "car",
    "city",
    "community",
    "name",
    "president",
    "team",
    "minute",
    "idea",
    "body",
    "information",
]


def text_of(name: str, pieces: int, seed: int) -> str:
    """Return a text of a grammar in `BUNDLED`, or of "json"; its length grows with `pieces`, which is at least 2."""
    return _MAKERS[name](Random(f"{name} {seed}"), pieces)


def _word(random: Random) -> str:
    return random.choice(WORDS)


def _sentence(random: Random) -> str:
    return " ".join(_word(random) for _ in range(random.randint(3, 9))).capitalize() + "."


def _json(random: Random, pieces: int) -> str:
    def record() -> dict[str, object]:
        return {
            "id": random.randint(1, 10**6),
            "name": _sentence(random),
            "price": round(random.random() * 100, 2),
            "open": random.random() < 0.5,
            "tags": [_word(random) for _ in range(random.randint(0, 4))],
            "owner": {"first": _word(random), "last": None, "scores": [random.random() for _ in range(2)]},
        }

    return json.dumps({"items": [record() for _ in range(pieces)]}, indent=random.choice((None, 2)))


def _gsm8k(random: Random, pieces: int) -> str:
    thoughts = [
        {"step": _sentence(random), "calculation": f"{random.randint(1, 99)} * 3", "result": random.randint(1, 999)}
        for _ in range(pieces)
    ]
    return json.dumps({"thoughts": thoughts, "answer": random.randint(1, 99)}, indent=2)


def _template(random: Random, pieces: int) -> str:
    value = {
        "id": random.randint(1, 99),
        "description": "A nimble fighter",
        "name": _word(random).capitalize(),
        "age": random.randint(1, 99),
        "armor": random.choice(("leather", "chainmail", "plate")),
        "weapon": random.choice(("sword", "axe", "bow")),
        "class": _word(random),
        "mantra": " ".join(_sentence(random) for _ in range(3 * pieces)),
        "strength": random.randint(1, 99),
        "items": [_word(random) for _ in range(3)],
    }
    return json.dumps(value, indent=2)


def _person(random: Random, pieces: int, indent: str = "") -> str:
    inner = indent + "  "
    lines = [
        "<person>",
        f"{inner}<name>{_word(random).capitalize()} {_word(random).capitalize()}</name>",
        f"{inner}<age>{random.randint(1, 99)}</age>",
        f"{inner}<job>",
        f"{inner}  <title>{_word(random)}</title>",
        f"{inner}  <salary>{random.randint(1, 10**5)}</salary>",
        f"{inner}</job>",
    ]
    if pieces > 1:
        # The grammar allows no whitespace between persons.
        friends = "".join(_person(random, pieces // 3, inner + "  ") for _ in range(3))
        lines += [f"{inner}<friends>{friends}</friends>", indent]
    return "\n".join(lines) + ("" if pieces > 1 else "\n" + indent) + "</person>"


def _c(random: Random, pieces: int) -> str:
    def function() -> str:
        a, b, f = (_word(random) for _ in range(3))
        # The grammar allows no whitespace at arithmetic and relational operators, after the opening brace of a
        # statement, before `else`, or after the closing brace of a `while`.
        body = [
            f"int {a} = {random.randint(0, 99)};",
            f"// {_sentence(random)}",
            f"float {b}[{random.randint(1, 9)}] = {a}*( n+{random.randint(1, 9)} )-{f}({a}, n);",
            f'for(int i = 0; i<n; i = i+1){{{a} = {a}+{b}[i]/2;\n    print("{_word(random)}", {a}, {b}[n-1]);\n  }}',
            f"while({a}>n) {{{a} = {a}-1;\n  }}if({a}=={b}){{return {a}; }}else{{{a} = -{b};\n  }}",
            f"return {f}({a}, {b}[0]*({a}-n));",
        ]
        return f"int {f}(int n) {{\n  " + "\n  ".join(body) + "\n}"

    return "".join(function() for _ in range(pieces))


def _arithmetic(random: Random, pieces: int) -> str:
    def term() -> str:
        x, y = random.choice("abcxyz"), random.randint(1, 1000)
        return random.choice(
            (f"{x} * ({y} - {x}) ** 2", f"sqrt({x} + {y}.5)", f"max({y}, {x} / 3, -{x})", f"({x} - (({y} + {x}) % 7))")
        )

    return " + ".join(term() for _ in range(4 * pieces))


def _s_expressions(random: Random, pieces: int) -> str:
    def definition() -> str:
        f, x, y = (_word(random) for _ in range(3))
        return (
            f"; {_sentence(random)}\n(define ({f} {x} {y})\n  (let (({x}-1 (- {x} 1)))\n    (if (<= {x} "
            f"{random.randint(1, 9)})\n"
            f'        \'({y} "{_word(random)}")\n        (+ ({f} {x}-1 {y}) (* 2 {x})))))\n'
        )

    return "\n".join(definition() for _ in range(pieces))


def _xml(random: Random, pieces: int) -> str:
    def section() -> str:
        items = "".join(f"<item>{_sentence(random)} <em>{_word(random)}</em></item>\n" for _ in range(3))
        return (
            f'  <section id="{_word(random)}">\n    <title>{_word(random)}</title>\n    <p '
            f'class="a">{_sentence(random)} '
            f'<link href="https://{_word(random)}.org/">{_word(random)} &amp; {_word(random)}</link></p>\n'
            f"    <list>{items}</list><code>a &lt; b</code>\n  </section>\n"
        )

    return f"<article>\n{''.join(section() for _ in range(pieces))}</article>\n"


def _yaml(random: Random, pieces: int) -> str:
    def entry() -> str:
        return (
            f'{{name: {_word(random)} {_word(random)}, "size": {random.randint(1, 99)}, tags: [{_word(random)}, '
            f"'{_sentence(random)}'], at: {{x: {random.random():.3f}, y: -{random.randint(1, 9)}}}}}"
        )

    return "[" + ",\n ".join(entry() for _ in range(2 * pieces)) + "]\n"


def _python(random: Random, pieces: int) -> str:
    def entry() -> str:
        f, x, y = (_word(random) for _ in range(3))
        return random.choice(
            (
                f"{f}({x}, key=lambda {y}: {y}[0] if {y} else None)",
                f"[{x}.{y} + {random.randint(1, 99)} for {x} in {f}s if {x} is not None and {x} > 0.5]",
                f"{{'{x}': ({y} - 1) * -{f}[1:-1], **{y}}}",
                f"not {x} in ({y}, {f}) or '{_word(random)}'.join(map(str, {y}))",
            )
        )

    return ", ".join(entry() for _ in range(3 * pieces))


def _markdown(random: Random, pieces: int) -> str:
    def row() -> str:
        return f"| {_word(random)} | {_sentence(random)} | {random.randint(1, 999)} | {_word(random)} |\n"

    return row() + "|:---|---|--:|:-:|\n" + "".join(row() for _ in range(4 * pieces))


def _mermaid(random: Random, pieces: int) -> str:
    def lines() -> str:
        a, b, c = (f"{_word(random)}{random.randint(1, 99)}" for _ in range(3))
        return (
            f"  {a}[{_word(random)} {_word(random)}] --> {b}{{Is it {_word(random)}}}\n  {b} "
            f'-->|{_word(random)}| {c}(("{_sentence(random)}"))\n'
            f"  {b} -- {_word(random)} --> {a} & {c}\n  subgraph {_word(random)}s\n    {a} -.-> {c}:::big\n  end\n"
        )

    return f"flowchart TD\n{''.join(lines() for _ in range(pieces))}  classDef big fill:#f9f,stroke-width:4px\n"


def _sql(random: Random, pieces: int) -> str:
    def select() -> str:
        t, u, x, y = (f"{_word(random)}s" for _ in range(4))
        return (
            f"SELECT t.{x}, count(DISTINCT u.{y}) AS n, CASE WHEN t.{x} > {random.randint(1, 99)} THEN "
            f"'{_word(random)}' ELSE NULL END\n"
            f"FROM {t} AS t LEFT JOIN {u} u ON t.id = u.{x}_id\nWHERE t.{y} IN (SELECT id FROM {y} WHERE name "
            f"LIKE '%{_word(random)}%')\n"
            f"  AND NOT (u.{x} IS NULL OR u.{y} BETWEEN 1 AND {random.randint(2, 99)})\nGROUP BY t.{x} HAVING "
            f"count(*) > 3"
        )

    return "\nUNION ALL\n".join(select() for _ in range(pieces)) + "\nORDER BY n DESC LIMIT 10"


_MAKERS: dict[str, Callable[[Random, int], str]] = {
    "arithmetic": _arithmetic,
    "domino_c": _c,
    "domino_gsm8k": _gsm8k,
    "domino_json": _json,
    "domino_template": _template,
    "domino_xml": _person,
    "json": _json,
    "markdown_table": _markdown,
    "mermaid": _mermaid,
    "python_expression": _python,
    "s_expressions": _s_expressions,
    "sql": _sql,
    "xml": _xml,
    "yaml_flow": _yaml,
}

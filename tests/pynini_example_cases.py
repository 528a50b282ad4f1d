"""The examples that pynini ships, as constraints."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from functools import reduce
from math import log
from pathlib import Path

import pynini
import pywrapfst
from pynini.examples import case, chatspeak, chatspeak_model, dates, g2p, numbers, plurals, t9, weather
from pynini.lib import byte, pynutil, stringfile
from pynini_cases import Case, reads, writes

from automata import from_fst, image, parse, preimage
from constraints import choice


def finnish_harmony() -> Case:
    suffixes = {"ttA": case.abessive, "ltA": case.ablative, "lle": case.allative, "ssA": case.inessive}
    nouns = ["talo", "kylä", "metsä", "auto", "pöytä"]
    stems = pynini.union(*nouns) + pynini.union(*suffixes)
    return Case(
        image(stems, case._harmony),
        writes(stems, case._harmony),
        agrees=lambda text: text in {suffix(noun) for noun in nouns for suffix in suffixes.values()},
    )


def pronunciations() -> Case:
    words = ["llevar", "chico", "guerra", "perro", "niño", "queso", "vivir", "jefe"]
    return Case(
        image(choice(words), g2p._g2p),
        writes(pynini.union(*words), g2p._g2p),
        agrees=lambda text: text in set(map(g2p.g2p, words)),
    )


def spellings_of_a_pronunciation() -> Case:
    return Case(
        preimage(g2p._g2p, "beʝo"),
        reads(g2p._g2p, "beʝo"),
        agrees=lambda text: g2p.g2p(text) == "beʝo",
    )


def plural_forms() -> Case:
    return Case(
        image(parse("[a-z]{3,8}"), plurals._plural), writes(pynini.closure(byte.LOWER, 3, 8), plurals._plural), "Two "
    )


def nouns_with_plurals_in_ies() -> Case:
    return Case(
        preimage(plurals._plural, parse("[a-z]{2,9}ies")),
        reads(plurals._plural, pynini.closure(byte.LOWER, 2, 9) + "ies"),
        agrees=lambda text: plurals.plural(text).endswith("ies"),
    )


def repeated_letters() -> Case:
    rules = chatspeak.Deduplicator(pynini.union("cool", "good", "god", "so"))
    return Case(
        preimage(rules._dedup, from_fst(rules._lexicon)),
        reads(rules._dedup, rules._lexicon),
        agrees=lambda text: rules.expand(text).num_states() > 0,
    )


def abbreviations() -> Case:
    words = pynini.union("text", "please", "tomorrow", "because", "remember")
    rules = chatspeak.Deabbreviator(words.optimize())
    return Case(preimage(rules._deabbrev, parse("please|because|remember")), reads(rules._deabbrev))


def spellings_of_laughter() -> Case:
    rules = chatspeak.Regexps()
    wanted = pynini.union("laugh out loud", "you", "cool")
    return Case(
        preimage(rules._regexps, wanted),
        reads(rules._regexps, wanted),
        agrees=lambda text: rules.expand(text).num_states() > 0,
    )


def chatspeak_with_a_language_model() -> Case:
    with tempfile.TemporaryDirectory() as folder:
        model = _chatspeak_model(Path(folder))
    sentence = ["thx", "ur", "so", "coooool"]
    lattice = reduce(lambda left, right: left + " " + right, map(model.token_lattice, sentence))
    words = dict(model._lm_syms) | {32: " "}
    channel = image(lattice, model._bytes_to_lm_mapper, ("byte", words), separator="")
    return Case(
        channel & from_fst(model._lm, words, separator=""),
        writes(lattice, model._bytes_to_lm_mapper, model._lm, model._lm_to_bytes_mapper),
    )


def _chatspeak_model(folder: Path) -> chatspeak_model.ChatspeakModel:
    """Return the example's model with a lexicon of abbreviations and word costs; a blank has its own label."""
    costs = {"thanks": 2.5, "thank": 3, "you": 1, "are": 1.5, "your": 2, "so": 1.25, "cool": 4, "col": 9}
    table = pywrapfst.SymbolTable("words")
    table.add_symbol("<epsilon>", 0)
    for label, word in enumerate(costs, 1000):
        table.add_symbol(word, label)
    words = pynini.union(*(pynini.accep(word, weight=cost, token_type=table) for word, cost in costs.items()))
    language_model = pynutil.join(words, " ").optimize()
    language_model.set_input_symbols(table).set_output_symbols(table)
    language_model.write(str(folder / "model.fst"))
    pairs = [("thx", "thanks"), ("thx", "thank you", "0.5"), ("ur", "your"), ("ur", "you are", "0.75"), ("so", "so")]
    with open(folder / "lexicon.tsv", "w") as file:
        stringfile.writelines(file, pairs)
    return chatspeak_model.ChatspeakModel(str(folder / "lexicon.tsv"), str(folder / "model.fst"))


def words_of_a_keypad() -> Case:
    counts = {"good": 800, "home": 600, "gone": 300, "hood": 40, "hoof": 8, "the": 5000, "cat": 90}
    decoder = t9.T9(counts)
    total = sum(counts.values())
    lexicon = pynini.string_map([(word, word, str(-log(count / total))) for word, count in counts.items()])
    return Case(
        image("4663", decoder._decoder) & choice(counts),
        writes("4663", decoder._decoder, lexicon),
        agrees=lambda text: decoder.encode(text) == "4663" and text in decoder.decode("4663").paths().ostrings(),
    )


def ways_to_write_a_date() -> Case:
    date = "<date><day>3</day><month>5</month><year>1999</year></date>"
    swapped = "<date><month>5</month><day>3</day><year>1999</year></date>"
    return Case(
        preimage(dates._date_matcher, parse(f"{date}|{swapped}")) & parse(r"\S+( \S+)*"),
        reads(dates._date_matcher, pynini.union(date, swapped)),
        "Date: ",
        agrees=lambda text: dates.match(text) in (date, swapped),
        least=2,
    )


def marked_up_dates() -> Case:
    written = pynini.union("May ", "june ", "sept. ") + pynini.closure(byte.DIGIT, 1, 2) + ", 20" + byte.DIGIT**2
    return Case(image(written, dates._date_matcher), writes(written, dates._date_matcher), "Date: ", max_new_tokens=60)


def sentences_with_dates_found() -> Case:
    sentences = "On " + pynini.union("3", "12") + pynini.union(" May 20", " june 19") + byte.DIGIT**2 + " it rained."
    return Case(
        image(sentences, dates._date_tagger), writes(sentences, dates._date_tagger), "Date: ", max_new_tokens=80
    )


def numbers_in_words() -> Case:
    digits = parse("[1-9][0-9]{0,4}")
    acceptor = pynini.difference(byte.DIGIT, "0") + pynini.closure(byte.DIGIT, 0, 4)
    spoken = {numbers.number(str(number)) for number in range(1, 2000)}
    return Case(
        image(digits, numbers.VERBALIZE),
        writes(acceptor, numbers.VERBALIZE),
        "The number is ",
        agrees=lambda text: text in spoken or "thousand" in text,
        max_new_tokens=48,
    )


def numbers_by_their_factors() -> Case:
    """The two halves of the example, which pass generated symbols between them."""
    factors = image(parse("[1-9][0-9]?"), numbers._phi)
    return Case(
        image(factors, numbers._lambda_star),
        writes(pynini.difference(byte.DIGIT, "0") + byte.DIGIT.ques, numbers._phi, numbers._lambda_star),
        "The number is ",
        agrees=lambda text: text in {numbers.number(str(number)) for number in range(1, 100)},
    )


def digits_of_a_number() -> Case:
    wanted = pynini.union("twenty three", "four hundred", "seventy thousand one")
    return Case(
        preimage(numbers.VERBALIZE, wanted),
        reads(numbers.VERBALIZE, wanted),
        agrees=lambda text: numbers.number(text) in ("twenty three", "four hundred", "seventy thousand one"),
    )


def weather_reports() -> Case:
    def generated(text: str) -> bool:
        match = re.fullmatch(r"In (\w+), it is (\d+) degrees? and (\w+), with winds out of the (\w+) at (\d+) .*", text)
        assert match is not None
        city, degrees, state, direction, speed = match.groups()
        table = weather.WeatherTable()
        table.add_city(city, int(degrees), int(speed), direction, state)
        return bool(table.generate_report(city) == text)

    fields = {
        "$CITY": pynini.union("Oslo", "Lima"),
        "$TEMPERATURE": pynini.union("1", "9", "12"),
        "$STATE": pynini.union("raining", "clear"),
        "$WIND_DIRECTION": pynini.union("north", "south"),
        "$WIND_SPEED": pynini.union("1", "2"),
    }
    table = weather.WeatherTable
    filled = table.sigma_pad(*(pynini.cross(field, values) for field, values in fields.items()))
    return Case(
        image(image(table._template, filled), table._singularize),
        writes(table._template, filled, table._singularize),
        "Weather: ",
        agrees=generated,
        max_new_tokens=64,
    )


MAKERS: tuple[Callable[[], Case], ...] = (
    finnish_harmony,
    pronunciations,
    spellings_of_a_pronunciation,
    plural_forms,
    nouns_with_plurals_in_ies,
    repeated_letters,
    abbreviations,
    spellings_of_laughter,
    chatspeak_with_a_language_model,
    words_of_a_keypad,
    ways_to_write_a_date,
    marked_up_dates,
    sentences_with_dates_found,
    numbers_in_words,
    numbers_by_their_factors,
    digits_of_a_number,
    weather_reports,
)

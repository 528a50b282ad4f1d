"""What the modules of `pynini.lib` make, as constraints."""

from __future__ import annotations

import re
import string
import tempfile
from collections.abc import Callable
from pathlib import Path

import pynini
from pynini.examples import plurals
from pynini.lib import byte, edit_transducer, features, paradigms, pynutil, rule_cascade, stringfile, tagger, utf8
from pynini_cases import Case, reads, writes

from automata import from_fst, image, parse, preimage, transducer_of
from constraints import choice


def bounded_edits() -> Case:
    edits = edit_transducer.EditTransducer(string.ascii_lowercase, bound=2)
    return Case(image(image("robert", edits._e_i), edits._e_o), writes("robert", edits._e_i, edits._e_o))


def edits_without_bound() -> Case:
    edits = edit_transducer.LevenshteinDistance(string.ascii_lowercase, insert_cost=2, substitute_cost=1.5)
    spellings = image(image("robert", edits._e_i), edits._e_o)
    return Case(
        spellings & parse("[a-z]{2,12}"),
        writes("robert", edits._e_i, edits._e_o),
        max_new_tokens=12,
    )


def closest_words_of_a_lexicon() -> Case:
    words = ["ada", "bob", "bert", "robert", "rupert", "albert"]
    automaton = edit_transducer.LevenshteinAutomaton(string.ascii_lowercase, words, bound=3)
    return Case(
        image(image("rbert", automaton._e_i), automaton._l_o),
        writes("rbert", automaton._e_i, automaton._l_o),
        least=2,
    )


def tagged_cities() -> Case:
    cities = tagger.Tagger("city", pynini.union("New York", "Boston"), pynini.closure(byte.BYTE))
    people, places = pynini.union("He lives", "She works", "I met her"), pynini.union("Boston", "New York", "Paris")
    sentences = (people + " in " + places + ".").optimize()
    return Case(
        image(sentences, cities._tagger),
        writes(sentences, cities._tagger),
        agrees=lambda text: cities.tag(re.sub("</?city>", "", text)) == text,
        max_new_tokens=40,
    )


NOUN = features.Category(features.Feature("case", "nom", "gen", "acc"), features.Feature("num", "sg", "pl"))
ENDINGS = {"nom sg": "a", "nom pl": "ae", "gen sg": "ae", "gen pl": "arum", "acc sg": "am", "acc pl": "as"}


def feature_vector(case_and_number: str) -> features.FeatureVector:
    case_name, number = case_and_number.split()
    return features.FeatureVector(NOUN, f"case={case_name}", f"num={number}")


def declension() -> paradigms.Paradigm:
    """Return a paradigm of Latin nouns of the first declension."""
    stem = paradigms.make_byte_star_except_boundary()
    slots = [(paradigms.suffix(f"+{ending}", stem), feature_vector(slot)) for slot, ending in ENDINGS.items()]
    return paradigms.Paradigm(NOUN, slots, feature_vector("nom sg"), ["aqu", "puell", "ros", "vi"])


def forms_of_a_noun() -> Case:
    """Lemmas with features in between: labels that are neither written nor read by the model."""
    nouns = declension()
    plural = "puella" + features.FeatureVector(NOUN, "num=pl").acceptor
    return Case(
        image(from_fst(plural), nouns.inflector),
        writes(plural, nouns.inflector),
        agrees=lambda text: any(str(slot.values["num"]) == "pl" for _, slot in nouns.lemmatize(text)),
        least=2,
    )


def words_of_a_case() -> Case:
    nouns = declension()
    genitive = pynini.closure(byte.BYTE) + features.FeatureVector(NOUN, "case=gen").acceptor
    return Case(
        preimage(nouns.tagger, genitive),
        reads(nouns.tagger, genitive),
        agrees=lambda text: any(vector.values["case"] == "gen" for _, vector in nouns.tag(text)),
    )


def analyses_of_words() -> Case:
    nouns = declension()
    words = pynini.union("aquae", "rosarum", "viam", "puellas")
    return Case(
        image(image(words, nouns.analyzer), nouns.feature_label_rewriter),
        writes(words, nouns.analyzer, nouns.feature_label_rewriter),
        max_new_tokens=48,
    )


def features_as_text() -> Case:
    genitive = features.FeatureVector(NOUN, "case=gen").acceptor
    return Case(image(genitive, NOUN.feature_mapper), writes(genitive, NOUN.feature_mapper), max_new_tokens=32, least=2)


def default_features() -> Case:
    number = features.Feature("num", "sg", "pl", default="sg")
    category = features.Category(features.Feature("gender", "mas", "fem", "neu"), number)
    filled = image("", category.feature_filler)
    return Case(
        image(filled, category.feature_mapper),
        writes("", category.feature_filler, category.feature_mapper),
        max_new_tokens=40,
        least=2,
    )


def a_cascade_of_rules() -> Case:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rules.far")
        with pynini.Far(path, "w") as far:
            far["plural"] = plurals._plural
            far["voiced"] = pynini.cdrewrite(
                pynini.cross("s", "z"), pynini.union("d", "g"), "[EOS]", pynini.closure(byte.LOWER)
            )
        cascade = rule_cascade.RuleCascade(path)
        cascade.set_rules(["plural", "voiced"])
        rules = [transducer_of(path, key=key) for key in ("plural", "voiced")]
    nouns = ["dog", "wolf", "box", "bird", "berry", "cat"]
    return Case(
        image(image(choice(nouns), rules[0]), rules[1]),
        writes(pynini.union(*nouns), *cascade.rules),
        agrees=lambda text: any(cascade.matches(noun, text) for noun in nouns),
    )


def lexicon_of_a_file() -> Case:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lexicon.tsv"
        with open(path, "w") as file:
            stringfile.writelines(file, [("[x]", "#one", "1.5"), ("y", "two\\", "0.25"), ("z", "[three]", "3")])
        lexicon = pynini.string_file(str(path))
    return Case(image(parse(r"\[x\]|[yz]"), lexicon), writes(pynini.union(r"\[x\]", "y", "z"), lexicon), least=2)


def costs_of_insertions() -> Case:
    """`pynutil`: a blank or a comma between words, and a last word that may go."""
    word = pynini.union("bread", "milk", "tea")
    last = pynini.union(word, pynutil.delete(word)).optimize()
    between = pynutil.insert(pynini.union(" ", pynutil.add_weight(", ", 1.25)), weight=0.5)
    rule = pynutil.join(word, between) + between + last
    return Case(image("milkteabreadmilk", rule), writes("milkteabreadmilk", rule))


def bytes_by_class() -> Case:
    code = (
        byte.UPPER**2
        + pynini.closure(byte.DIGIT, 2, 3)
        + byte.PUNCT
        + pynini.closure(byte.HEX, 1, 2)
        + byte.ALPHA
        + byte.SPACE.ques
    )
    return Case(
        from_fst(code + byte.GRAPH + byte.ALNUM + byte.NOT_QUOTE),
        reads(code + byte.GRAPH + byte.ALNUM + byte.NOT_QUOTE),
        agrees=lambda text: '"' not in text[-1],
    )


def characters_of_utf8() -> Case:
    wide = pynini.difference(utf8.VALID_UTF8_CHAR, utf8.SINGLE_BYTE)
    language = (
        pynini.closure(utf8.SINGLE_BYTE, 0, 2)
        + pynini.closure(wide, 1, 6)
        + utf8.VALID_UTF8_CHAR_REGIONAL_INDICATOR_SYMBOL.ques
    )
    return Case(from_fst(language.optimize()), reads(language), agrees=lambda text: "\ufffd" not in text)


MAKERS: tuple[Callable[[], Case], ...] = (
    bounded_edits,
    edits_without_bound,
    closest_words_of_a_lexicon,
    tagged_cities,
    forms_of_a_noun,
    words_of_a_case,
    analyses_of_words,
    features_as_text,
    default_features,
    a_cascade_of_rules,
    lexicon_of_a_file,
    costs_of_insertions,
    bytes_by_class,
    characters_of_utf8,
)

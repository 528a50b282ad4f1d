"""Train the language model that the package carries.

    python scripts/train_bundled_model.py DOCUMENTS.jsonl.gz [--out decoding/model] [--minutes 10] [--seed 0]

DOCUMENTS holds one JSON object a line, `{"id", "title", "description", "data"}`, where `data` is any JSON
value. The result is a folder that `transformers` loads: a Llama of 2.6 million parameters and a byte-level
BPE tokenizer of 2,048 tokens, small enough to travel inside a wheel and good enough to show what a constraint
does to a model that has preferences of its own: it knows what names, dates, addresses and JSON look like.

The training text is an endless stream drawn from three sources:

* documents: one of DOCUMENTS as JSON, compact, spaced or indented, with its title and description in front;
* pairs: some of the keys of DOCUMENTS with their values, one `Key: value` a line;
* people: sentences, forms and JSON records about invented people, orders and servers, made up here.

Two details matter to a model that will be constrained. A prompt such as `Name: ` ends where the tokenizer
would not have ended a token, and a constraint may allow any spelling of a text, not only the tokenizer's own;
so part of the text is cut at random places and encoded piece by piece. And every training row begins where a
text begins, so that the model needs no start token in front of a prompt.

With one thread the same documents and seed give the same model: `--minutes` buys a number of steps, and never
looks at the clock.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import math
import re
import time
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

END, PAD = "<|endoftext|>", "<|pad|>"
VOCABULARY = 2048
ROW = 256  # tokens that the model sees at once in training
BATCH = 4  # rows in a step; many small steps learn more from few tokens than few large ones
STEPS_PER_MINUTE = 300  # on one core of a 2024 server
PEAK_RATE = 3e-3
WARMUP = 100
LONGEST = 1000  # characters of the longest text that is kept
HELD_OUT = 256  # documents that the model never sees

# Llama 3's: words with one character before them, digits by up to three, runs of punctuation, white space.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# ------------------------------------------------------------------------------------------------------ invented people


def entries(text: str, separator: str = r"[;\n]") -> list[str]:
    """The entries of a list that is written out below."""
    return re.split(separator, text)


WOMEN = entries(
    """Mary Jane Alice Anna Emma Olivia Sophia Isabella Charlotte Emily Elizabeth Grace Victoria Hannah Nora Ruth Clara
    Lucy Sarah Maria Laura Julia Rachel Susan Linda Barbara Karen Nancy Lisa Margaret Sandra Jessica Michelle Rebecca
    Amy Angela Helen Diana Priya Fatima Yuki Mei Elena Ada Marie Zoë""",
    r"\s+",
)
MEN = entries(
    """James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew Mark Steven Paul
    Andrew Kevin Brian George Edward Jason Ryan Jacob Eric Frank Alexander Patrick Jack Peter Henry Adam Noah Lucas
    Oliver Carlos Ahmed Omar Raj Kenji Wei Ivan Alan Isaac Albert Max Simon José""",
    r"\s+",
)
FAMILIES = entries(
    """Smith Johnson Williams Brown Jones Garcia Miller Davis Rodriguez Martinez Lopez Wilson Anderson Thomas Taylor
    Moore Jackson Martin Lee Thompson White Harris Clark Lewis Robinson Walker Young Allen King Wright Scott Nguyen Hill
    Green Adams Nelson Baker Hall Campbell Mitchell Carter Roberts Evans Turner Phillips Parker Edwards Collins Stewart
    Morris Murphy Cook Rogers Cooper Kelly Watson Wood Bennett Ross Fisher Patel Singh Khan Kim Chen Wang Tanaka Müller
    Rossi Silva Doe Lovelace Turing Curie Hopper""",
    r"\s+",
)
CITIES = dict(
    entry.split(", ")
    for entry in entries("""London, England;Paris, France;Berlin, Germany;Madrid, Spain;Rome, Italy
Lisbon, Portugal;Vienna, Austria;Dublin, Ireland;Oslo, Norway;Stockholm, Sweden;Helsinki, Finland
Copenhagen, Denmark;Warsaw, Poland;Prague, Czechia;Budapest, Hungary;Athens, Greece;Cairo, Egypt
Nairobi, Kenya;Tokyo, Japan;Kyoto, Japan;Beijing, China;Shanghai, China;Seoul, South Korea;Delhi, India
Mumbai, India;Sydney, Australia;Toronto, Canada;Montreal, Canada;Mexico City, Mexico;Lima, Peru
Buenos Aires, Argentina;New York, USA;Boston, USA;Chicago, USA;Seattle, USA;Denver, USA;Austin, USA
San Francisco, USA;Los Angeles, USA;Springfield, USA;Portland, USA;Atlanta, USA;Houston, USA
Cambridge, England;Manchester, England;Edinburgh, Scotland;Munich, Germany;Hamburg, Germany;Lyon, France
Zürich, Switzerland;São Paulo, Brazil;Málaga, Spain""")
)
JOBS = entries("""teacher;nurse;doctor;lawyer;engineer;software engineer;data scientist;product manager
designer;writer;chef;baker;farmer;pilot;musician;painter;journalist;photographer;librarian;accountant;architect;carpenter
electrician;mechanic;biologist;chemist;physicist;mathematician;student;police officer;sales manager""")
COMPANIES = entries("""Acme Corporation;Globex;Initech;Umbrella Labs;Northwind Traders;Blue River Books
Green Valley Farms;Bright Ideas Ltd;Silver Lake Software;Red Rock Media;Sunrise Bakery;Stone Bridge Bank
City Hospital;Central Library;State University""")
PRODUCTS = entries("""laptop;phone;desk lamp;coffee mug;notebook;office chair;keyboard;mouse;monitor;backpack
water bottle;bicycle;tent;camera;bookshelf;jacket;pair of shoes;umbrella;watch;table;blanket""")
COLORS = entries("red;green;blue;black;white;yellow;purple;brown;gray;pink;silver")
ANIMALS = entries("dog;cat;horse;bird;rabbit;parrot;turtle;hamster;goat")
STREETS = entries("Main Street;Oak Avenue;Elm Street;Park Road;Maple Drive;High Street;Lake View Road")
HOBBIES = entries("reading;cooking;swimming;hiking;chess;painting;running;dancing;gardening")
WEAPONS = entries("sword;axe;mace;spear;bow;crossbow")
ARMORS = entries("leather;chainmail;plate")
STATES = entries("active;inactive;pending;shipped;delivered;cancelled;completed")


def person(rng: Random) -> dict[str, Any]:
    """The fields of an invented person that depend on one another."""
    woman = rng.random() < 0.5
    first, last = rng.choice(WOMEN if woman else MEN), rng.choice(FAMILIES)
    domain = rng.choice(["example.com", "example.org", "example.net", "mail.com", "test.com"])
    job = rng.choice(JOBS)
    user = rng.choice([f"{first}.{last}", first, f"{first}{rng.randint(1, 99)}", f"{first[0]}{last}"]).lower()
    return {
        "first": first,
        "last": last,
        "name": f"{first} {last}",
        "She": "She" if woman else "He",
        "Her": "Her" if woman else "His",
        "title": rng.choice(["Ms", "Dr"] if woman else ["Mr", "Dr"]),
        "user": user,
        "email": f"{user}@{domain}",
        "age": rng.randint(18, 90),
        "job": job,
        "a_job": f"{'an' if job[0] in 'aeiou' else 'a'} {job}",
        "company": rng.choice(COMPANIES),
        "hobby": rng.choice(HOBBIES),
    }


def moment(rng: Random) -> dict[str, Any]:
    """A day and a time of day, in the ways people write them."""
    day = date(1950, 1, 1) + timedelta(days=rng.randrange(28_000))
    clock = f"{rng.randrange(24):02}:{rng.choice([0, 0, 15, 30, 30, 45, rng.randrange(60)]):02}"
    return {
        "date": day.isoformat(),
        "year": day.year,
        "month": f"{day:%B}",
        "weekday": f"{day:%A}",
        "day_first": f"{day.day} {day:%B %Y}",
        "month_first": f"{day:%B} {day.day}, {day.year}",
        "slashes": f"{day:%m/%d/%Y}",
        "clock": clock,
        "timestamp": f"{day.isoformat()}T{clock}:{rng.randrange(60):02}Z",
    }


def place(rng: Random) -> dict[str, Any]:
    """A city with its country, and an address, a telephone and a machine in it."""
    city = rng.choice(list(CITIES))
    area, tail = rng.randint(201, 989), rng.randint(0, 9999)
    phones = [
        f"+1-{area}-555-{tail:04}",
        f"({area}) 555-{tail:04}",
        f"{area}-555-{tail:04}",
        f"+44 20 7946 {tail:04}",
    ]
    network = rng.choice(["192.168", "10.0", "172.16", f"{rng.randint(1, 223)}.{rng.randint(0, 255)}"])
    return {
        "city": city,
        "country": CITIES[city],
        "street": f"{rng.randint(1, 999)} {rng.choice(STREETS)}",
        "zip": f"{rng.randint(10000, 99999)}",
        "phone": rng.choice(phones),
        "ip": f"{network}.{rng.randint(0, 255)}.{rng.randint(1, 254)}",
        "port": rng.choice([22, 80, 443, 3000, 5432, 8080, rng.randint(1024, 65535)]),
        "host": f"{rng.choice(['www', 'api', 'mail', 'db', 'web'])}{rng.choice(['', '1', '2'])}.example.com",
    }


def thing(rng: Random) -> dict[str, Any]:
    """Something bought, a pet, a version and other odds and ends."""
    return {
        "product": rng.choice(PRODUCTS),
        "price": round(rng.choice([10, 100, 1000]) * rng.random() + 1, 2),
        "number": rng.randint(2, 12),
        "color": rng.choice(COLORS),
        "animal": rng.choice(ANIMALS),
        "order": f"{rng.choice('ABCXZ')}-{rng.randint(1000, 99999)}",
        "uuid": str(UUID(int=rng.getrandbits(128), version=4)),
        "version": f"{rng.randint(0, 9)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
        "status": rng.choice(STATES),
        "weapon": rng.choice(WEAPONS),
        "armor": rng.choice(ARMORS),
        "strength": rng.randint(1, 100),
        "rating": rng.randint(1, 5),
        "flag": rng.random() < 0.5,
        "other": f"{rng.choice(WOMEN + MEN)} {rng.choice(FAMILIES)}",
    }


def invented(rng: Random) -> dict[str, Any]:
    """Everything that a template below may name."""
    return person(rng) | moment(rng) | place(rng) | thing(rng)


SENTENCES = entries("""{name} was born on {day_first} in {city}, {country}.
{name} was born on {month_first} in {city}.
{first} {last} is {a_job} from {city}, {country}.
{name} is {age} years old and lives in {city}.
{She} works as {a_job} at {company}.
{She} lives at {street} in {city}.
{She} has {number} {animal}s and a {color} {product}.
{She} likes {hobby} and has a {animal}.
{Her} favorite color is {color}.
{Her} e-mail address is {email}.
{Her} phone number is {phone}.
My name is {name} and I am {age} years old.
My name is {first}. I live in {city} and I work as {a_job}.
Hello, my name is {name}. You can reach me at {email}.
Please call {title} {last} at {phone} or write to {email}.
You can send a letter to {name}, {street}, {city}, {country}.
The meeting is on {weekday}, {day_first} at {clock}.
The meeting with {name} is on {month_first} at {clock}.
Today is {weekday}, {month_first}.
The date is {date}.
Today's date is {date}.
On {date} {name} ordered {number} items for ${price}.
{name} bought a {color} {product} for ${price} on {day_first}.
The {product} costs ${price} and weighs {number} kg.
Order {order} was {status} on {date}.
The server {host} has the IP address {ip} and listens on port {port}.
The IP address of the server is {ip}.
The server {ip} was restarted at {clock} on {date}.
Version {version} was released on {date}.
{city} is a city in {country}.
{name} moved from {city} to another city in {month} {year}.
{name} and {other} have known each other since {year}.
{title} {last} met {other} in {city} in {year}.
The {animal} is {color}. It is {number} years old.
{name} said that the {product} is {color}.""")

LABELS = entries("""Name: {name};Name: {name};Full name: {name};First name: {first};Last name: {last}
Customer: {name};Author: {name};Contact: {name};Date: {date};Date: {date};Date: {day_first}
Date: {month_first};Date: {slashes};Date of birth: {date};Born: {day_first};Email: {email};E-mail: {email}
Phone: {phone};Phone number: {phone};Address: {street}, {city};City: {city};Country: {country};Job: {job}
Company: {company};Age: {age};Time: {clock};Timestamp: {timestamp};Year: {year};Day: {weekday};Month: {month}
IP: {ip};IP address: {ip};IPv4: {ip};Host: {host};Port: {port};URL: https://{host}/;Price: ${price}
Color: {color};Product: {product};Quantity: {number};Order: {order};Status: {status};Version: {version}
User: {user};Zip code: {zip};Hobby: {hobby};Animal: {animal};UUID: {uuid}""")

QUESTIONS = entries("""What is the name of the {job}?|{name}
When was {name} born?|{date}
When is the meeting?|{day_first}
Where does {name} live?|{city}
What is the e-mail address of {name}?|{email}
What is the phone number?|{phone}
What is the IP address of {host}?|{ip}
How old is {name}?|{age}
How much is the {product}?|${price}
In which country is {city}?|{country}
Which color is the {product}?|{color}
Who lives in {city}?|{name}
Tell me about {name}.|{name} is {a_job} from {city}.""")

RECORDS: dict[str, Any] = {
    "a person": {"name": "name", "age": "age", "email": "email", "city": "city", "job": "job"},
    "a user": {
        "id": "number",
        "username": "user",
        "email": "email",
        "active": "flag",
        "created_at": "timestamp",
    },
    "a contact": {
        "first_name": "first",
        "last_name": "last",
        "birth_date": "date",
        "phone": "phone",
        "address": {"street": "street", "city": "city", "zip": "zip", "country": "country"},
    },
    "an employee": {
        "name": "name",
        "title": "job",
        "company": "company",
        "start_date": "date",
        "manager": "other",
    },
    "an order": {
        "order_id": "order",
        "customer": "name",
        "date": "date",
        "items": [{"product": "product", "quantity": "number", "price": "price"}],
        "total": "price",
        "status": "status",
    },
    "a character": {
        "name": "first",
        "age": "age",
        "armor": "armor",
        "weapon": "weapon",
        "strength": "strength",
    },
    "an event": {"title": "hobby", "date": "date", "time": "clock", "location": "city", "guests": ["name"]},
    "a server": {"host": "host", "ip": "ip", "port": "port", "version": "version", "enabled": "flag"},
    "a product": {"id": "uuid", "name": "product", "color": "color", "price": "price", "rating": "rating"},
    "a list of people": [{"name": "name", "age": "age", "email": "email"}],
    "a list of names": ["name"],
    "a list of dates": ["date"],
}


def filled(shape: Any, rng: Random, fields: dict[str, Any]) -> Any:
    """A JSON value of the shape: some keys are left out, and a list gets one to three elements."""
    if isinstance(shape, dict):
        return {key: filled(part, rng, fields) for key, part in shape.items() if rng.random() < 0.85}
    if isinstance(shape, list):
        return [filled(shape[0], rng, invented(rng)) for _ in range(rng.randint(1, 3))]
    return fields[shape]


def dumped(value: Any, rng: Random) -> str:
    """The value as JSON in one of the three usual layouts."""
    layout: dict[str, Any] = rng.choice([{"separators": (",", ":")}, {}, {}, {"indent": 2}])
    return json.dumps(value, ensure_ascii=False, **layout)


def record(rng: Random) -> str:
    kind = rng.choice(list(RECORDS))
    heading = rng.choice(["", "", "{a} as JSON:\n", "{a} as JSON: ", "JSON for {a}:\n", "Here is {a} as JSON:\n"])
    heading = heading.format(a=kind)
    return heading[:1].upper() + heading[1:] + dumped(filled(RECORDS[kind], rng, invented(rng)), rng)


def prose(rng: Random) -> str:
    fields = invented(rng)
    return " ".join(line.format(**fields) for line in rng.sample(SENTENCES, rng.randint(1, 3)))


def form(rng: Random) -> str:
    fields = invented(rng)
    lines = [line.format(**fields) for line in rng.sample(LABELS, rng.randint(1, 5))]
    if rng.random() < 0.25:
        lines = [line[0].lower() + line[1:] for line in lines]
    return "\n".join(lines)


def question(rng: Random) -> str:
    ask, _, answer = rng.choice(QUESTIONS).format(**invented(rng)).partition("|")
    return f"Question: {ask}\nAnswer: {answer}"


# ------------------------------------------------------------------------------------------------------- real documents


def scalars(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Every string inside a JSON value with the nearest key above it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from scalars(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from scalars(part, key)
    elif isinstance(value, str):
        yield key, value


def is_junk(text: str) -> bool:
    """Whether a string is data rather than writing: long unbroken runs, unprintable characters."""
    printable = text.replace("\n", "").replace("\t", "").isprintable()
    return not printable or re.search(r"[\w+/=]{48}", text) is not None


def read_documents(path: Path) -> list[dict[str, Any]]:
    """The documents that are short enough and free of junk."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    return [
        document
        for document in documents
        if len(json.dumps(document["data"])) <= LONGEST
        and not any(is_junk(text) for _, text in scalars(document["data"]))
    ]


def rendered(document: dict[str, Any], rng: Random) -> str:
    """A document as JSON, half of the time under its title and description."""
    parts = [("Title", document["title"]), ("Description", document["description"])]
    heading = "".join(f"{label}: {text.strip()}\n" for label, text in parts if text)
    if heading and rng.random() < 0.5:
        heading += rng.choice(["", "JSON:\n"])
    else:
        heading = ""
    return (heading + dumped(document["data"], rng))[:LONGEST]


def known_pairs(documents: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The distinct pairs of a key in plain letters and a one-line string under it."""
    pairs = {
        (key, text)
        for document in documents
        for key, text in scalars(document["data"])
        if re.fullmatch(r"[A-Za-z_]{2,24}", key) and 0 < len(text) <= 80 and "\n" not in text
    }
    return sorted(pairs)


def listed(pairs: list[tuple[str, str]], rng: Random) -> str:
    """A few pairs as lines of a form, with the keys as they are or as labels."""
    as_label = rng.random() < 0.5
    chosen = rng.sample(pairs, rng.randint(1, 5))
    return "\n".join(f"{key.replace('_', ' ').capitalize() if as_label else key}: {text}" for key, text in chosen)


def endless(items: list[Any], rng: Random) -> Iterator[Any]:
    """The items again and again, in a new order each time."""
    while True:
        yield from rng.sample(items, len(items))


def texts(documents: list[dict[str, Any]], rng: Random) -> Iterator[str]:
    """The training text, for ever."""
    pairs, document = known_pairs(documents), endless(documents, rng)
    sources: list[tuple[int, Callable[[], str]]] = [
        (22, lambda: rendered(next(document), rng)),
        (6, lambda: listed(pairs, rng)),
        (26, lambda: record(rng)),
        (26, lambda: form(rng)),
        (16, lambda: prose(rng)),
        (4, lambda: question(rng)),
    ]
    weights, makers = zip(*sources, strict=True)
    while True:
        yield rng.choices(makers, weights)[0]()


# ------------------------------------------------------------------------------------------------------------- training


def train_tokenizer(sample: list[str]) -> Tokenizer:
    """A byte-level BPE tokenizer that spells any text, whatever the sample holds."""
    tokenizer = Tokenizer(models.BPE())
    split = pre_tokenizers.Split(Regex(SPLIT), behavior="isolated")
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, to_bytes])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[END, PAD],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample, trainer)
    return tokenizer


def pieces(text: str, rng: Random) -> list[str]:
    """The text, usually whole, else cut at up to three places, of which most follow a space or a quote."""
    if rng.random() < 0.5:
        return [text]
    natural = [match.end() for match in re.finditer(r'[ "]', text)] or [0]
    cuts = {rng.choice(natural) if rng.random() < 0.8 else rng.randrange(len(text)) for _ in range(rng.randint(1, 3))}
    return [text[a:b] for a, b in itertools.pairwise([0, *sorted(cuts), len(text)])]


def rows(source: Iterator[list[str]], tokenizer: Tokenizer) -> Iterator[list[int]]:
    """Rows of ROW + 1 tokens, each of which begins where a text does; a text comes as its pieces.

    A text that the end of a row cuts begins the next row once more, or, if longer than a row, goes on there.
    """
    end, row = tokenizer.get_vocab()[END], list[int]()
    for text in source:
        tokens = [token for piece in tokenizer.encode_batch(text) for token in piece.ids] + [end]
        row += tokens
        if len(row) > ROW:
            yield row[: ROW + 1]
            row = tokens if len(tokens) <= ROW else row[ROW:][:ROW]


def new_model(tokenizer: Tokenizer) -> LlamaForCausalLM:
    """An untrained Llama; wide rather than deep, which is faster to train for its size."""
    end, pad = tokenizer.get_vocab()[END], tokenizer.get_vocab()[PAD]
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=256,
        intermediate_size=640,
        num_hidden_layers=3,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=1024,
        tie_word_embeddings=True,
        bos_token_id=end,
        eos_token_id=end,
        pad_token_id=pad,
    )
    return LlamaForCausalLM(config)


def loss_of(model: LlamaForCausalLM, batch: torch.Tensor) -> torch.Tensor:
    """The mean cross entropy of each next token, in nats; matrix products run in bfloat16."""
    with torch.autocast("cpu", torch.bfloat16):
        logits = model(batch[:, :-1]).logits
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def rate_at(step: int, steps: int) -> float:
    """The learning rate's share of its peak: a linear rise, then half a cosine down to a fiftieth."""
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / max(1, steps - WARMUP)))


def optimizer_for(model: LlamaForCausalLM) -> torch.optim.Optimizer:
    """AdamW, with decay on the matrices alone."""
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    others = [weight for weight in model.parameters() if weight.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=PEAK_RATE, betas=(0.9, 0.95), fused=True)


def train(model: LlamaForCausalLM, source: Iterator[list[int]], steps: int, held_out: torch.Tensor) -> None:
    optimizer = optimizer_for(model)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: rate_at(step, steps))
    started, recent = time.monotonic(), 0.0
    for step in range(1, steps + 1):
        loss = loss_of(model, torch.tensor(list(itertools.islice(source, BATCH))))
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        recent += loss.item()
        if step % 100 == 0:
            print(
                f"step {step}/{steps}  loss {recent / 100:.3f}  {time.monotonic() - started:.0f} s",
                flush=True,
            )
            recent = 0.0
        if step % 1000 == 0:
            print(f"held-out perplexity {perplexity(model, held_out):.2f}", flush=True)


@torch.no_grad()
def perplexity(model: LlamaForCausalLM, held_out: torch.Tensor) -> float:
    """The perplexity of a token of documents that were left out of the training."""
    losses = [loss_of(model, batch).item() * len(batch) for batch in torch.split(held_out, BATCH)]
    return math.exp(sum(losses) / len(held_out))


def save(model: LlamaForCausalLM, tokenizer: Tokenizer, folder: Path) -> None:
    """The files that `from_pretrained` reads, with the weights in half precision."""
    model.half().save_pretrained(folder)  # type: ignore[no-untyped-call]
    wrapped = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        pad_token=PAD,
        clean_up_tokenization_spaces=False,
        model_max_length=model.config.max_position_embeddings,
    )
    wrapped.save_pretrained(folder)
    settings = folder / "tokenizer_config.json"
    named = json.loads(settings.read_text()) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    settings.write_text(json.dumps(named, indent=2) + "\n")  # the name that every release of transformers knows


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the language model that the package carries.")
    parser.add_argument("documents", type=Path, help="gzipped JSON lines: id, title, description, data")
    parser.add_argument("--out", type=Path, default=Path("decoding/model"))
    parser.add_argument("--minutes", type=float, default=10.0, help="length of the training on one core")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = Random(options.seed)
    documents = read_documents(options.documents)
    rng.shuffle(documents)
    held, kept = documents[:HELD_OUT], documents[HELD_OUT:]
    tokenizer = train_tokenizer(list(itertools.islice(texts(kept, rng), 3 * len(kept))))
    held_out = torch.tensor(list(rows(([rendered(one, rng)] for one in held), tokenizer)))
    model = new_model(tokenizer)
    steps = round(options.minutes * STEPS_PER_MINUTE)
    print(f"{len(kept)} documents, {model.num_parameters()} parameters, {steps} steps", flush=True)
    source = rows((pieces(text, rng) for text in texts(kept, rng)), tokenizer)
    train(model, source, steps, held_out)
    print(f"held-out perplexity {perplexity(model, held_out):.2f}")
    save(model, tokenizer, options.out)


if __name__ == "__main__":
    main()

"""Texts about invented people, orders and servers for training the bundled model: sentences, forms, records, questions.

    record, form, prose, question       one text each, from a random number generator
    reading, sums                       likewise: sentences and the record that they are about; sums as JSON

Everything is drawn from the lists and shapes below, so that names, dates, addresses and JSON come out plausible and
nothing is about anyone.
"""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from random import Random
from typing import Any
from uuid import UUID


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


# Sentences that between them name every field of a person's record.
TELLING = {
    "name": entries("My name is {name}.;I am {name}.;This is {name}.;{name} writes:;Name: {name}."),
    "age": entries("I am {age} years old.;Age: {age}.;I turned {age} this year.;At {age} I am still young."),
    "email": entries("You can reach me at {email}.;My e-mail address is {email}.;Write to {email}.;E-mail: {email}."),
    "city": entries("I live in {city}.;My home is {city}.;I moved to {city}.;City: {city}."),
    "job": entries("I work as {a_job}.;I am {a_job}.;They pay me as {a_job}.;Job: {job}."),
}
JOINED = ["My name is {name} and I am {age} years old.", "I live in {city} and I work as {a_job}."]


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


def reading(rng: Random) -> str:
    """Sentences in which a person tells who they are, and the person as JSON."""
    fields, shape = invented(rng), RECORDS["a person"]
    if rng.random() < 0.5:
        lines = [*JOINED, rng.choice(TELLING["email"])]
    else:
        lines = [rng.choice(TELLING[key]) for key in ("name", *rng.sample(["age", "email", "city", "job"], 4))]
    text = " ".join(lines).format(**fields)
    found = {key: fields[shape[key]] for key in shape}
    return f"{text}\nA person as JSON:\n{dumped(found, rng)}"


def sums(rng: Random) -> str:
    """A few sums of two digits, each as JSON."""
    pairs = [(rng.randint(0, 9), rng.randint(0, 9)) for _ in range(rng.randint(1, 5))]
    return "\n".join(f"{a} + {b} as JSON:\n{dumped({'a': a, 'b': b, 'sum': a + b}, rng)}" for a, b in pairs)


def question(rng: Random) -> str:
    ask, _, answer = rng.choice(QUESTIONS).format(**invented(rng)).partition("|")
    return f"Question: {ask}\nAnswer: {answer}"

"""Train the language model that the package carries.

    python scripts/train_bundled_model.py DOCUMENTS.jsonl.gz [--out decoding/model] [--minutes 36] [--seed 0]

DOCUMENTS holds one JSON object a line, `{"id", "title", "description", "data"}`, where `data` is any JSON
value. The result is a folder that `transformers` loads: a Llama of 2.6 million parameters and a byte-level
BPE tokenizer of 2,048 tokens, small enough to travel inside a wheel and good enough to show what a constraint
does to a model that has preferences of its own: it knows what names, dates, addresses and JSON look like.

The training text is an endless stream drawn from three sources:

* documents: one of DOCUMENTS as JSON, compact, spaced or indented, with its title and description in front;
* pairs: some of the keys of DOCUMENTS with their values, one `Key: value` a line;
* people: sentences, forms and JSON records about invented people, orders and servers, made up here; sentences
  with the record that they are about, and small sums.

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
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import torch
from invented_texts import dumped, form, prose, question, reading, record, sums
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

# Llama 3's: words with one character before them, digits by up to three, runs of punctuation, whitespace.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


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
        (18, lambda: rendered(next(document), rng)),
        (4, lambda: listed(pairs, rng)),
        (16, lambda: record(rng)),
        (20, lambda: form(rng)),
        (10, lambda: prose(rng)),
        (4, lambda: question(rng)),
        (24, lambda: reading(rng)),
        (4, lambda: sums(rng)),
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

    A text that the end of a row cuts begins the next row once more, or, if longer than a row, continues there.
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
        loss.backward()
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
    model.half().save_pretrained(folder)
    wrapped = PreTrainedTokenizerFast(
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
    parser.add_argument("--minutes", type=float, default=36.0, help="length of the training on one core")
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

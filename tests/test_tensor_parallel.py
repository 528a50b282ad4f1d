"""Logits that are sharded over the vocabulary: each process masks its own part, and all agree on the next token."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORKER = """
import re, sys
import torch
import torch.distributed as dist
import tokenfst
from decoding.arena import FREE_SLOT, Arena
from tokenfst import Vocabulary

rank, size, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
dist.init_process_group("gloo", init_method="file://" + store, rank=rank, world_size=size)
vocabulary = Vocabulary([*(bytes([byte]) for byte in range(256)), b"ab", b"12", b'"}', b""], [259])
width = 264
part = (rank * width // size, (rank + 1) * width // size)
arena = Arena(vocabulary, width=width, max_bytes=1 << 20, part=part)
patterns = ["[ab]{3,9}", r"\\d{4}-\\d\\d", '"[^"]{0,5}"']
slots = [arena.add(tokenfst.compile(pattern, vocabulary)) for pattern in patterns] + [FREE_SLOT]
at, texts = arena.starts(slots), [[] for _ in slots]
for step in range(16):
    # Every process computes its own columns of the same logits.
    logits = torch.randn(len(slots), width, generator=torch.Generator().manual_seed(step))[:, part[0] : part[1]]
    logits = arena.apply_(logits.contiguous(), at, 16 - step)
    best, token = logits.max(1)
    gathered = [torch.empty(len(slots), 2, dtype=torch.float64) for _ in range(size)]
    dist.all_gather(gathered, torch.stack([best.double(), (token + part[0]).double()], 1))
    every = torch.stack(gathered)
    tokens = every[every[:, :, 0].argmax(0), torch.arange(len(slots)), 1].long()
    at = arena.advance(at, tokens)
    for text, token in zip(texts, tokens.tolist()):
        text.append(token)
for pattern, text in zip(patterns, texts):
    written = vocabulary.detokenize([token for token in text if token != 259])
    assert re.fullmatch(pattern, written.decode()), (pattern, written)
print(texts)
# Nobody leaves while another one still waits.
dist.barrier()
dist.destroy_process_group()
"""


def test_two_processes_write_what_one_writes(tmp_path: Path) -> None:
    found = []
    for size in (1, 2):
        command = [sys.executable, "-c", WORKER]
        store = str(tmp_path / f"store{size}")
        workers = [
            subprocess.Popen([*command, str(rank), str(size), store], cwd=ROOT, stdout=subprocess.PIPE, text=True)
            for rank in range(size)
        ]
        outputs = [worker.communicate(timeout=300)[0] for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * size
        found += [output.splitlines()[-1] for output in outputs]  # before it, Gloo may say what it connects to
    assert len(set(found)) == 1, "every process writes the same tokens, however many there are"

"""The bundled model as a GGUF file, with its own tokenizer or with one of SentencePiece's kind.

With the second, the model writes nonsense, which is as good for a constraint.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from safetensors.numpy import load_file

NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}
OUTER = {
    "embed_tokens.weight": "token_embd.weight",
    "norm.weight": "output_norm.weight",
    "lm_head.weight": "output.weight",
}
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
# Longer than llama-cpp-python reads.
LONG = "x" * 40


def model_folder() -> Path:
    """The folder of the bundled model."""
    spec = find_spec("decoding")
    assert spec is not None
    return Path(str(spec.origin)).parent / "model"


def write_gguf(path: Path, tokenizer: str) -> None:
    """Write the model with its own tokenizer ("bundled"), or with another one ("sentencepiece")."""
    folder = model_folder()
    config = json.loads((folder / "config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(str(path), "llama")
    write_sizes(writer, config)
    if tokenizer == "bundled":
        write_bundled(writer, json.loads((folder / "tokenizer.json").read_text("utf-8")), config["vocab_size"])
    else:
        write_sentencepiece(writer, config["vocab_size"])
    heads = config["num_attention_heads"], config["num_key_value_heads"]
    for name, weights in load_file(folder / "model.safetensors").items():
        write_weights(writer, name.removeprefix("model."), weights, *heads)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_sizes(writer: Any, config: dict[str, Any]) -> None:
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_rope_dimension_count(config["head_dim"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])


def write_weights(writer: Any, name: str, weights: np.ndarray[Any, Any], heads: int, key_heads: int) -> None:
    if not name.startswith("layers."):
        name = OUTER[name]
    else:
        _, layer, rest = name.split(".", 2)
        part = NAMES[rest.removesuffix(".weight")]
        if part in ("attn_q", "attn_k"):
            weights = interleaved(weights, heads if part == "attn_q" else key_heads)
        name = f"blk.{layer}.{part}.weight"
    writer.add_tensor(name, weights.astype(np.float32 if weights.ndim == 1 else np.float16))


def interleaved(weights: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """llama.cpp rotates neighbouring columns, `transformers` those of the two halves of a head."""
    halves = weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:])
    return halves.swapaxes(1, 2).reshape(weights.shape)


def write_bundled(writer: Any, tokenizer: dict[str, Any], number: int) -> None:
    tokens = {token: text for text, token in tokenizer["model"]["vocab"].items()}
    special = {each["id"]: each["content"] for each in tokenizer["added_tokens"]}
    tokens |= special
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("llama-bpe")
    writer.add_token_list([tokens.get(token, f"[PAD{token}]") for token in range(number)])
    kinds = [CONTROL if token in special else NORMAL if token in tokens else UNUSED for token in range(number)]
    writer.add_token_types(kinds)
    merges = tokenizer["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    writer.add_pad_token_id(1)
    writer.add_add_bos_token(False)


def write_sentencepiece(writer: Any, number: int) -> None:
    """Bytes, letters with and without a space, and tokens of all other kinds; two tokens end a text."""
    special = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL), ("<|im_end|>", CONTROL), ("<tool>", USER)]
    pieces = special + [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    texts = [chr(letter) for letter in range(0x21, 0x7F)] + ["▁", "▁▁", "é", "né", "日", LONG]
    texts += ["▁" + text for text in texts[:94]] + ['":', '",', '▁{"', "}}", "▁▁▁\n", "日本"]
    pieces += [(text, NORMAL) for text in texts]
    pieces += [(f"[{at}]", UNUSED) for at in range(number - len(pieces))]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in pieces])
    writer.add_token_types([kind for _, kind in pieces])
    writer.add_token_scores([-float(at) for at in range(number)])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)

"""The kernels of `decoding.sampling`, compiled for a GPU, which needs none; `test_kernels.py` runs it."""

from __future__ import annotations

from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from decoding.sampling import cut_kernels, kernels

HOPPER = GPUTarget("cuda", 90, 32)


def compiled(kernel: Any, constants: dict[str, Any], **types: str) -> None:
    """Compile a kernel with these constants and types; other arguments are integers."""
    names = [name for name in kernel.arg_names if name not in constants]
    signature = {name: types.get(name, "i32") for name in names} | dict.fromkeys(constants, "constexpr")
    source = ASTSource(
        fn=kernel,
        signature={name: signature[name] for name in kernel.arg_names},
        constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()},
    )
    assert "st.global" in triton.compile(source, target=HOPPER).asm["ptx"]


def main() -> None:
    reals = "tops", "sums", "temperatures", "chances", "speeds", "weights", "old_weights", "distances"
    counts: tuple[str, ...] = ("best", "fastest", "ties", "thresholds", "kept_ties", "new_thresholds", "new_kept_ties")
    counts += "states", "counts", "old_states", "old_counts"
    pointers = dict.fromkeys(reals, "*fp32") | dict.fromkeys(counts, "*i32")
    pointers |= dict.fromkeys(("seeds", "steps", "tokens"), "*i64")
    for dtype, mask in [("*fp32", "*u8"), ("*bf16", "*u8"), ("*fp16", "*fp16")]:
        types = pointers | {"logits": dtype, "mask": mask}
        constants = {"MASKED": mask == "*u8", "TOKENS": 2048, "CHUNKS": 64}
        compiled(kernels.find_tops, {name: constants[name] for name in ("MASKED", "TOKENS")}, **types)
        compiled(kernels.add_weights, constants, **types)
        compiled(kernels.write_chances, constants, **types)
        compiled(cut_kernels.write_distances, constants, **types)
    sizes = {"TOKENS": 2048, "CHUNKS": 64}
    for needs in ("*i64", "*fp32"):
        search = {"BY_WEIGHT": needs == "*fp32", "INTERVALS": cut_kernels.INTERVALS}
        for is_first in (False, True):
            compiled(cut_kernels.narrow, sizes | search | {"FIRST": is_first}, **pointers, needs=needs)
        compiled(cut_kernels.finish, search | {"CHUNKS": 64}, **pointers, needs=needs)
    compiled(cut_kernels.weigh, {"TOKENS": 2048}, **pointers)
    compiled(cut_kernels.write_kept, sizes, **pointers)
    # `torch.compile` knows some numbers beforehand.
    for has_steps, known in [(True, {"step": 0}), (False, {}), (True, {"step": 0, "stream_number": 2})]:
        compiled(kernels.race, {"HAS_STEPS": has_steps, "TOKENS": 2048, **known}, **pointers | {"step": "i64"})
    compiled(kernels.find_winners, {"CHUNKS": 64}, **pointers)


if __name__ == "__main__":
    main()

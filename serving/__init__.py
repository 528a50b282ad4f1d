"""Constraint backends for inference engines, which batch, schedule and distribute; this package writes no server.

    specifications   what a request asks for (a schema, a pattern, a grammar, ...) -> a constraint
    matcher          Matcher: the state of one request; accept, validate, roll back, fill masks
    sequences        one sequence, whose state is found from its tokens: what logits processors are made of
    settings         what an operator may set: time and memory of a compilation, bytes of the cache
    stoppable        calls in threads that can be given up while they run
    lru_cache        what was compiled, up to a number of bytes
    packed_masks     masks as tensors, and in logits

    vllm                 vLLM: a backend, and a logits processor that masks on the device
    sglang               SGLang: a grammar backend
    continuous_batching  transformers: a constraint for each request
    llama_cpp            llama-cpp-python: a logits processor, and the vocabulary of a GGUF file
    mlx_lm               MLX-LM: a logits processor

An engine's own package is imported only by the modules that are named after it.
"""

"""Constraint backends for inference engines. The engines batch, schedule and distribute; this package is not a server.

    specifications   the specification in a request (a schema, a pattern, a grammar, ...) -> a constraint
    json_texts       JSON without endless whitespace or digits
    structural_tags  structural tags -> constraints; tag_fields: what their fields may contain
    matcher          Matcher: the state of one request; accept, validate, roll back, fill masks
    sequences        one sequence, whose state is found from its tokens: the basis of logits processors
    settings         the operator's settings: time and memory of a compilation, bytes of the cache
    stoppable        calls in threads that can be cancelled while they run
    lru_cache        a cache of compiled constraints, bounded in bytes
    packed_masks     masks as tensors, and their application to logits

    vllm                 vLLM: a backend, and a logits processor that masks on the device
    sglang               SGLang: a grammar backend
    continuous_batching  transformers: continuous batching with a constraint for each request
    llama_cpp            llama-cpp-python: a logits processor, and the vocabulary of a GGUF file
    mlx_lm               MLX-LM: a logits processor

An engine's package is imported only by the modules named after the engine.
"""

"""Constraint backends for inference engines, which batch, schedule and distribute; this package writes no server.

    specifications   what a request asks for (a schema, a pattern, a grammar, ...) -> a constraint
    matcher          Matcher: the state of one request; accept, validate, roll back, fill masks
    settings         what an operator may set: time and memory of a compilation, bytes of the cache
    vllm_backend     the two classes that vLLM asks a backend for; vllm_bitmask: a batch's masks, filled in one call
    vllm_plugin      puts them where vLLM finds them
    vllm_engine      what is read of an engine, and of a request in its front end

Where masks are made on the device:

    block_compiler   what requests ask for, as blocks of an arena
    residence        which automata lie in the arena
    slot_states      the states of all requests, by the slots of an engine
    vllm_device      a logits processor of vLLM's Model Runner V2

An engine's own package is imported only by the modules that are named after it.
"""

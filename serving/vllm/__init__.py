"""Adapters for vLLM, in two forms; a request can use one of them.

As a backend of structured outputs, which the scheduler asks for masks:

    plugin           installs the backend in vLLM
    backend          the two classes that vLLM requires of a backend
    bitmask          a batch's masks, filled in one call

As a logits processor of Model Runner V2, which masks on the device:

    device           the processor
    slot_states      the states of requests, on the device
    block_compiler   compiles constraints to tables for an arena, in threads
    residence        which tables are in the arena

    engine           used by both: an engine's vocabulary, and the check of a request
"""

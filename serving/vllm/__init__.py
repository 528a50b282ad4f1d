"""vLLM, in two ways that exclude each other for a request.

As a backend of structured outputs, which the scheduler asks for masks:

    plugin           puts the backend where vLLM finds it
    backend          the two classes that vLLM asks a backend for
    bitmask          a batch's masks, filled in one call

As a logits processor of Model Runner V2, which masks on the device:

    device           the processor
    slot_states      where each request stands, on the device
    block_compiler   constraints to tables for an arena, in threads
    residence        which of them lie in the arena

    engine           what both need: an engine's vocabulary, and the check of a request
"""

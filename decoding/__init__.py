"""From token automata to text: tensors on the accelerator, and the loop.

    AutomatonTensors            masks and steps for a batch             tensors
    ConstraintLogitsProcessor   for `generate` of transformers          processor
    generate(...)               prompts and a constraint to texts       generate
    bundled_model()             a small model to try things with        bundled
    main()                      the `tokenfst` command                  command
"""

from decoding.bundled import bundled_model
from decoding.generate import generate, vocabulary_of
from decoding.processor import ConstraintLogitsProcessor
from decoding.tensors import AutomatonTensors

__all__ = ["AutomatonTensors", "ConstraintLogitsProcessor", "bundled_model", "generate", "vocabulary_of"]

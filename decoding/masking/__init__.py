"""From the rows of a `transformers` call to masked logits.

batch_tracker  BatchTracker: the state of each row, found from its tokens; writes masks into logits
processor      ConstraintLogitsProcessor: what `model.generate` calls
"""

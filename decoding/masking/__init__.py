"""From the rows of a `transformers` call to masked logits.

batch_tracker  BatchTracker: finds the state of each row from its tokens, and masks logits
host_masks     the masks of rows whose states are on the host
costs          subtract_costs: the costs of tokens, for automata on the host
processor      ConstraintLogitsProcessor: the logits processor for `model.generate`
"""

"""From the rows of a `transformers` call to masked logits.

batch_tracker  BatchTracker: the state of each row, found from its tokens; writes masks into logits
costs          less_costs: what tokens cost, for automata on the host
processor      ConstraintLogitsProcessor: what `model.generate` calls
"""

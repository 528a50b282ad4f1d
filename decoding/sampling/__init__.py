"""From logits and a mask to a token: the distribution to sample from, and the draw.

    Sampling            the settings of one sequence                     parameters
    Samplings           the settings of a batch as tensors               parameters
    History             the earlier tokens, for repetition penalties     penalties
    probabilities(...)  logits, mask and settings to `[B, V]`            distribution
    Noise               each sequence's own random numbers               noise
    choose(...)         probabilities and noise to a token for each row  noise

On a GPU, kernels compute the draw and, except with typical sampling, the distribution (`on_gpu`, `cuts`, `cut_kernels`;
`split_mix` has the constants of the random numbers).

    logits -> penalties -> mask -> temperature -> top-k -> top-p -> min-p -> typical -> choose

This order keeps a constraint exact. The mask comes before all truncation (Language AI Handbook, "Combining Top-k with
Constraints": constraints first, then the top k among valid tokens), so truncation always leaves an allowed token.
Penalties apply to the model's original logits, because dividing a logit depends on where its zero is. The temperature
scales each logit separately, so the result is the same whether it comes before the mask, as in that handbook's
"Temperature and Constraints", or after it. Here it comes after the mask, because then the logits can be shifted by that
of the likeliest allowed token, which keeps even the lowest temperature within the range of float32.

Shapes depend only on the batch, and the host reads nothing, so all of this can run inside `torch.compile` and a CUDA
graph, together with the mask.

Rejected: truncation before the mask (it may leave no allowed token, and the text gets stuck); one generator for the
batch (the draws of a sequence would depend on its neighbours); `torch.multinomial` (the same, and the host must read
its result to find rows whose sum is zero).
"""

from decoding.sampling.distribution import probabilities
from decoding.sampling.noise import NOTHING, Noise, choose, derived_seed
from decoding.sampling.parameters import Sampling, SamplingOptions, Samplings
from decoding.sampling.penalties import History

__all__ = [
    "NOTHING",
    "History",
    "Noise",
    "Sampling",
    "SamplingOptions",
    "Samplings",
    "choose",
    "derived_seed",
    "probabilities",
]

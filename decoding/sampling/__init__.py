"""From logits and a mask to a token: the distribution that is sampled from, and the draw.

    Sampling            the settings of one sequence                     parameters
    Samplings           the settings of a batch as tensors               parameters
    History             what penalties on repetition look back on        penalties
    probabilities(...)  logits, mask and settings to `[B, V]`            distribution
    Noise               each sequence's own random numbers               noise
    choose(...)         probabilities and noise to a token each          noise

On a GPU, kernels make the draw, and the distribution but for typical sampling (`on_gpu`, `cuts`).

    logits -> penalties -> mask -> temperature -> top-k -> top-p -> min-p -> typical -> choose

The order is what keeps a constraint exact. The mask comes before everything that truncates (handbook, "Combining Top-k
with Constraints": constraints first, then the top k among valid tokens), so truncation never removes the last token
that is allowed. Penalties see the logits as the model gave them, because dividing a logit depends on where its zero is.
The temperature scales each logit by itself, so it gives the same whether it comes before the mask, as in the handbook's
"Temperature and Constraints", or after it; here it comes after, where a shift by the likeliest allowed token keeps even
the lowest temperature within the range of float32.

Shapes depend on the batch alone and nothing is read on the host, so all of it can stand inside `torch.compile` and a
CUDA graph, together with the mask.

Rejected: truncation before the mask (it may leave nothing that is allowed, and the text gets stuck); one generator for
the batch (what a sequence draws would depend on its neighbors); `torch.multinomial` (the same, and it refuses rows
whose sum is zero only after a look from the host).
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

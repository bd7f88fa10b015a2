"""Statistics of attention weights in PyTorch.

Writes attention_stats.safetensors beside itself, in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

    q, k, v      (2, 3, 7, 5), (2, 3, 11, 5), (2, 3, 11, 4)
    bias         (3, 7, 11)
    <case>.lse         torch.logsumexp of the scores
    <case>.entropy     torch.distributions.Categorical(logits=scores).entropy()
    <case>.max         torch.amax of the scores
    <case>.distance    the mean of |t − s| by the weights
    <case>.largest     torch.nn.functional.max_pool2d of the weights, cells of 3 by 4

The cases: plain; causal, with queries the last of the keys; biased. Scores are those of
scaled_dot_product_attention; hidden ones are −1e30, so that Categorical takes them.
"""
import math
import os

import torch
from torch.nn import functional

import golden

torch.manual_seed(123)
q, k, v = (torch.randn(2, 3, n, d, dtype=torch.float64) for n, d in ((7, 5), (11, 5), (11, 4)))
bias = torch.randn(3, 7, 11, dtype=torch.float64)
product = q @ k.transpose(-2, -1) / math.sqrt(5)
hidden = torch.ones(7, 11, dtype=torch.bool).tril(4).logical_not()
out = {"q": q, "k": k, "v": v, "bias": bias}
for name, scores in {"plain": product, "causal": product.masked_fill(hidden, -1e30), "biased": product + bias}.items():
    weights = torch.softmax(scores, -1)
    cells = dict(kernel_size=(3, 4), ceil_mode=True)
    out[name + ".lse"] = torch.logsumexp(scores, -1)
    out[name + ".entropy"] = torch.distributions.Categorical(logits=scores).entropy()
    out[name + ".max"] = torch.amax(scores, -1)
    out[name + ".distance"] = (weights * (torch.arange(7)[:, None] - torch.arange(11)).abs()).sum(-1)
    out[name + ".largest"] = functional.max_pool2d(weights, **cells)
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attention_stats.safetensors")
golden.save(path, out, {"torch": torch.__version__})

"""The ops of the graph package in PyTorch: values and gradients.

Writes ops.safetensors beside itself, all in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the
version.

    <case>.in.<i>    input i of the op, float64 or int64
    <case>.out       the result
    <case>.dout      the gradient that flows into the result
    <case>.din.<i>   the gradient of input i, where it has one

Shapes are different primes, so that swapped axes show.
"""
import os

import torch
from torch.nn import functional as F

import golden

IGNORE = -100
inf, nan = torch.inf, torch.nan


def later(scores):
    """True above the diagonal: the keys after each query."""
    return torch.ones_like(scores, dtype=torch.bool).triu(1)


def normalize(x):
    return x / x.sum(-1, keepdim=True)


def attention(q, k, v, scale=None, causal=False):
    scores = q @ k.transpose(-2, -1)
    if causal:
        scores = scores.masked_fill(later(scores), -inf)
    return torch.softmax(scores * (scale or q.shape[-1] ** -0.5), -1) @ v


def renormalized(q, k, v):
    scores = q @ k.transpose(-2, -1)
    return normalize(torch.softmax(scores * q.shape[-1] ** -0.5, -1).tril()) @ v


def additive(q, k, v, value):
    hidden = torch.tanh(q.unsqueeze(-2) + k.unsqueeze(-3))
    return torch.softmax((hidden @ v.T).squeeze(-1), -1) @ value


def mean_of_kept(x, keep):
    """The mean over the tokens of x (B, T, E) where keep (B, 1, 1, T) is 1."""
    m = keep.flatten(1).unsqueeze(-1)
    return (x * m).sum(1) / m.sum(1)


def mean_of_first(x, lengths):
    return mean_of_kept(x, (torch.arange(x.shape[1]) < lengths[:, None])[:, None, None])


def uniform(*shape):
    """Numbers from 0.5 to 1.5: a sum of them is not near zero."""
    return torch.rand(shape) + 0.5


def rows(*rows):
    return torch.tensor(rows)


n = torch.randn
i = torch.tensor

# case: (the op, its inputs)
CASES = {
    "linear": (F.linear, lambda: [n(2, 3, 5), n(7, 5), n(7)]),
    "linear_no_bias": (F.linear, lambda: [n(3, 5), n(7, 5)]),
    "linear_vector": (F.linear, lambda: [n(5), n(7, 5), n(7)]),
    "matmul": (torch.matmul, lambda: [n(7, 3), n(3, 5)]),
    "matmul_rows": (torch.matmul, lambda: [n(2, 7, 3), n(3, 5)]),
    "matmul_batch": (torch.matmul, lambda: [n(2, 5, 7, 3), n(2, 5, 3, 11)]),
    "scores": (lambda q, k: q @ k.transpose(-2, -1), lambda: [n(2, 3, 5, 7), n(2, 3, 11, 7)]),
    "scores_one": (lambda q, k: q @ k.T, lambda: [n(5, 7), n(11, 7)]),
    "add": (torch.add, lambda: [n(3, 5), n(3, 5)]),
    "add_bias": (torch.add, lambda: [n(2, 3, 5), n(5)]),
    "add_positions": (torch.add, lambda: [n(2, 3, 5), n(3, 5)]),
    "mul": (torch.mul, lambda: [n(2, 3, 5), n(2, 3, 5)]),
    "scale": (lambda x: x * 0.3, lambda: [n(2, 3, 5)]),
    "exp": (torch.exp, lambda: [n(2, 3, 5)]),
    "tanh": (torch.tanh, lambda: [n(2, 3, 5)]),
    "softmax": (lambda x: torch.softmax(x, -1), lambda: [n(2, 3, 5)]),
    "softmax_edges": (lambda x: torch.softmax(x, -1), lambda: [rows(
        [1e4, -1e4, 0.0], [-1e4, -1e4, -1e4], [1e30, -1e30, 1e30], [-1e30, -1e30, 0.0],
        [-inf, 1e4, 1e4 - 1], [-inf, -inf, -1e30], [0.0, nan, 1.0], [nan, -inf, -inf], [-inf, -inf, nan])]),
    "normalize": (normalize, lambda: [uniform(2, 3, 5)]),
    "causal_fill": (lambda x: x.masked_fill(later(x), -inf), lambda: [n(2, 5, 5)]),
    "tril": (torch.tril, lambda: [n(2, 3, 5, 5)]),
    "split_heads": (lambda x: x.unflatten(-1, (3, -1)).transpose(-3, -2), lambda: [n(2, 5, 21)]),
    "merge_heads": (lambda x: x.transpose(-3, -2).flatten(-2), lambda: [n(2, 3, 5, 7)]),
    "concat": (lambda *xs: torch.cat(xs, -1), lambda: [n(2, 3, 5), n(2, 3, 1), n(2, 3, 7)]),
    "embedding": (lambda w, ids: F.embedding(ids, w), lambda: [n(7, 5), i([[3, 0, 6], [3, 3, 1]])]),
    "cross_entropy": (lambda x, t: F.cross_entropy(x.flatten(0, -2), t.flatten()),
                      lambda: [n(2, 3, 7), i([[6, 0, IGNORE], [1, IGNORE, 1]])]),
    "cross_entropy_huge": (F.cross_entropy, lambda: [n(3, 5) * 1e4, i([4, 0, 2])]),
    "pairwise_add": (lambda q, k: q.unsqueeze(-2) + k.unsqueeze(-3), lambda: [n(2, 3, 7), n(2, 5, 7)]),
    "additive": (additive, lambda: [n(2, 3, 7), n(2, 5, 7), n(1, 7), n(2, 5, 11)]),
    "attention": (attention, lambda: [n(2, 3, 5), n(2, 7, 5), n(2, 7, 11)]),
    "attention_scale": (lambda q, k, v: attention(q, k, v, scale=0.3), lambda: [n(3, 5), n(7, 5), n(7, 11)]),
    "attention_causal": (lambda q, k, v: attention(q, k, v, causal=True),
                         lambda: [n(2, 3, 7, 5), n(2, 3, 7, 5), n(2, 3, 7, 11)]),
    "attention_renormalized": (renormalized, lambda: [n(2, 7, 5), n(2, 7, 5), n(2, 7, 11)]),
    "dropout_mask": (lambda x, keep: x * keep.detach() / (1 - 0.3),
                     lambda: [n(2, 3, 5), (torch.rand(2, 3, 5) < 0.7).double()]),
    "embedding_padding": (lambda w, ids: F.embedding(ids, w, padding_idx=3),
                          lambda: [n(7, 5), i([[3, 0, 6], [3, 3, 1]])]),
    "masked_mean": (mean_of_kept, lambda: [
        n(3, 5, 7), i([[1, 0, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]])[:, None, None]]),
    "masked_mean_lengths": (mean_of_first, lambda: [n(3, 5, 7), i([4, 1, 5])]),
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20170612)
    out = {}
    for case, (op, make) in CASES.items():
        inputs = make()
        for x in inputs:
            x.requires_grad_(x.is_floating_point())
        y = op(*inputs)
        dy = torch.randn(y.shape)
        y.backward(dy)
        out[f"{case}.out"], out[f"{case}.dout"] = y, dy
        for k, x in enumerate(inputs):
            out[f"{case}.in.{k}"] = x
            if x.grad is not None:
                out[f"{case}.din.{k}"] = x.grad
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

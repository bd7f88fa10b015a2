"""Norms, activations and layouts in PyTorch: values and gradients.

Writes norms.safetensors beside itself, all in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the
version.

    <case>.in.<i>    input i of the op
    <case>.out       the result
    <case>.dout      the gradient that flows into the result
    <case>.din.<i>   the gradient of input i

Shapes are different primes, so that swapped axes show. RMSNorm is written out: this
PyTorch has none.
"""
import os

import torch
from torch.nn import functional as F

import golden


def rms_norm(x, weight, eps=1e-5):
    runs = x.unflatten(-1, (-1, len(weight)))
    return (runs * torch.rsqrt(runs.square().mean(-1, keepdim=True) + eps) * weight).flatten(-2)


def l2_norm(x, weight, eps=1e-3):
    runs = x.unflatten(-1, (-1, len(weight)))
    return (F.normalize(runs, dim=-1, eps=eps) * weight).flatten(-2)


def layer_norm(x, weight, bias=None):
    return F.layer_norm(x, weight.shape, weight, bias, 1e-5)


def softcap(x):
    return 0.7 * torch.tanh(x / 0.7)


n = torch.randn
far = [0.0, -0.0, 1e-3, -1e-3, 5.0, -5.0, 20.0, -20.0, 88.0, -88.0, 1e4, -1e4, 1e30, -1e30]
# Rows of zeros, of a norm below eps, and far apart.
sizes = [[0.0, 0.0, 0.0], [1e-4, -2e-4, 3e-4], [1e30, -1e30, 3e30], [1e-30, 0.0, 0.0], [1.0, 1.0, 1.0]]
t = torch.tensor

# case: (the op, its inputs)
CASES = {
    "layer_norm": (layer_norm, lambda: [n(2, 3, 7), n(7), n(7)]),
    "layer_norm_no_bias": (layer_norm, lambda: [n(5, 7), n(7)]),
    "layer_norm_vector": (layer_norm, lambda: [n(7), n(7), n(7)]),
    "layer_norm_offset": (layer_norm, lambda: [n(3, 7) + 30, n(7), n(7)]),
    "layer_norm_constant": (layer_norm, lambda: [t([[2.0, 2, 2], [0, 0, 0], [1, 2, 3]]), n(3), n(3)]),
    "rms_norm": (rms_norm, lambda: [n(2, 3, 7), n(7)]),
    "rms_norm_heads": (rms_norm, lambda: [n(2, 5, 21), n(7)]),
    "rms_norm_sizes": (rms_norm, lambda: [t(sizes), n(3)]),
    "l2_norm": (l2_norm, lambda: [n(2, 3, 7), n(7)]),
    "l2_norm_heads": (l2_norm, lambda: [n(2, 5, 21), n(7)]),
    "l2_norm_sizes": (l2_norm, lambda: [t(sizes), n(3)]),
    "gelu": (F.gelu, lambda: [n(2, 3, 5)]),
    "gelu_far": (F.gelu, lambda: [t(far)]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), lambda: [n(2, 3, 5)]),
    "gelu_tanh_far": (lambda x: F.gelu(x, approximate="tanh"), lambda: [t(far[:-2])]),
    "silu": (F.silu, lambda: [n(2, 3, 5)]),
    "silu_far": (F.silu, lambda: [t(far)]),
    "sigmoid": (torch.sigmoid, lambda: [n(2, 3, 5)]),
    "sigmoid_far": (torch.sigmoid, lambda: [t(far)]),
    "swiglu": (lambda gate, up: F.silu(gate) * up, lambda: [n(2, 3, 5), n(2, 3, 5)]),
    "swiglu_far": (lambda gate, up: F.silu(gate) * up, lambda: [t(far), n(len(far))]),
    "softcap": (softcap, lambda: [n(2, 3, 5)]),
    "softcap_far": (softcap, lambda: [t(far)]),
    "average_heads": (lambda w: w.mean(-3), lambda: [n(2, 3, 5, 7)]),
    "split": (lambda x: torch.cat(x.split([2, 1, 4], -1)[::-1], -1), lambda: [n(2, 3, 7)]),
    "split_part": (lambda x: x.split([2, 1, 4], -1)[1], lambda: [n(2, 3, 7)]),
    "rows": (lambda x: x[1:3], lambda: [n(5, 2, 3)]),
    "transpose": (torch.t, lambda: [n(5, 7)]),
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20191016)
    out = {}
    for case, (op, make) in CASES.items():
        inputs = make()
        for x in inputs:
            x.requires_grad_()
        y = op(*inputs)
        dy = torch.randn(y.shape)
        y.backward(dy)
        out[f"{case}.out"], out[f"{case}.dout"] = y, dy
        for k, x in enumerate(inputs):
            out[f"{case}.in.{k}"], out[f"{case}.din.{k}"] = x, x.grad
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "norms.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

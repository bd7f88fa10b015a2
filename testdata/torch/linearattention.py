"""Linear attention, token by token, and what goes with it in PyTorch: values and gradients.

Writes linearattention.safetensors beside itself, all in float64. Made with torch
1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats
the version.

    <case>.in.<i>    input i of the op, float64 or int64: q, k, v and, as the case
                     has them, decay, beta, state and lengths
    <case>.out       the result
    <case>.dout      the gradient that flows into the result
    <case>.din.<i>   the gradient of input i, where it has one
"""
import os

import torch
from torch.nn import functional as F

import golden

n = torch.randn


def linear(q, k, v, decay=None, beta=None, state=None, lengths=None, heads=1, groups=1):
    """q (B, T, heads·groups·D), k (B, T, heads·D), v (B, T, heads·Dv), by the recurrence."""
    B, T, _ = q.shape
    q, k, v = q.view(B, T, heads, groups, -1), k.view(B, T, heads, -1), v.view(B, T, heads, -1)
    S = torch.zeros(B, heads, k.shape[-1], v.shape[-1]) if state is None else state
    out = []
    for t in range(T):
        before = S
        if decay is not None:
            S = S * torch.exp(decay[:, t].view(B, heads, -1))[..., None]
        u = v[:, t]
        if beta is not None:
            u = beta[:, t, :, None] * (u - (S * k[:, t, :, :, None]).sum(-2))
        S = S + k[:, t, :, :, None] * u[..., None, :]
        o = torch.einsum("bhgd,bhdv->bhgv", q[:, t], S) * k.shape[-1] ** -0.5
        if lengths is not None:
            inside = (t < lengths)[:, None, None, None]
            S, o = torch.where(inside, S, before), torch.where(inside, o, torch.zeros(()))
        out.append(o.reshape(B, -1))
    return torch.stack(out, 1)


def operands(T, decay=0, beta=False, state=False, lengths=None, heads=2, groups=1, strength=0.3):
    B, D, Dv = 2, 3, 5
    q, k, v = n(B, T, heads * groups * D), n(B, T, heads, D), n(B, T, heads * Dv)
    args = {"q": q, "k": F.normalize(k, dim=-1).reshape(B, T, -1), "v": v}
    if decay:
        args["decay"] = -strength * n(B, T, heads * decay).abs()
    if beta:
        args["beta"] = torch.sigmoid(n(B, T, heads))
    if state:
        args["state"] = n(B, heads, D, Dv)
    if lengths:
        args["lengths"] = torch.tensor(lengths)
    return args, {"heads": heads, "groups": groups}


def conv(x, weight, bias=None, state=None):
    before = torch.zeros(x.shape[0], weight.shape[-1] - 1, x.shape[-1]) if state is None else state
    x = torch.cat([before, x], 1).transpose(1, 2)
    return F.conv1d(x, weight, bias, groups=weight.shape[0]).transpose(1, 2)


CASES = {
    "linear_attention": dict(T=67),
    "linear_attention_gated": dict(T=67, decay=1),
    "linear_attention_channels": dict(T=37, decay=3),
    "linear_attention_delta": dict(T=67, beta=True),
    "linear_attention_gated_delta": dict(T=131, decay=1, beta=True),
    "linear_attention_channels_delta": dict(T=37, decay=3, beta=True),
    "linear_attention_state": dict(T=67, decay=1, beta=True, state=True),
    "linear_attention_lengths": dict(T=67, decay=1, beta=True, state=True, lengths=[67, 13]),
    "linear_attention_grouped": dict(T=67, decay=1, beta=True, groups=3),
    "linear_attention_grouped_channels": dict(T=19, decay=3, beta=True, groups=3),
    "linear_attention_strong": dict(T=67, decay=1, beta=True, strength=500),
    "linear_attention_strong_channels": dict(T=37, decay=3, beta=True, strength=500),
    "linear_attention_weak": dict(T=67, decay=1, beta=True, strength=1e-7),
    "linear_attention_one": dict(T=1, decay=1, beta=True, state=True),
}

OTHERS = {
    "causal_conv": (conv, lambda: [n(2, 7, 5), n(5, 1, 4)]),
    "causal_conv_bias": (conv, lambda: [n(2, 7, 5), n(5, 1, 4), n(5)]),
    "causal_conv_state": (conv, lambda: [n(2, 2, 5), n(5, 1, 4), n(5), n(2, 3, 5)]),
    "decay_gate": (lambda x, rate, bias: -rate.exp() * F.softplus(x + bias, threshold=100),
                   lambda: [3 * n(2, 7, 5), n(5), n(5)]),
    "decay_gate_far": (lambda x, rate, bias: -rate.exp() * F.softplus(x + bias, threshold=100),
                       lambda: [torch.tensor([-800.0, -40, -1e-9, 0, 1e-9, 40, 800])[:, None], n(1), torch.zeros(1)]),
    "elu_plus_one": (lambda x: F.elu(x) + 1, lambda: [torch.cat([n(3, 5), torch.zeros(1, 5)])]),
}


def record(out, case, inputs, run):
    inputs = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    y = run(*inputs)
    dy = n(y.shape)
    y.backward(dy)
    out.update({f"{case}.out": y, f"{case}.dout": dy})
    for i, x in enumerate(inputs):
        out[f"{case}.in.{i}"] = x
        if x.requires_grad:
            out[f"{case}.din.{i}"] = x.grad


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(123)
    out = {}
    for case, given in CASES.items():
        args, heads = operands(**given)
        record(out, case, args.values(), lambda *x: linear(**dict(zip(args, x)), **heads))
    for case, (run, inputs) in OTHERS.items():
        record(out, case, inputs(), run)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "linearattention.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

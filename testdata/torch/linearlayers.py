"""Layers of linear attention in PyTorch, token by token: outputs and gradients.

Writes linearlayers.safetensors beside itself, all in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the
version. The forms are those of the papers, with the names of flash-linear-attention.

    <case>.param.<name>  the parameters, drawn after torch.manual_seed(123)
    <case>.x             the input (2, 67, 12), of 4 heads
    <case>.out, .dout    the output, and the gradient that flows into it
    <case>.dx            the gradient of the input
    <case>.grad.<name>   the gradients of the parameters
    <case>.short         the output where the second sequence has 13 tokens, 0 beyond
    <case>.far.<entry>   how far float32 is from out, short, dx and grad.<name> at most:
                         a head's queries and keys are divided by lengths near 0
"""
import os

import torch
from torch.nn import functional as F

import golden

B, T, E, H, RANK, CONV = 2, 67, 12, 4, 16, 4

# case: (key heads, D, Dv, which parts)
FORMS = {
    "linear": (4, 3, 3, {"elu", "normalize"}),
    "retention": (4, 3, 3, {"fixed", "norm", "gate"}),
    "gla": (4, 3, 5, {"channel", "norm", "gate"}),
    "delta_net": (4, 3, 3, {"delta", "l2", "conv", "norm"}),
    "gated_delta_net": (4, 3, 3, {"delta", "head", "l2", "conv", "norm", "gate"}),
    "grouped": (2, 3, 5, {"delta", "head", "l2", "conv", "norm", "gate"}),
}


def parameters(K, D, Dv, parts):
    def matrix(*shape):
        return torch.randn(shape) * shape[-1] ** -0.5

    p = {"q_proj.weight": matrix(H * D, E), "k_proj.weight": matrix(K * D, E), "v_proj.weight": matrix(K * Dv, E)}
    if "delta" in parts:
        p["b_proj.weight"] = matrix(K, E)
    if "head" in parts:
        p.update({"a_proj.weight": matrix(K, E), "A_log": torch.rand(K), "dt_bias": torch.randn(K)})
    if "channel" in parts:
        p.update({"gk_proj.0.weight": matrix(RANK, E), "gk_proj.1.weight": 4 * matrix(K * D, RANK),
                  "gk_proj.1.bias": torch.randn(K * D)})
    if "conv" in parts:
        for name, width in (("q", H * D), ("k", K * D), ("v", K * Dv)):
            p[name + "_conv1d.weight"] = matrix(width, 1, CONV)
    if "gate" in parts:
        p["g_proj.weight"] = matrix(H * Dv, E)
    if "norm" in parts:
        p["o_norm.weight"] = torch.randn(Dv)
    p["o_proj.weight"] = matrix(E, H * Dv)
    return p


def operands(p, x, K, D, Dv, parts):
    """Queries, keys and values (B, T, heads, width), decays and what the delta rule replaces."""
    B, T, _ = x.shape

    def made(name, heads):
        y = x @ p[name + "_proj.weight"].T
        if "conv" in parts:
            y = F.conv1d(F.pad(y.transpose(1, 2), (CONV - 1, 0)), p[name + "_conv1d.weight"], groups=y.shape[-1])
            y = F.silu(y.transpose(1, 2))
        y = y.view(B, T, heads, -1)
        if name == "v":
            return y
        if "elu" in parts:
            y = F.elu(y) + 1
        return F.normalize(y, dim=-1, eps=1e-6) if "l2" in parts else y

    q, k, v = made("q", p["q_proj.weight"].shape[0] // D), made("k", K), made("v", K)
    decay, beta = torch.zeros(B, T, K, 1), None
    if "fixed" in parts:
        decay = decay + torch.log(1 - 2.0 ** (-5 - torch.arange(K)))[:, None]
    if "head" in parts:
        decay = (-p["A_log"].exp() * F.softplus(x @ p["a_proj.weight"].T + p["dt_bias"]))[..., None]
    if "channel" in parts:
        gates = x @ p["gk_proj.0.weight"].T @ p["gk_proj.1.weight"].T + p["gk_proj.1.bias"]
        decay = F.logsigmoid(gates).view(B, T, K, D) / 16
    if "delta" in parts:
        beta = torch.sigmoid(x @ p["b_proj.weight"].T)
    return q, k, v, decay, beta


def mix(q, k, v, decay, beta, inside, normalize):
    """What the queries read of the states, (B, T, H, Dv), by the recurrence."""
    B, T, H, D = q.shape
    K = k.shape[2]
    S, sums, rows = torch.zeros(B, K, D, v.shape[-1]), torch.zeros(B, K, D), []
    for t in range(T):
        before = S
        S, sums = S * decay[:, t].exp()[..., None], sums + k[:, t]
        u = v[:, t]
        if beta is not None:
            u = beta[:, t, :, None] * (u - torch.einsum("bkdv,bkd->bkv", S, k[:, t]))
        S = S + k[:, t, :, :, None] * u[..., None, :]
        asked = q[:, t].view(B, K, H // K, D)
        o = torch.einsum("bkgd,bkdv->bkgv", asked, S) * D ** -0.5
        if normalize:
            o = o / (torch.einsum("bkgd,bkd->bkg", asked, sums) * D ** -0.5)[..., None]
        now = inside[:, t, None, None, None]
        S, o = torch.where(now, S, before), torch.where(now, o, torch.zeros(()))
        rows.append(o.reshape(B, H, -1))
    return torch.stack(rows, 1)


def forward(p, x, K, D, Dv, parts, lengths=None):
    """The output, and the weights (B, H, T, T) of the values in what the heads read."""
    B, T, _ = x.shape
    q, k, v, decay, beta = operands(p, x, K, D, Dv, parts)
    inside = torch.arange(T) < (torch.full((B,), T) if lengths is None else lengths)[:, None]
    o = mix(q, k, v, decay, beta, inside, "normalize" in parts)
    each = torch.eye(T)[None, :, None].expand(B, T, K, T)
    weights = mix(q, k, each, decay, beta, inside, "normalize" in parts).transpose(1, 2)
    if "norm" in parts:
        o = o * (o.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt() * p["o_norm.weight"]
    o = o.reshape(B, T, -1)
    if "gate" in parts:
        o = F.silu(x @ p["g_proj.weight"].T) * o
    return o @ p["o_proj.weight"].T, weights


def run(form, p, x, dy):
    """The outputs and gradients in the type of x."""
    p = {name: v.detach().to(x.dtype).requires_grad_() for name, v in p.items()}
    x = x.detach().requires_grad_()
    y, _ = forward(p, x, *form)
    y.backward(dy.to(x.dtype))
    got = {"out": y, "dx": x.grad, "short": forward(p, x, *form, lengths=torch.tensor([T, 13]))[0]}
    got.update({f"grad.{name}": v.grad for name, v in p.items()})
    return got


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(123)
    out = {}
    for case, form in FORMS.items():
        p = {name: v.float().double() for name, v in parameters(*form).items()}
        x, dy = torch.randn(B, T, E).float().double(), torch.randn(B, T, E).float().double()
        got = run(form, p, x, dy)
        torch.set_default_dtype(torch.float32)
        single = run(form, p, x.float(), dy)
        torch.set_default_dtype(torch.float64)
        got.update({f"far.{name}": (v - got[name]).abs().max() for name, v in single.items()})
        got.update({"x": x, "dout": dy})
        got.update({f"param.{name}": v for name, v in p.items()})
        out.update({f"{case}.{entry}": v for entry, v in got.items()})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "linearlayers.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


if __name__ == "__main__":
    main()

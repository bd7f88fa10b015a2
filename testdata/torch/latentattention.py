"""Latent attention (DeepSeek-AI 2024, "DeepSeek-V2") in PyTorch: outputs, weights and gradients.

Writes latentattention.safetensors beside itself, all in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.
The formulas are the paper's, with the names of Hugging Face's deepseek_v2; pairs are
turned as complex numbers.

    <case>.param.<name>   the parameters, drawn after torch.manual_seed(123)
    <case>.x              the input (2, 9, 10), of 3 heads
    <case>.out, .weights  the output and the weights (2, 3, 9, 9)
    <case>.short          the output where the second sequence has 4 keys
    <case>.dout           the gradient that flows into out
    <case>.dx             the gradient of the input
    <case>.grad.<name>    the gradients of the parameters
"""
import os

import torch

import golden

B, T, E, H = 2, 9, 10, 3
N, P, R, V = 7, 5, 4, 6

# case: (rank of the queries, scale of the scores, base of the frequencies)
CASES = {"plain": (0, (P + R) ** -0.5, 10000), "low_rank": (8, (P + R) ** -0.5, 10000), "scaled": (0, 0.4, 50)}


def parameters(rank):
    def matrix(*shape):
        return torch.randn(shape) * shape[-1] ** -0.5

    p = {"q_proj.weight": matrix(H * (P + R), E)}
    if rank:
        p = {"q_a_proj.weight": matrix(rank, E), "q_a_layernorm.weight": torch.randn(rank),
             "q_b_proj.weight": matrix(H * (P + R), rank)}
    p["kv_a_proj_with_mqa.weight"] = matrix(N + R, E)
    p["kv_a_layernorm.weight"] = torch.randn(N)
    p["kv_b_proj.weight"] = matrix(H * (P + V), N)
    p["o_proj.weight"] = matrix(E, H * V)
    return p


def rms_norm(x, weight):
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * weight


def turn(x, base):
    """Turns the pairs (2i, 2i+1) of x (B, heads, T, R)."""
    frequency = base ** (-torch.arange(0, x.shape[-1], 2, dtype=torch.float64) / x.shape[-1])
    angle = torch.arange(x.shape[-2], dtype=torch.float64)[:, None] * frequency
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def forward(p, x, heads=H, nope=P, value=V, scale=(P + R) ** -0.5, base=10000, lengths=None):
    """The output, and the weights (B, H, T, T)."""
    def split(y):
        return y.unflatten(-1, (heads, -1)).transpose(1, 2)

    if "q_proj.weight" in p:
        q = x @ p["q_proj.weight"].T
    else:
        q = rms_norm(x @ p["q_a_proj.weight"].T, p["q_a_layernorm.weight"]) @ p["q_b_proj.weight"].T
    q_nope, q_pe = split(q).split([nope, split(q).shape[-1] - nope], -1)
    down = x @ p["kv_a_proj_with_mqa.weight"].T
    latent, k_pe = down.split([down.shape[-1] - q_pe.shape[-1], q_pe.shape[-1]], -1)
    up = split(rms_norm(latent, p["kv_a_layernorm.weight"]) @ p["kv_b_proj.weight"].T)
    k_nope, v = up.split([nope, value], -1)
    q = torch.cat([q_nope, turn(q_pe, base)], -1)
    k = torch.cat([k_nope, turn(k_pe[:, None], base).expand(-1, heads, -1, -1)], -1)
    steps = x.shape[1]
    seen = torch.ones(steps, steps).tril().bool()[None].expand(len(x), -1, -1)
    if lengths is not None:
        seen = seen & (torch.arange(steps) < lengths[:, None])[:, None]
    scores = (q @ k.transpose(-2, -1) * scale).masked_fill(~seen[:, None], -torch.inf)
    weights = torch.softmax(scores, -1)
    return (weights @ v).transpose(1, 2).flatten(2) @ p["o_proj.weight"].T, weights


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(123)
    out = {}
    for case, (rank, scale, base) in CASES.items():
        p = {name: v.float().double().requires_grad_() for name, v in parameters(rank).items()}
        x, dy = torch.randn(B, T, E).float().double().requires_grad_(), torch.randn(B, T, E).float().double()
        y, weights = forward(p, x, scale=scale, base=base)
        y.backward(dy)
        got = {"x": x, "dout": dy, "out": y, "weights": weights, "dx": x.grad,
               "short": forward(p, x, scale=scale, base=base, lengths=torch.tensor([T, 4]))[0]}
        got.update({f"param.{name}": v for name, v in p.items()})
        got.update({f"grad.{name}": v.grad for name, v in p.items()})
        out.update({f"{case}.{entry}": v for entry, v in got.items()})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "latentattention.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


if __name__ == "__main__":
    main()

"""Attentions with parts of 2024 and 2025 in PyTorch: outputs, weights and gradients.

Writes attention_parts.safetensors beside itself, and two cases of ../apply. Made with
torch 1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats
the version. Inputs and parameters are float32 numbers and all else is computed from them
in float64.

    sparse…        each query sees the blocks of keys whose mean it likes best (MoBA:
                   arXiv 2502.13189)
    differential…  the difference of two softmaxes (arXiv 2410.05258), as multihead_diffattn.py
                   of the paper's code has it

For every case, named <case>.<entry>:

    param.<name>   each parameter, in the layout Llama
    query          the input (B, T, E)
    lengths        tokens of each sequence (B), if keys are hidden
    out, weights   weights (B, H, T, S); mean is theirs over the heads
    dout           the gradient that flows into out
    dquery, grad.<name>
"""
import json
import math
import os

import torch

import golden

B, T, E = 2, 23, 11
HERE = os.path.dirname(os.path.abspath(__file__))


def draw(*shape):
    return torch.randn(shape, dtype=torch.float32).double()


def turned(x, base=10000.0):
    """Rotary positions of x (B, heads, T, D), neighbours in pairs."""
    d = x.shape[-1]
    angle = torch.arange(x.shape[-2])[:, None] * base ** (-torch.arange(0, d, 2) / d)
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1).flatten(-2)


def sees(q, k, size, most):
    """The keys that queries (B, H, T, D) see in the blocks that they choose, (B, H, T, T)."""
    seen = torch.zeros(*q.shape[:3], T, dtype=torch.bool)
    for b in range(B):
        for h in range(q.shape[1]):
            for t in range(T):
                own = t // size
                gates = [(q[b, h, t] @ k[b, h, i * size:(i + 1) * size].mean(0)).item() for i in range(own)]
                best = sorted(range(own), key=lambda i: -gates[i])[:most - 1]
                for i in best + [own]:
                    seen[b, h, t, i * size:min((i + 1) * size, t + 1)] = True
    return seen


def softmax(q, k, seen):
    scores = (q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5).masked_fill(~seen, -torch.inf)
    blind = ~seen.any(-1, keepdim=True)
    return scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0)


def heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


def shared(x, times):
    return x.repeat_interleave(times, 1)


def sparse(p, x, o):
    q, k, v = (heads(x @ p[f"{n}_proj.weight"].T, h) for n, h in (("q", o["H"]), ("k", o["K"]), ("v", o["K"])))
    if o.get("rope"):
        q, k = turned(q), turned(k)
    k, v = shared(k, o["H"] // o["K"]), shared(v, o["H"] // o["K"])
    weights = softmax(q, k, sees(q, k, o["size"], o["blocks"]) & shown(o))
    return weights @ v, weights


def differential(p, x, o):
    H, K = o["H"], o["K"]
    q, k = (heads(x @ p[f"{n}_proj.weight"].T, 2 * h) for n, h in (("q", H), ("k", K)))
    v = shared(heads(x @ p["v_proj.weight"].T, K), H // K)
    if o.get("rope"):
        q, k = turned(q), turned(k)
    weights = softmax(q, shared(k, H // K), shown(o))
    first, second = ((p[f"lambda_q{i}"] * p[f"lambda_k{i}"]).sum().exp() for i in (1, 2))
    weights = weights.unflatten(1, (H, 2))
    weights = weights[:, :, 0] - (first - second + o["init"]) * weights[:, :, 1]
    y = weights @ v
    y = y * (y.square().mean(-1, keepdim=True) + 1e-5).rsqrt() * p["subln.weight"]
    return y * (1 - o["init"]), weights


def shown(o):
    seen = torch.ones(T, T).tril().bool()
    if "lengths" in o:
        seen = seen & (torch.arange(T) < torch.tensor(o["lengths"])[:, None, None, None])
    return seen


CASES = {
    "sparse": (sparse, dict(H=6, K=6, D=4, size=4, blocks=3)),
    "sparse_grouped": (sparse, dict(H=6, K=2, D=4, size=3, blocks=2, rope=True)),
    "sparse_own": (sparse, dict(H=2, K=2, D=6, size=8, blocks=1)),
    "sparse_lengths": (sparse, dict(H=3, K=3, D=4, size=2, blocks=4, lengths=[T, 9])),
    "differential": (differential, dict(H=3, K=3, D=4, init=0.2)),
    "differential_grouped": (differential, dict(H=4, K=2, D=8, init=0.7, rope=True)),
    "differential_lengths": (differential, dict(H=3, K=1, D=4, init=0.8 - 0.6 * math.exp(-0.3), lengths=[9, T])),
}


def shapes(attend, H, K, D, **_):
    names = {"q_proj.weight": (H * D, E), "k_proj.weight": (K * D, E), "v_proj.weight": (K * D, E),
             "o_proj.weight": (E, H * D)}
    if attend is differential:
        names.update({f"lambda_{part}{i}": (D // 2,) for i in (1, 2) for part in "qk"})
        names["subln.weight"] = (D,)
    return names


def record(attend, o):
    # λ stays below 1, where rows of weights add up to 0 and the norm makes large numbers of their rounding.
    p = {n: (draw(*s) / (1 if n == "subln.weight" else 4)).requires_grad_() for n, s in shapes(attend, **o).items()}
    x = draw(B, T, E).requires_grad_()
    y, weights = attend(p, x, o)
    out = y.transpose(1, 2).flatten(2) @ p["o_proj.weight"].T
    dout = draw(*out.shape)
    out.backward(dout)
    got = {"query": x, "out": out, "weights": weights, "mean": weights.mean(1), "dout": dout, "dquery": x.grad}
    if "lengths" in o:
        got["lengths"] = torch.tensor(o["lengths"])
    for name, t in p.items():
        got[f"param.{name}"], got[f"grad.{name}"] = t, t.grad
    return got


# The cases of `attention apply`, beside those of apply.py: files of one call of the command in ../apply/<case>.
APPLIED = {
    "attention_sparse": ("sparse_grouped", dict(
        rope=dict(interleaved=True), mask=dict(type="causal"), sparse=dict(block_size=3, blocks=2))),
    "attention_differential": ("differential_grouped", dict(
        rope=dict(interleaved=True), mask=dict(type="causal"), differential=dict(lambda_init=0.7))),
}


def apply(case, of, config):
    attend, o = CASES[of]
    got = record(attend, o)
    sizes = dict(layer="attention", layout="llama", embed_dim=E, num_heads=o["H"], num_kv_heads=o["K"], head_dim=o["D"])
    path = os.path.join(HERE, "..", "apply", case)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "layer.json"), "w") as f:
        f.write(json.dumps({**sizes, **config}) + "\n")
    of = {name.split(".", 1)[1]: t for name, t in got.items() if name.startswith("param.")}
    golden.save(os.path.join(path, "w.safetensors"), of)
    golden.save(os.path.join(path, "in.safetensors"), {"query": got["query"], "grad_output": got["dout"]})
    result = {"output": got["out"], "weights": got["weights"], "grad.query": got["dquery"]}
    result.update({"grad." + name: got["grad." + name] for name in of})
    golden.save(os.path.join(path, "out.safetensors"), result, {"torch": torch.__version__})


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20250218)
    out = {}
    for case, (attend, o) in CASES.items():
        for entry, t in record(attend, o).items():
            exact = entry in ("query", "dout") or entry.startswith("param.")
            out[f"{case}.{entry}"] = t.float() if exact else t
    golden.save(os.path.join(HERE, "attention_parts.safetensors"), out, {"torch": torch.__version__})
    for case, (of, config) in APPLIED.items():
        apply(case, of, config)


main()

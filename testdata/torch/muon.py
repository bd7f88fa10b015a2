"""Ten steps of Muon (Jordan et al. 2024) on given gradients, by a plain form of torch.optim.Muon.

Writes muon.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11, which has no Muon of its own; the file's
metadata repeats the version. The products are of the parameters' type, where
torch.optim.Muon (PyTorch 2.9) rounds to bfloat16.

    value.<name>                          start values, float64
    grad.<name>                           (10, …) gradients of the ten steps, float64
    lr                                    (10) learning rates of the ten steps
    <case>.<dtype>.value.<name>           (10, …) values after each step
    <case>.<dtype>.<entry>.<name>         the solver's state after the last step
"""
import math
import os

import torch

import golden

SHAPES = {"wide": (3, 5), "tall": (7, 2), "table": (4, 4), "bias": (6,)}
STEPS = 10
CASES = {
    "muon": dict(decay=0.0, match=False, adamw=("bias",)),
    "muon_decay": dict(decay=0.1, match=False, adamw=("bias",)),
    "muon_match": dict(decay=0.1, match=True, adamw=("bias", "table")),
    "muon_plain": dict(decay=0.0, match=False, adamw=("bias",), nesterov=False, ns_steps=3),
}


def orthogonal(g, steps):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.t() if g.size(0) > g.size(1) else g
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.t()
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.t() if g.size(0) > g.size(1) else x


def run(start, grads, rates, dtype, decay, match, adamw, momentum=0.95, nesterov=True, ns_steps=5):
    params = {n: torch.nn.Parameter(v.to(dtype, copy=True)) for n, v in start.items()}
    rest = torch.optim.AdamW([params[n] for n in adamw], lr=0.0, weight_decay=decay)
    buffers = {n: torch.zeros_like(p.data) for n, p in params.items() if n not in adamw}
    values = {n: [] for n in params}
    for step in range(STEPS):
        rest.param_groups[0]["lr"] = rates[step]
        for n in adamw:
            params[n].grad = grads[n][step].to(dtype)
        rest.step()
        for n, buffer in buffers.items():
            p, g = params[n].data, grads[n][step].to(dtype)
            buffer.lerp_(g, 1 - momentum)
            update = orthogonal(g.lerp(buffer, momentum) if nesterov else buffer, ns_steps)
            rows, cols = p.shape
            lr = rates[step]
            p.mul_(1 - lr * decay)
            p.add_(update, alpha=-lr * (0.2 * math.sqrt(max(rows, cols)) if match else math.sqrt(max(1, rows / cols))))
        for n, p in params.items():
            values[n].append(p.detach().clone())
    out = {f"value.{n}": torch.stack(v) for n, v in values.items()}
    out.update({f"momentum_buffer.{n}": b for n, b in buffers.items()})
    for n in adamw:
        for entry in ("exp_avg", "exp_avg_sq"):
            out[f"{entry}.{n}"] = rest.state[params[n]][entry]
    return out


def main():
    g = torch.Generator().manual_seed(20241208)
    start = {n: torch.randn(s, generator=g, dtype=torch.float64) for n, s in SHAPES.items()}
    grads = {n: torch.randn((STEPS,) + s, generator=g, dtype=torch.float64) for n, s in SHAPES.items()}
    rates = [0.01 * (1 + i % 3) for i in range(STEPS)]
    out = {f"value.{n}": v for n, v in start.items()}
    out.update({f"grad.{n}": v for n, v in grads.items()})
    out["lr"] = torch.tensor(rates, dtype=torch.float64)
    for case, options in CASES.items():
        for label, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            for n, t in run(start, grads, rates, dtype, **options).items():
                out[f"{case}.{label}.{n}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "muon.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

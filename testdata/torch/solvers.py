"""Ten steps of PyTorch's solvers on given gradients, clipped gradients and a schedule.

Writes solvers.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

    value.<name>                          start values, float64
    grad.<name>                           (10, …) gradients of the ten steps, float64
    lr                                    (10) learning rates of the ten steps
    <case>.<dtype>.value.<name>           (10, …) values after each step
    <case>.<dtype>.<entry>.<name>         the solver's state after the last step
    clip.<limit>.norm, clip.<limit>.<name>  clip_grad_norm_ of the first step's gradients
    cosine                                nanoGPT's learning rate of steps 0 … 29
    wsd                                   a linear warm-up, a constant rate and a linear decay of the same steps

float32 cases start from the same numbers, rounded.
"""
import math
import os

import torch

import golden

SHAPES = {"matrix": (3, 5), "bias": (7,), "cube": (2, 3, 2), "gain": (1,)}
STEPS = 10
BETAS = (0.8, 0.95)
CASES = {
    "sgd": (torch.optim.SGD, {}),
    "sgd_decay": (torch.optim.SGD, {"weight_decay": 0.1}),
    "sgd_momentum": (torch.optim.SGD, {"momentum": 0.9}),
    "sgd_momentum_decay": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}),
    "adam": (torch.optim.Adam, {}),
    "adam_decay": (torch.optim.Adam, {"weight_decay": 0.1, "betas": BETAS, "eps": 1e-6}),
    "adamw": (torch.optim.AdamW, {"weight_decay": 0.0}),
    "adamw_decay": (torch.optim.AdamW, {"weight_decay": 0.1, "betas": BETAS, "eps": 1e-6}),
    "adamw_matrices": (torch.optim.AdamW, {"weight_decay": 0.1}),
}


def run(kind, options, start, grads, rates, dtype, matrices_only):
    """Returns values after each step and the state after the last."""
    params = {n: torch.nn.Parameter(v.to(dtype, copy=True)) for n, v in start.items()}
    groups = [{"params": list(params.values())}]
    if matrices_only:
        groups = [{"params": [p for p in params.values() if p.dim() >= 2]},
                  {"params": [p for p in params.values() if p.dim() < 2], "weight_decay": 0.0}]
    solver = kind(groups, lr=0.0, **options)
    values = {n: [] for n in params}
    for step in range(STEPS):
        for group in solver.param_groups:
            group["lr"] = rates[step]
        for n, p in params.items():
            p.grad = grads[n][step].to(dtype)
        solver.step()
        for n, p in params.items():
            values[n].append(p.detach().clone())
    out = {f"value.{n}": torch.stack(v) for n, v in values.items()}
    for n, p in params.items():
        for entry, t in solver.state[p].items():
            if entry != "step" and t is not None:
                out[f"{entry}.{n}"] = t
    return out


def clipped(grads, limit):
    """Returns the norm and the clipped gradients."""
    params = {n: torch.nn.Parameter(g) for n, g in grads.items()}
    for p in params.values():
        p.grad = p.detach().clone()
    out = {"norm": torch.nn.utils.clip_grad_norm_(params.values(), limit)}
    out.update({n: p.grad for n, p in params.items()})
    return out


def cosine(step, peak, floor, warmup, steps):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step > steps:
        return floor
    ratio = (step - warmup) / (steps - warmup)
    return floor + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (peak - floor)


def wsd(peak, floor, warmup, stable, decay, steps):
    solver = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=peak)
    schedulers = [torch.optim.lr_scheduler.LinearLR(solver, 1 / (warmup + 1), 1, warmup),
                  torch.optim.lr_scheduler.ConstantLR(solver, 1, stable),
                  torch.optim.lr_scheduler.LinearLR(solver, 1, floor / peak, decay)]
    schedule = torch.optim.lr_scheduler.SequentialLR(solver, schedulers, [warmup, warmup + stable])
    rates = []
    for _ in range(steps):
        rates.append(solver.param_groups[0]["lr"])
        solver.step()
        schedule.step()
    return rates


def main():
    g = torch.Generator().manual_seed(20170612)
    start = {n: torch.randn(s, generator=g, dtype=torch.float64) for n, s in SHAPES.items()}
    grads = {n: torch.randn((STEPS,) + s, generator=g, dtype=torch.float64) for n, s in SHAPES.items()}
    grads["matrix"][:, 1, 2] = 0  # an element whose second moment stays 0
    rates = [0.01 * (1 + i % 3) for i in range(STEPS)]
    out = {f"value.{n}": v for n, v in start.items()}
    out.update({f"grad.{n}": v for n, v in grads.items()})
    out["lr"] = torch.tensor(rates, dtype=torch.float64)
    for case, (kind, options) in CASES.items():
        for label, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            for n, t in run(kind, options, start, grads, rates, dtype, case == "adamw_matrices").items():
                out[f"{case}.{label}.{n}"] = t
    for limit in ("1", "1000"):
        for n, t in clipped({n: v[0] for n, v in grads.items()}, float(limit)).items():
            out[f"clip.{limit}.{n}"] = t
    out["cosine"] = torch.tensor([cosine(i, 3e-3, 3e-4, 5, 20) for i in range(30)], dtype=torch.float64)
    out["wsd"] = torch.tensor(wsd(3e-3, 3e-4, 5, 8, 7, 30), dtype=torch.float64)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "solvers.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

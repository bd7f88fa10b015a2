"""Ten steps of training a small language model with each of PyTorch's solvers.

Writes training.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

The model is token and position embeddings, causal multi-head attention, and a
linear map to the scores of the next token; the loss is the mean cross-entropy of
the targets other than -100.

    value.<parameter>                   start values, float64
    inputs, targets                     (10, B, T) ids of the ten batches
    <case>.rate                         (10) learning rates of the steps
    <case>.<dtype>.loss                 (10) losses before each step
    <case>.<dtype>.norm                 (10) norms of all gradients before clipping
    <case>.<dtype>.value.<parameter>    values after the last step

float32 cases start from the same numbers, rounded.
"""
import math
import os

import torch
from torch.nn import functional

import golden

BATCH, CONTEXT, VOCAB, WIDTH, OUT, HEADS = 3, 5, 11, 6, 14, 2
STEPS = 10
CLIP = 3.0  # some steps are clipped, some not
SHAPES = {
    "tokens.weight": (VOCAB, WIDTH),
    "positions.weight": (CONTEXT, WIDTH),
    "attention.W_query.weight": (OUT, WIDTH),
    "attention.W_key.weight": (OUT, WIDTH),
    "attention.W_value.weight": (OUT, WIDTH),
    "attention.out_proj.weight": (OUT, OUT),
    "attention.out_proj.bias": (OUT,),
    "output.weight": (VOCAB, OUT),
    "output.bias": (VOCAB,),
}


def cosine(step, peak=0.03, floor=0.003, warmup=3, steps=8):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step >= steps:
        return floor
    ratio = (step - warmup) / (steps - warmup)
    return floor + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (peak - floor)


# solver, its options, learning rate of a step, limit of the norm or None
CASES = {
    "sgd": (torch.optim.SGD, {}, lambda step: 0.1, None),
    "sgd_momentum": (torch.optim.SGD, {"momentum": 0.9}, lambda step: 0.05, None),
    "adam": (torch.optim.Adam, {}, lambda step: 0.01, None),
    "adamw_decay": (torch.optim.AdamW, {"weight_decay": 0.1}, lambda step: 0.01, None),
    "adamw_clip_cosine": (torch.optim.AdamW, {"weight_decay": 0.1, "betas": (0.8, 0.95)}, cosine, CLIP),
    "sgd_groups": (torch.optim.SGD, {"momentum": 0.9, "weight_decay": 0.1}, lambda step: 0.05, None),
    "adam_groups": (torch.optim.Adam, {"weight_decay": 0.1}, lambda step: 0.01, None),
    "adamw_groups": (torch.optim.AdamW, {"weight_decay": 0.1, "betas": (0.8, 0.95)}, cosine, CLIP),
}
FROZEN = "tokens.weight"  # of the cases with groups
# layer, factor of the learning rate, other options; the rest is a group without
GROUPS = [("attention.", 0.1, {}), ("output.", 3.0, {"weight_decay": 0.01})]


def loss(p, inputs, targets):
    """The mean cross-entropy of a batch, (B, T) ids each."""
    x = p["tokens.weight"][inputs] + p["positions.weight"]  # (B, T, E)

    def heads(name):
        y = functional.linear(x, p[f"attention.{name}.weight"])
        return y.view(BATCH, CONTEXT, HEADS, OUT // HEADS).transpose(1, 2)  # (B, H, T, D)

    q, k, v = heads("W_query"), heads("W_key"), heads("W_value")
    scores = q @ k.transpose(2, 3)
    later = torch.ones(CONTEXT, CONTEXT).triu(diagonal=1).bool()
    weights = torch.softmax(scores.masked_fill(later, -math.inf) / (OUT // HEADS) ** 0.5, dim=-1)
    context = (weights @ v).transpose(1, 2).reshape(BATCH, CONTEXT, OUT)
    context = functional.linear(context, p["attention.out_proj.weight"], p["attention.out_proj.bias"])
    logits = functional.linear(context, p["output.weight"], p["output.bias"])
    return functional.cross_entropy(logits.reshape(-1, VOCAB), targets.reshape(-1))


def norm(p):
    return torch.linalg.vector_norm(torch.cat([v.grad.reshape(-1) for v in p.values() if v.grad is not None]))


def groups_of(case, p):
    """Freezes and groups the parameters of a case; a group's factor is the option that solvers ignore."""
    if not case.endswith("_groups"):
        return [{"params": list(p.values()), "factor": 1.0}]
    p[FROZEN].requires_grad_(False)
    groups, rest = [], [n for n in p if n != FROZEN]
    for layer, factor, options in GROUPS:
        names = [n for n in rest if n.startswith(layer)]
        groups.append({"params": [p[n] for n in names], "factor": factor, **options})
        rest = [n for n in rest if n not in names]
    return groups + [{"params": [p[n] for n in rest], "factor": 1.0}]


def train(case, start, inputs, targets, dtype):
    kind, options, rate, limit = CASES[case]
    p = {n: torch.nn.Parameter(v.to(dtype, copy=True)) for n, v in start.items()}
    solver = kind(groups_of(case, p), lr=0.0, **options)
    losses, norms = [], []
    for step in range(STEPS):
        for group in solver.param_groups:
            group["lr"] = rate(step) * group["factor"]
        solver.zero_grad()
        l = loss(p, inputs[step], targets[step])
        l.backward()
        losses.append(l.detach())
        norms.append(norm(p))
        if limit is not None:
            torch.nn.utils.clip_grad_norm_(p.values(), limit)
        solver.step()
    out = {"loss": torch.stack(losses), "norm": torch.stack(norms)}
    out.update({f"value.{n}": v for n, v in p.items()})
    return out


def main():
    g = torch.Generator().manual_seed(20170612)
    start = {n: 0.5 * torch.randn(s, generator=g, dtype=torch.float64) for n, s in SHAPES.items()}
    inputs = torch.randint(VOCAB, (STEPS, BATCH, CONTEXT), generator=g)
    targets = torch.randint(VOCAB, (STEPS, BATCH, CONTEXT), generator=g)
    targets[1::2, BATCH - 1, 2:] = -100  # every other batch ends early
    out = {f"value.{n}": v for n, v in start.items()}
    out.update({"inputs": inputs, "targets": targets})
    for case in CASES:
        out[f"{case}.rate"] = torch.tensor([CASES[case][2](step) for step in range(STEPS)], dtype=torch.float64)
        for label, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            for n, t in train(case, start, inputs, targets, dtype).items():
                out[f"{case}.{label}.{n}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "training.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

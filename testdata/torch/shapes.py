"""Training steps whose batches differ in shape.

Writes shapes.safetensors beside itself. Made with the torch that the file's
metadata names. A model of an embedding, causal attention of two heads and a
linear map is trained by AdamW with clipped gradients.

    start.<name>               initial weights, float64
    shapes                     (n, 2) B and T of each batch
    ids, targets               of all batches, one after the other; -100 has no loss
    <case>.<dtype>.loss        the loss of each step, before it
    <case>.<dtype>.end.<name>  the weights after the last

The case one has 50 steps of a batch each. The case three has 10 steps of three batches each,
which count as one large one: their losses and gradients are weighted by their targets.
"""
import os

import torch
import torch.nn.functional as F

import golden

torch.set_num_threads(1)
V, E, H, STEPS = 11, 8, 2, 50
random = torch.Generator().manual_seed(7)
SHAPES = [tuple(int(torch.randint(1, n, (), generator=random)) for n in (4, 8)) for _ in range(STEPS)]
NAMES = {"embedding.weight": (V, E), "attention.W_query.weight": (E, E), "attention.W_key.weight": (E, E),
         "attention.W_value.weight": (E, E), "attention.out_proj.weight": (E, E),
         "output.weight": (V, E), "output.bias": (V,)}
START = {name: torch.randn(shape, generator=random, dtype=torch.float64) / 2 for name, shape in NAMES.items()}
BATCHES = []
for shape in SHAPES:
    ids = torch.randint(0, V, shape, generator=random)
    targets = torch.randint(0, V, shape, generator=random)
    targets[torch.rand(shape, generator=random) < 0.2] = -100
    targets[0, 0] = 1  # one counts
    BATCHES.append((ids, targets))


def loss(p, ids, targets):
    x = p["embedding.weight"][ids]
    b, t, _ = x.shape
    heads = lambda name: (x @ p[f"attention.W_{name}.weight"].T).view(b, t, H, E // H).transpose(1, 2)
    y = F.scaled_dot_product_attention(heads("query"), heads("key"), heads("value"), is_causal=True)
    y = y.transpose(1, 2).reshape(b, t, E)
    y = y @ p["attention.out_proj.weight"].T
    logits = y @ p["output.weight"].T + p["output.bias"]
    return F.cross_entropy(logits.view(-1, V), targets.view(-1))


def run(dtype, steps, n):
    p = {name: torch.nn.Parameter(v.to(dtype, copy=True)) for name, v in START.items()}
    solver = torch.optim.AdamW(p.values(), lr=0.003, weight_decay=0.1)
    losses = []
    for step in range(steps):
        batches = BATCHES[step * n:step * n + n]
        tokens = [int((targets != -100).sum()) for _, targets in batches]
        total = sum(loss(p, *batch) * (count / sum(tokens)) for batch, count in zip(batches, tokens))
        solver.zero_grad()
        total.backward()
        torch.nn.utils.clip_grad_norm_(p.values(), 1.0)
        solver.step()
        losses.append(float(total.detach()))
    return torch.tensor(losses, dtype=torch.float64), {name: v.detach() for name, v in p.items()}


file = {f"start.{name}": v for name, v in START.items()}
file["shapes"] = torch.tensor(SHAPES)
file["ids"] = torch.cat([ids.view(-1) for ids, _ in BATCHES])
file["targets"] = torch.cat([targets.view(-1) for _, targets in BATCHES])
for case, steps, n in [("one", STEPS, 1), ("three", 10, 3)]:
    for dtype, word in [(torch.float32, "float32"), (torch.float64, "float64")]:
        losses, end = run(dtype, steps, n)
        file[f"{case}.{word}.loss"] = losses
        file |= {f"{case}.{word}.end.{name}": v for name, v in end.items()}
golden.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "shapes.safetensors"), file,
            {"torch": torch.__version__.split("+")[0]})

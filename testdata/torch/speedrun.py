#!/usr/bin/env python3
"""Trains characters as `attention train --preset speedrun` and as nano-char, in plain PyTorch.

    speedrun.py --text tinyshakespeare.txt --preset speedrun
    speedrun.py --text tinyshakespeare.txt --preset nano-char --threads 1

prints the mean loss of the whole validation text, the last tenth, in windows of the context without what is before
them, and the seconds of the whole process until it is known. speedrun is that preset's model and recipe: a Llama with
norms of queries and keys, Muon in its plain form beside AdamW, and the schedule. nano-char is nanoGPT's small
character model with its published settings (the model of gpt_train.py). The windows are PyTorch's own random ones.

Made for torch 1.13 on Linux.
"""
import time

BEGAN = time.perf_counter()

import argparse
import json
import math

import torch
from torch import nn
from torch.nn import functional

import gpt_train

WIDTH, HEADS, LAYERS, INNER, CONTEXT, BATCH = 128, 4, 4, 344, 64, 12
SHORT, SHORT_STEPS = 32, 90  # tokens of a window in speedrun's first steps


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * self.weight


def turned(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.q_norm, self.k_norm = RMSNorm(WIDTH // HEADS), RMSNorm(WIDTH // HEADS)
        half = WIDTH // HEADS // 2
        angles = torch.arange(CONTEXT)[:, None] * 10000.0 ** (-torch.arange(half) / half)  # (T, D/2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
        self.register_buffer("hidden", torch.ones(CONTEXT, CONTEXT).triu(1).bool(), persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (y(x).view(b, t, HEADS, -1).transpose(1, 2) for y in (self.q, self.k, self.v))  # (B, H, T, D)
        q, k = (turned(n(y), self.cos[:t], self.sin[:t]) for n, y in ((self.q_norm, q), (self.k_norm, k)))
        scores = q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS)
        weights = scores.masked_fill(self.hidden[:t, :t], -math.inf).softmax(3)
        return self.o((weights @ v).transpose(1, 2).reshape(b, t, -1))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate, self.up = (nn.Linear(WIDTH, INNER, bias=False) for _ in range(2))
        self.down = nn.Linear(INNER, WIDTH, bias=False)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Llama(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embed = nn.Embedding(vocab, WIDTH)
        self.norms = nn.ModuleList(RMSNorm(WIDTH) for _ in range(2 * LAYERS + 1))
        self.parts = nn.ModuleList(part() for _ in range(LAYERS) for part in (Attention, MLP))
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, 0, 0.02)

    def forward(self, ids, targets):
        x = self.embed(ids)
        for norm, part in zip(self.norms, self.parts):
            x = x + part(norm(x))
        logits = functional.linear(self.norms[-1](x), self.embed.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))


class Muon(torch.optim.Optimizer):
    """torch.optim.Muon with adjust_lr_fn="match_rms_adamw" and no decay, in the parameters' own type."""

    def __init__(self, params, lr, momentum, ns_steps=5):
        super().__init__(params, {"lr": lr, "momentum": momentum, "ns_steps": ns_steps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                buffer = self.state[p].setdefault("momentum_buffer", torch.zeros_like(p))
                buffer.lerp_(p.grad, 1 - group["momentum"])
                update = orthogonal(p.grad.lerp(buffer, group["momentum"]), group["ns_steps"])
                p.add_(update, alpha=-group["lr"] * 0.2 * math.sqrt(max(p.shape)))


def orthogonal(g, steps):
    a, b, c = 3.4445, -4.7750, 2.0315
    x = g.t() if g.size(0) > g.size(1) else g
    x = x / x.norm().clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.t()
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.t() if g.size(0) > g.size(1) else x


def speedrun(vocab):
    """Returns the preset's model, solvers, schedule, steps, and steps between evaluations of 20 batches."""
    model = Llama(vocab)
    matrices = [p for n, p in model.named_parameters() if p.dim() > 1 and n != "embed.weight"]
    rest = [p for n, p in model.named_parameters() if p.dim() < 2 or n == "embed.weight"]
    solvers = [Muon(matrices, lr=0.015, momentum=0.75), torch.optim.AdamW(rest, lr=0.015, weight_decay=0)]
    return model, solvers, lambda step: gpt_train.rate(step, 0.015, 0.0015, 9, 180), 180, 0


def nano_char(vocab):
    """Returns the same of nanoGPT's small character model."""
    model = gpt_train.GPT(gpt_train.Config(vocab, CONTEXT, WIDTH, LAYERS, HEADS, bias=False))
    return model, [gpt_train.solver(model, (0.9, 0.99), 0.1)], gpt_train.rate, 2000, 250


def random_windows(ids, context=CONTEXT):
    """Returns as many windows as have the tokens of a batch, and what follows."""
    at = torch.randint(len(ids) - context, (BATCH * CONTEXT // context, 1)) + torch.arange(context)
    return ids[at], ids[at + 1]


@torch.no_grad()
def whole_loss(model, ids):
    """Returns the mean loss of all windows one after the other, of which the last may be shorter."""
    total = 0.0
    n = (len(ids) - 1) // CONTEXT * CONTEXT
    inputs, targets = ids[:n].view(-1, CONTEXT), ids[1: n + 1].view(-1, CONTEXT)
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH)):
        total += model(x, y).item() * y.numel()
    if n < len(ids) - 1:
        total += model(ids[None, n:-1], ids[None, n + 1:]).item() * (len(ids) - 1 - n)
    return total / (len(ids) - 1)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--text", required=True, help="UTF-8 file to learn from, by characters")
    p.add_argument("--preset", choices=["speedrun", "nano-char"], default="speedrun")
    p.add_argument("--threads", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    ids, vocab = gpt_train.characters(a.text, 1)
    training, validation = ids[: len(ids) * 9 // 10], ids[len(ids) * 9 // 10:]
    model, solvers, schedule, steps, every = {"speedrun": speedrun, "nano-char": nano_char}[a.preset](vocab)
    for step in range(steps):
        if every and step % every == 0:
            with torch.no_grad():
                for part in training, validation:
                    sum(model(*random_windows(part)).item() for _ in range(20))
        short = a.preset == "speedrun" and step < SHORT_STEPS
        loss = model(*random_windows(training, SHORT if short else CONTEXT))
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for solver in solvers:
            for group in solver.param_groups:
                group["lr"] = schedule(step)
            solver.step()
    loss = whole_loss(model, validation)
    print(json.dumps({"preset": a.preset, "settings": a.settings, "threads": torch.get_num_threads(), "seed": a.seed,
                      "loss": loss, "seconds": time.perf_counter() - BEGAN}))


if __name__ == "__main__":
    main()

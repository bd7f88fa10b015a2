#!/usr/bin/env python3
"""A plain PyTorch GPT of GPT-2's form, trained with AdamW.

    gpt_train.py golden                    writes gpt_train.safetensors beside itself
    gpt_train.py time --text FILE ...      times training steps
    gpt_train.py losses --text FILE --weights FILE ...   prints the loss of each step

Weights are named and shaped as GPT-2's in Hugging Face's transformers, where those of
products are (in, out); here they are kept as nn.Linear's and turned on the way.

gpt_train.safetensors was made with torch 1.13.0a0 (Debian's python3-torch 1.13.1) on
Python 3.11; the file's metadata repeats the version. It holds

    ids                        (N) token ids
    weight.<name>              start values, float64
    <case>.<dtype>.loss        (100) losses before each step, of the cases below
    <case>.<dtype>.value.<name>  a few weights after the last

Step i learns from the B windows (i·B+b)·T … of the ids, wrapping around; the targets are
the ids that follow.
"""
import argparse
import json
import math
import os
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

import golden

TRANSPOSED = ("attn.c_attn.weight", "attn.c_proj.weight", "mlp.c_fc.weight", "mlp.c_proj.weight")


class Config:
    def __init__(self, vocab, context, width, layers, heads, bias, dropout=0.0):
        self.vocab, self.context, self.width = vocab, context, width
        self.layers, self.heads, self.bias, self.dropout = layers, heads, bias, dropout


class LayerNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(c.width))
        self.bias = nn.Parameter(torch.zeros(c.width)) if c.bias else None

    def forward(self, x):
        return functional.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.dropout = c.heads, c.dropout
        self.c_attn = nn.Linear(c.width, 3 * c.width, bias=c.bias)
        self.c_proj = nn.Linear(c.width, c.width, bias=c.bias)
        self.register_buffer("hidden", torch.ones(c.context, c.context).triu(1).bool(), persistent=False)

    def forward(self, x):
        b, t, e = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.c_attn(x).split(e, 2))
        scores = q @ k.transpose(2, 3) / math.sqrt(e // self.heads)
        weights = scores.masked_fill(self.hidden[:t, :t], -math.inf).softmax(3)
        weights = functional.dropout(weights, self.dropout, self.training)
        out = self.c_proj((weights @ v).transpose(1, 2).reshape(b, t, e))
        return functional.dropout(out, self.dropout, self.training)


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c_fc = nn.Linear(c.width, 4 * c.width, bias=c.bias)
        self.c_proj = nn.Linear(4 * c.width, c.width, bias=c.bias)
        self.exact = not c.bias  # nanoGPT's GELU; with biases GPT-2's, by tanh
        self.dropout = c.dropout

    def forward(self, x):
        hidden = functional.gelu(self.c_fc(x), approximate="none" if self.exact else "tanh")
        return functional.dropout(self.c_proj(hidden), self.dropout, self.training)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = LayerNorm(c), Attention(c), LayerNorm(c), MLP(c)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.config = c
        self.wte = nn.Embedding(c.vocab, c.width)
        self.wpe = nn.Embedding(c.context, c.width)
        self.h = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.ln_f = LayerNorm(c)
        for name, p in self.named_parameters():
            if p.dim() > 1:
                deviation = 0.02 / math.sqrt(2 * c.layers) if name.endswith("c_proj.weight") else 0.02
                nn.init.normal_(p, 0, deviation)
            elif name.endswith("bias"):
                nn.init.zeros_(p)

    def forward(self, ids, targets):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1]))
        x = functional.dropout(x, self.config.dropout, self.training)
        for block in self.h:
            x = block(x)
        logits = functional.linear(self.ln_f(x), self.wte.weight)
        return functional.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1))

    def read(self, weights):
        """Takes over weights by GPT-2's names."""
        with torch.no_grad():
            for name, p in self.named_parameters():
                w = weights["transformer." + name]
                p.copy_(w.T if name.endswith(TRANSPOSED) else w)

    def weights(self):
        return {"transformer." + name: (p.T if name.endswith(TRANSPOSED) else p).detach().clone().contiguous()
                for name, p in self.named_parameters()}


def solver(model, betas, decay):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1.0, betas=betas)


def rate(step, peak=1e-3, floor=1e-4, warmup=100, steps=2000):
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    done = min((step - warmup) / (steps - warmup), 1)
    return floor + 0.5 * (1 + math.cos(math.pi * done)) * (peak - floor)


def windows(ids, step, batch, context):
    """The inputs and targets of a step, in order."""
    at = (step * batch + torch.arange(batch)[:, None]) * context + torch.arange(context + 1)
    both = ids[at % len(ids)]
    return both[:, :-1].contiguous(), both[:, 1:].contiguous()


def train(model, ids, steps, batch, schedule=rate, betas=(0.9, 0.99), decay=0.1, clip=1.0):
    """Yields the loss before each step and the seconds that the step took."""
    optimizer = solver(model, betas, decay)
    for step in range(steps):
        inputs, targets = windows(ids, step, batch, model.config.context)
        begin = time.perf_counter()
        for group in optimizer.param_groups:
            group["lr"] = schedule(step)
        loss = model(inputs, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        yield loss.item(), time.perf_counter() - begin


CASES = {
    "bias": Config(vocab=13, context=7, width=12, layers=2, heads=3, bias=True),
    "plain": Config(vocab=13, context=7, width=12, layers=2, heads=3, bias=False),
}


def write_golden():
    torch.manual_seed(1)
    noise = torch.randint(0, 13, (401,))
    ids = torch.where(torch.rand(401) < 0.7, (torch.arange(401) * 5) % 13, noise)
    tensors = {"ids": ids}
    start = GPT(CASES["bias"]).double()
    with torch.no_grad():
        for p in start.parameters():  # biases other than 0, weights that do something
            p.add_(0.1 * torch.randn(p.shape).double())
    for name, w in start.weights().items():
        tensors["weight." + name] = w
    for case, config in CASES.items():
        for dtype in (torch.float64, torch.float32):
            model = GPT(config).to(dtype)
            model.read(start.weights())
            schedule = lambda step: rate(step, peak=1e-2, floor=1e-3, warmup=10, steps=80)
            losses = [loss for loss, _ in train(model, ids, 100, 5, schedule)]
            key = f"{case}.{str(dtype)[6:]}"
            tensors[key + ".loss"] = torch.tensor(losses, dtype=torch.float64)
            for name in ("transformer.wte.weight", "transformer.h.1.attn.c_attn.weight", "transformer.ln_f.weight"):
                tensors[f"{key}.value.{name}"] = model.weights()[name]
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpt_train.safetensors")
    golden.save(path, tensors, {"torch": torch.__version__})


def characters(path, share=0.9):
    """The ids of the first nine tenths of a text, numbered by character, and how many there are."""
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    number = {c: i for i, c in enumerate(sorted(set(text)))}
    return torch.tensor([number[c] for c in text[: int(len(text) * share)]]), len(number)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["golden", "time", "losses"])
    p.add_argument("--text", help="UTF-8 file to learn from, by characters")
    p.add_argument("--weights", help="safetensors file with start values")
    for name, default in {"layers": 4, "heads": 4, "width": 128, "context": 64, "batch": 12, "steps": 100, "threads": 0}.items():
        p.add_argument("--" + name, type=int, default=default)
    p.add_argument("--bias", action="store_true")
    p.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    a = p.parse_args()
    if a.do == "golden":
        return write_golden()
    if not a.text:
        sys.exit("gpt_train.py: --text: missing, want a file")
    if a.threads:
        torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    ids, vocab = characters(a.text)
    model = GPT(Config(vocab, a.context, a.width, a.layers, a.heads, a.bias)).to(getattr(torch, a.dtype))
    if a.weights:
        model.read(golden.load(a.weights))
    losses, seconds = zip(*train(model, ids, a.steps, a.batch))
    if a.do == "losses":
        print("\n".join(map(repr, losses)))
    else:
        print(json.dumps({"torch": torch.__version__, "threads": torch.get_num_threads(), "steps": a.steps,
                          "ms": 1e3 * statistics.median(seconds[a.steps // 5:]), "loss": losses[-1]}))


if __name__ == "__main__":
    main()

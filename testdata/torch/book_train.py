#!/usr/bin/env python3
"""The GPT that the book builds in chapter 4, trained as in its chapter 5, in plain PyTorch.

    book_train.py golden                                     writes book_train.safetensors beside itself
    book_train.py losses --ids FILE [--shape book] [--steps N]   prints the loss before each step

The model has an nn.Embedding for tokens and one for places, blocks of an attention whose
queries, keys and values are one nn.Linear each without a bias, and of an MLP, all as PyTorch
draws them after manual_seed(123), and an output layer of its own. An epoch has the windows
that do not overlap, in order; AdamW decays everything. There is no dropout here.

book_train.safetensors was made with torch 1.13.0a0 (Debian's python3-torch 1.13.1) on Python
3.11; the file's metadata repeats the version. The text is that of the program, as bytes:

    <dtype>.loss   (60) losses before each step of the shape `small`, of the first 4400 bytes, two epochs
    <dtype>.before.<name>, <dtype>.after.<name>  rows of a few weights before the first step and after the last

FILE has numbers and white space, the ids of GPT-2's tokens to train on.
"""
import argparse
import math
import os

import torch
from torch import nn
from torch.nn import functional

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = {"small": dict(width=128, layers=4, heads=4, context=64), "book": dict(width=768, layers=12, heads=12, context=256)}


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out = nn.Linear(width, width)

    def forward(self, x):
        B, T, E = x.shape
        q, k, v = (f(x).view(B, T, self.heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(2, 3) / math.sqrt(E // self.heads)
        weights = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -math.inf).softmax(3)
        return self.out((weights @ v).transpose(1, 2).reshape(B, T, E))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.into, self.back = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.back(functional.gelu(self.into(self.norms[1](x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, vocab, width, layers, heads, context):
        super().__init__()
        self.context = context
        self.tokens, self.places = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(torch.arange(ids.shape[1])))))


def batches(ids, context, size):
    """Yields inputs and targets, epoch after epoch."""
    inputs = ids[:(len(ids) - 1) // context * context].view(-1, context)
    targets = ids[1:][:inputs.numel()].view(-1, context)
    while True:
        for i in range(len(inputs) // size):
            yield inputs[i * size:(i + 1) * size], targets[i * size:(i + 1) * size]


def train(model, ids, steps):
    """Yields the loss before each step."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-4, weight_decay=0.1)
    for _, (inputs, targets) in zip(range(steps), batches(ids, model.context, 2)):
        loss = functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        yield loss.item()


def samples(model):
    """A few weights, by the names that the program has for them."""
    block = model.blocks[1]
    return {"transformer.wpe.weight": model.places.weight[:2],
            "transformer.h.1.attn.c_attn.weight": torch.cat(
                [block.attention.query.weight, block.attention.key.weight, block.attention.value.weight]).T[:2],
            "transformer.h.1.attn.c_proj.bias": block.attention.out.bias,
            "transformer.h.1.mlp.c_fc.bias": block.into.bias,
            "transformer.h.1.mlp.c_proj.weight": block.back.weight.T[:2],
            "transformer.ln_f.weight": model.norm.weight,
            "lm_head.weight": model.head.weight[:2]}


def write_golden():
    with open(os.path.join(HERE, "..", "..", "cmd", "attention", "internal", "run", "settings", "text", "attention.txt"), "rb") as f:
        text = f.read()[:4400]
    ids = torch.tensor(list(text))[:len(text) * 9 // 10]
    tensors = {}
    for dtype in (torch.float32, torch.float64):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        model = GPT(256, **SHAPES["small"])
        key = str(dtype)[6:]
        for when in ("before", "after"):
            if when == "after":
                tensors[key + ".loss"] = torch.tensor(list(train(model, ids, 60)), dtype=torch.float64)
            for name, w in samples(model).items():
                tensors[f"{key}.{when}.{name}"] = w.detach().clone()
    golden.save(os.path.join(HERE, "book_train.safetensors"), tensors, {"torch": torch.__version__})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["golden", "losses"])
    p.add_argument("--ids", help="file of the ids to train on")
    p.add_argument("--shape", choices=SHAPES, default="book")
    p.add_argument("--steps", type=int, default=50)
    a = p.parse_args()
    if a.do == "golden":
        return write_golden()
    with open(a.ids) as f:
        ids = torch.tensor([int(i) for i in f.read().split()])
    torch.manual_seed(123)
    for loss in train(GPT(50257, **SHAPES[a.shape]), ids, a.steps):
        print(repr(loss), flush=True)


if __name__ == "__main__":
    main()

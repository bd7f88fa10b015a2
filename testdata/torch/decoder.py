"""Decoders of today's forms in PyTorch: logits, losses and gradients.

Writes decoder.safetensors beside itself, all in float64. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case, named <case>.<entry>:

    param.<name>   each parameter, named as in transformers' Llama, Gemma 3, OLMo 2 or GPT-2
    ids, targets   int64, the input and what follows it; a target −100 does not count
    out, loss      the logits, and their mean cross entropy
    grad.<name>    the gradient of each parameter

Parameters are exact in float32, so that float32 can be held against the same values. They are
drawn from a normal distribution, since gains of 1 hide mistakes.

A case is a decoder of four layers, of which every third has no rotary positions and sees a
window of three tokens, unless it says otherwise.
"""
import math
import os

import torch
from torch import nn
from torch.nn import functional as F

import golden

VOCAB, CONTEXT, WIDTH, HEADS, KV_HEADS, HIDDEN = 13, 11, 12, 6, 2, 17
KV = WIDTH // HEADS * KV_HEADS


class Linear(nn.Module):
    """A linear layer with the weight (out, in), or GPT-2's (in, out)."""

    def __init__(self, inner, outer, transposed):
        super().__init__()
        self.transposed = transposed
        self.weight = nn.Parameter(torch.empty((inner, outer) if transposed else (outer, inner)))

    def forward(self, x):
        return x @ (self.weight if self.transposed else self.weight.T)


class Norm(nn.Module):
    def __init__(self, layer=False):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(WIDTH))
        self.bias = nn.Parameter(torch.empty(WIDTH)) if layer else None

    def forward(self, x):
        if self.bias is not None:
            return F.layer_norm(x, (WIDTH,), self.weight, self.bias, 1e-5)
        return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt() * self.weight


def rotate(x):
    """Rotary positions in Llama's order: element i with element i + D/2."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


class Attention(nn.Module):
    def __init__(self, gpt2, local):
        super().__init__()
        self.gpt2, self.local = gpt2, local
        if gpt2:
            self.c_attn, self.c_proj = Linear(WIDTH, WIDTH + 2 * KV, True), Linear(WIDTH, WIDTH, True)
        else:
            self.q_proj, self.k_proj = Linear(WIDTH, WIDTH, False), Linear(WIDTH, KV, False)
            self.v_proj, self.o_proj = Linear(WIDTH, KV, False), Linear(WIDTH, WIDTH, False)

    def forward(self, x):
        if self.gpt2:
            q, k, v = self.c_attn(x).split([WIDTH, KV, KV], -1)
        else:
            q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        q, k, v = heads_of(q, HEADS), heads_of(k, KV_HEADS), heads_of(v, KV_HEADS)
        if not self.local:
            q, k = rotate(q), rotate(k)
        k, v = (y.repeat_interleave(HEADS // KV_HEADS, -3) for y in (k, v))
        tokens = x.shape[-2]
        behind = torch.arange(tokens)[:, None] - torch.arange(tokens)
        hidden = (behind < 0) | (self.local & (behind > 2))
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
        out = (scores.softmax(-1) @ v).transpose(-3, -2).flatten(-2)
        return self.c_proj(out) if self.gpt2 else self.o_proj(out)


class MLP(nn.Module):
    def __init__(self, gpt2):
        super().__init__()
        self.names = ("c_gate", "c_fc", "c_proj") if gpt2 else ("gate_proj", "up_proj", "down_proj")
        for name, inner, outer in zip(self.names, (WIDTH, WIDTH, HIDDEN), (HIDDEN, HIDDEN, WIDTH)):
            self.add_module(name, Linear(inner, outer, gpt2))

    def forward(self, x):
        gate, up, down = (getattr(self, name) for name in self.names)
        return down(F.silu(gate(x)) * up(x))


# The names of the norms of the input and the output of attention and MLP.
SANDWICH = ["input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"]
PLAIN = ["input_layernorm", "post_attention_layernorm"]


class Block(nn.Module):
    def __init__(self, local, placement="pre", parallel=False, residual=1.0, gpt2=False):
        super().__init__()
        self.placement, self.parallel, self.residual = placement, parallel, residual
        plain = ["ln_1", "ln_2"] if gpt2 else PLAIN
        self.before, self.after, self.sum = {
            "pre": (plain, None, None),
            "post": (None, None, plain),
            "output": (None, SANDWICH[1::2], None),
            "sandwich": (SANDWICH[0::2], SANDWICH[1::2], None),
        }[placement]
        for names in (self.before, self.after, self.sum):
            for name in names or []:
                self.add_module(name, Norm())
        self.parts = ["attn" if gpt2 else "self_attn", "mlp"]
        self.add_module(self.parts[0], Attention(gpt2, local))
        self.mlp = MLP(gpt2)

    def norm(self, names, part, x):
        return getattr(self, names[part])(x) if names else x

    def added(self, part, x):
        y = getattr(self, self.parts[part])(self.norm(self.before, part, x))
        return self.residual * self.norm(self.after, part, y)

    def forward(self, x):
        if self.parallel:
            return x + self.added(0, x) + self.added(1, x)
        for part in range(2):
            x = self.norm(self.sum, part, x + self.added(part, x))
        return x


class Decoder(nn.Module):
    def __init__(self, pattern=(0, 0, 1), embedding=1.0, logit=1.0, cap=None, tied=False, gpt2=False, **block):
        super().__init__()
        self.embedding, self.logit, self.cap, self.gpt2 = embedding, logit, cap, gpt2
        names = ("transformer", "wte", "h", "ln_f") if gpt2 else ("model", "embed_tokens", "layers", "norm")
        blocks = [Block(bool(pattern[i % len(pattern)]), gpt2=gpt2, **block) for i in range(4)]
        parts = {names[1]: nn.Embedding(VOCAB, WIDTH), names[2]: nn.ModuleList(blocks), names[3]: Norm(gpt2)}
        if gpt2:
            parts["wpe"] = nn.Embedding(CONTEXT, WIDTH)
        self.names = names
        self.add_module(names[0], nn.ModuleDict(parts))
        self.lm_head = None if tied else Linear(WIDTH, VOCAB, False)

    def forward(self, ids):
        parts = getattr(self, self.names[0])
        tokens, blocks, norm = (parts[name] for name in self.names[1:])
        x = tokens(ids) * self.embedding
        if self.gpt2:
            x = x + parts["wpe"](torch.arange(ids.shape[-1]))
        for block in blocks:
            x = block(x)
        x = norm(x)
        logits = (x @ tokens.weight.T if self.lm_head is None else self.lm_head(x)) * self.logit
        return logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)


CASES = {
    "llama": lambda: Decoder(),
    "parallel": lambda: Decoder(parallel=True),
    "post": lambda: Decoder(placement="post"),
    "output": lambda: Decoder(placement="output", residual=0.25),
    "sandwich": lambda: Decoder(placement="sandwich", embedding=3.5, cap=2.0, tied=True),
    "parallel sandwich": lambda: Decoder(placement="sandwich", parallel=True, residual=0.5, logit=0.125),
    "gpt2": lambda: Decoder(pattern=(1, 0), gpt2=True),
}


def record(module):
    """Returns a dict of everything one forward and backward pass gives."""
    for name, p in module.named_parameters():
        gain = p.dim() == 1 and name.endswith("weight")
        p.data = (0.25 * torch.randn(p.shape, dtype=torch.float32) + gain).float().double()
    ids, targets = torch.randint(VOCAB, (2, 7)), torch.randint(VOCAB, (2, 7))
    targets[1, 3] = -100
    out = module(ids)
    loss = F.cross_entropy(out.flatten(0, -2), targets.flatten())
    loss.backward()
    got = {"ids": ids, "targets": targets, "out": out, "loss": loss}
    got.update({f"param.{name}": p for name, p in module.named_parameters()})
    got.update({f"grad.{name}": p.grad for name, p in module.named_parameters()})
    return got


def main():
    torch.set_default_dtype(torch.float64)
    out = {}
    for case, make in CASES.items():
        torch.manual_seed(20251125)
        for entry, value in record(make()).items():
            out[f"{case}.{entry}"] = value
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decoder.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

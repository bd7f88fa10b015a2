"""Attention with all its options, written out from the formulas.

attend(o, p, query, key, value) computes it of parameters p, named and shaped as
shapes(o) says; o has the options' values. attention.py makes cases of it.
"""
import math

import torch
from torch.nn import functional as F

BOOK = ("W_query.", "W_key.", "W_value.", "out_proj.")
LLAMA = ("q_proj.", "k_proj.", "v_proj.", "o_proj.")


def shapes(o):
    """The layout's parameters."""
    outs, ins = (o.heads * o.dim, o.kv_heads * o.dim, o.kv_heads * o.value_dim), (o.width, o.key_width, o.value_width)
    context = o.heads * o.value_dim
    if o.layout == "gpt2":
        p = {"c_attn.weight": (o.width, sum(outs)), "c_proj.weight": (context, o.out)}
        biases = {"c_attn.bias": sum(outs)} if o.qkv_bias else {}
        biases.update({"c_proj.bias": o.out} if o.out_bias else {})
        p.update({name: (n,) for name, n in biases.items()})
    else:
        names = BOOK if o.layout == "book" else LLAMA
        p = {}
        for name, rows, columns in zip(names, (*outs, o.out), (*ins, context)):
            p[name + "weight"] = rows, columns
            if o.out_bias if name == names[3] else o.qkv_bias:
                p[name + "bias"] = rows,
    if o.bias_kv:
        p["bias_k"], p["bias_v"] = (1, 1, outs[1]), (1, 1, outs[2])
    if o.norm:
        p["q_norm.weight"] = p["k_norm.weight"] = o.dim,
    if o.sinks:
        p["sinks"] = o.heads,
    if o.gate:
        p["gate_proj.weight"] = context, o.width
    if o.buckets:
        p["relative_attention_bias.weight"] = o.buckets, o.heads
    if o.forget:
        p["fgate_proj.weight"], p["fgate_proj.bias"] = (o.heads, o.key_width), (o.heads,)
    return p


def projections(o, p):
    """Functions for queries, keys and values, and for the output."""
    if o.layout == "gpt2":
        outs = [o.heads * o.dim, o.kv_heads * o.dim, o.kv_heads * o.value_dim]
        weights = p["c_attn.weight"].split(outs, 1)
        biases = p["c_attn.bias"].split(outs) if o.qkv_bias else (0, 0, 0)
        pairs = [*zip(weights, biases), (p["c_proj.weight"], p.get("c_proj.bias", 0))]
        return [lambda x, w=w, b=b: x @ w + b for w, b in pairs]
    names = BOOK if o.layout == "book" else LLAMA
    return [lambda x, n=n: F.linear(x, p[n + "weight"], p.get(n + "bias")) for n in names]


def halves(x, angle):
    a, b = x.chunk(2, -1)
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()), -1)


def neighbours(x, angle):
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def rotate(o, x, positions):
    """x ([B,] H, T, D), positions ([B,] T)."""
    n = o.rope_dims or o.dim
    frequency = 1 / o.base ** (torch.arange(0, n, 2) / n)
    angle = (positions.double().unsqueeze(-1) * frequency).unsqueeze(-3)
    return torch.cat((o.turn(x[..., :n], angle), x[..., n:]), -1)


def rms(x):
    return x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt()


def l2(x):
    return F.normalize(x, dim=-1)


def t5_bucket(relative, buckets, longest, decoder):
    first = 0
    if decoder:
        distance = (-relative).clamp(min=0)
    else:
        buckets //= 2
        first, distance = (relative > 0) * buckets, relative.abs()
    exact = buckets // 2
    far = exact + torch.log(distance.clamp(min=1) / exact) / math.log(longest / exact) * (buckets - exact)
    return first + torch.where(distance < exact, distance, far.long().clamp(max=buckets - 1))


def slopes(heads):
    below = 2 ** math.floor(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / below) for h in range(below)]
    return torch.tensor(first + [2 ** (-4 * (2 * h + 1) / below) for h in range(heads - below)])


def attend(o, p, query, key, value):
    to_query, to_key, to_value, to_out = projections(o, p)

    def split(x, heads):
        return x.unflatten(-1, (heads, -1)).transpose(-3, -2)

    q = split(to_query(query), o.heads)
    k, v = split(to_key(key), o.kv_heads), split(to_value(value), o.kv_heads)
    t, s = q.shape[-2], k.shape[-2]
    at, key_at = torch.arange(t) + o.offset, torch.arange(s)
    if o.norm:
        q, k = o.norm(q) * p["q_norm.weight"], o.norm(k) * p["k_norm.weight"]
    if o.turn:
        key_positions = o.positions if key is query else o.key_positions
        q = rotate(o, q, at if o.positions is None else o.positions)
        k = rotate(o, k, key_at if key_positions is None else key_positions)
    extra = 0
    if o.bias_kv:
        def append(x, row):
            row = split(row[0], o.kv_heads).expand(*x.shape[:-2], 1, -1)
            return torch.cat((x, row), -2)
        k, v, extra = append(k, p["bias_k"]), append(v, p["bias_v"]), extra + 1
    if o.zero_attn:
        k, v, extra = F.pad(k, (0, 0, 0, 1)), F.pad(v, (0, 0, 0, 1)), extra + 1
    k, v = (x.repeat_interleave(o.heads // o.kv_heads, -3) for x in (k, v))
    scores = q @ k.transpose(-2, -1) * (o.scale or o.dim ** -0.5)
    if o.softcap:
        scores = o.softcap * torch.tanh(scores / o.softcap)
    relative = key_at - at.unsqueeze(-1)  # (T, S)
    added = torch.zeros(o.heads, t, s)
    if o.bias is not None:
        added = added + o.bias
    if o.alibi:
        added = added - slopes(o.heads).view(-1, 1, 1) * relative.abs()
    if o.buckets:
        table = p["relative_attention_bias.weight"]
        added = added + table[t5_bucket(relative, o.buckets, o.longest, o.decoder)].permute(2, 0, 1)
    if o.forget:
        gates = F.linear(key, p["fgate_proj.weight"], p["fgate_proj.bias"])
        sums = F.logsigmoid(gates).cumsum(-2).transpose(-1, -2)  # ([B,] H, S)
        added = added + sums[..., s - t:].unsqueeze(-1) - sums.unsqueeze(-2)
    scores = scores + F.pad(added, (0, extra))
    shown = torch.ones(t, s).bool() if o.shown is None else o.shown(at.unsqueeze(-1), key_at)
    if o.segments is not None:
        of_keys = o.segments if o.key_segments is None else o.key_segments
        shown = shown & (o.segments.unsqueeze(-1) == of_keys.unsqueeze(-2)).unsqueeze(-3)
    shown = F.pad(shown, (0, extra), value=True)
    if not o.renormalize:
        scores = scores.masked_fill(~shown, -torch.inf)
    if o.sigmoid:
        weights = torch.sigmoid(scores + o.sigmoid_bias)
    elif o.sinks:
        sink = p["sinks"].view(-1, 1, 1).expand(*scores.shape[:-1], 1)
        weights = torch.cat((scores, sink), -1).softmax(-1)[..., :-1]
    else:
        blind = ~shown.any(-1, keepdim=True)  # of a query that sees no key all weights are 0
        weights = scores.masked_fill(blind, 0).softmax(-1).masked_fill(blind, 0)
    if o.renormalize:
        weights = weights * shown
        weights = weights / weights.sum(-1, keepdim=True)
    out = (weights @ v).transpose(-3, -2).flatten(-2)
    if o.gate:
        out = out * torch.sigmoid(F.linear(query, p["gate_proj.weight"]))
    return to_out(out), weights

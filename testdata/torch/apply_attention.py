"""The layer `attention` of `attention apply`, written out step by step, for apply.py.

`Attention` computes the layer of layer.json in a plain way: masks key by key, heads by
unflatten, rotations as complex numbers. The layout torch is PyTorch's own
nn.MultiheadAttention.
"""
import math

import torch
from torch import nn


class Conv1D(nn.Module):
    """GPT-2's linear layer, whose weight is (in, out)."""

    def __init__(self, in_features, out_features, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(in_features, out_features) * 0.4)
        self.bias = nn.Parameter(torch.randn(out_features)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias


class Gain(nn.Module):
    """The learned gain of a normalisation: the weight, or offset + the weight."""

    def __init__(self, width, offset):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))
        self.offset = offset

    def forward(self, x, kind, eps):
        if kind == "l2":
            return nn.functional.normalize(x, dim=-1, eps=eps or 1e-12) * (self.offset + self.weight)
        return x * (x.pow(2).mean(-1, keepdim=True) + (eps or 1e-6)).rsqrt() * (self.offset + self.weight)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, embed_dim = c, c["embed_dim"]
        out_dim = c.get("out_dim") or embed_dim
        self.H = c["num_heads"]
        self.K = c.get("num_kv_heads") or self.H
        self.D = c.get("head_dim") or out_dim // self.H
        self.Dv = c.get("value_dim") or self.D
        ins = embed_dim, c.get("kdim") or embed_dim, c.get("vdim") or embed_dim
        outs = self.H * self.D, self.K * self.D, self.K * self.Dv
        qkv_bias, out = c.get("qkv_bias", False), (self.H * self.Dv, out_dim, c.get("out_bias", False))
        if c.get("layout") == "gpt2":
            self.outs = outs
            self.c_attn, self.c_proj = Conv1D(embed_dim, sum(outs), qkv_bias), Conv1D(*out)
        else:
            names = {"llama": ("q_proj", "k_proj", "v_proj", "o_proj")}
            names = names.get(c.get("layout"), ("W_query", "W_key", "W_value", "out_proj"))
            self.names = names
            for name, size in zip(names, [(*s, qkv_bias) for s in zip(ins, outs)] + [out]):
                setattr(self, name, nn.Linear(*size))
        if c.get("add_bias_kv"):
            self.bias_k = nn.Parameter(torch.randn(1, 1, outs[1]))
            self.bias_v = nn.Parameter(torch.randn(1, 1, outs[2]))
        if "qk_norm" in c:
            whole, offset = c.get("qk_norm_whole"), 1 if c.get("qk_norm_offset") else 0
            self.q_norm, self.k_norm = (Gain(heads * self.D if whole else self.D, offset) for heads in (self.H, self.K))
        if c.get("sinks"):
            self.sinks = nn.Parameter(torch.randn(self.H))
        if c.get("gate"):
            self.gate_proj = nn.Linear(embed_dim, self.H * self.Dv, bias=False)
        if c.get("forget"):
            self.fgate_proj = nn.Linear(ins[1], self.H)
        if "relative_bias" in c:
            self.relative_attention_bias = nn.Embedding(c["relative_bias"].get("buckets") or 32, self.H)

    def project(self, query, key, value):
        if self.c.get("layout") == "gpt2":
            return [self.c_attn(x).split(self.outs, -1)[i] for i, x in enumerate((query, key, value))]
        return [getattr(self, name)(x) for name, x in zip(self.names, (query, key, value))]

    def normalize(self, q, k):
        return [norm(x, self.c["qk_norm"], self.c.get("qk_norm_eps")) for norm, x in ((self.q_norm, q), (self.k_norm, k))]

    def forward(self, query, key=None, value=None, bias=None, positions=None, key_positions=None, **masks):
        c = self.c
        if key is None and key_positions is None:
            key_positions = positions
        key = query if key is None else key
        value = key if value is None else value
        T, S = query.shape[-2], key.shape[-2]
        first = S - T if c.get("align") == "lower_right" else 0
        q, k, v = self.project(query, key, value)
        extra = []  # keys and values that are neither normalised nor rotated
        if c.get("add_bias_kv"):
            extra.append((self.bias_k, self.bias_v))
        if c.get("add_zero_attn"):
            extra.append((torch.zeros(1, 1, k.shape[-1]), torch.zeros(1, 1, v.shape[-1])))
        whole = c.get("qk_norm_whole", False)
        if whole:
            q, k = self.normalize(q, k)
        q, k, v = split(q, self.H), split(k, self.K), split(v, self.K)  # (..., heads, length, width)
        if "qk_norm" in c and not whole:
            q, k = self.normalize(q, k)
        if "rope" in c:
            q = rotate(q, first + torch.arange(T) if positions is None else positions, **c["rope"])
            k = rotate(k, torch.arange(S) if key_positions is None else key_positions, **c["rope"])
        for rows in extra:
            k, v = (torch.cat([x, row.reshape(self.K, 1, -1).expand(*x.shape[:-2], 1, -1)], -2) for x, row in zip((k, v), rows))
        k, v = (x.repeat_interleave(self.H // self.K, -3) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * (c.get("scale") or self.D ** -0.5)
        if c.get("softcap"):
            scores = c["softcap"] * torch.tanh(scores / c["softcap"])
        added = self.biases(T, S, first, bias)
        if c.get("forget"):
            gates = nn.functional.logsigmoid(self.fgate_proj(key)).transpose(-2, -1)  # (..., H, S)
            between = (torch.arange(S) > torch.arange(S)[:, None]) & (torch.arange(S) <= torch.arange(S - T, S)[:, None, None])
            added = added + torch.einsum("...hi,tsi->...hts", gates, between.double())
        scores = scores + nn.functional.pad(added, (0, len(extra)))
        shown = nn.functional.pad(self.shown(T, S, **masks), (0, len(extra)), value=True)
        weights = self.weigh(scores, shown.expand(scores.shape))
        out = (weights @ v).transpose(-3, -2).flatten(-2)
        if c.get("gate"):
            out = out * torch.sigmoid(self.gate_proj(query))
        out = self.c_proj(out) if c.get("layout") == "gpt2" else getattr(self, self.names[3])(out)
        return out, weights.mean(-3) if c.get("average_weights") else weights

    def biases(self, T, S, first, bias):
        """The sum of all that is added to the scores."""
        total = torch.zeros(self.H, T, S) if bias is None else bias.expand(*bias.shape[:-2], T, S)
        distance = (torch.arange(T) + first)[:, None] - torch.arange(S)
        if self.c.get("alibi"):
            total = total - torch.tensor(slopes(self.H))[:, None, None] * distance.abs()
        if "relative_bias" in self.c:
            bucket = torch.tensor([[t5_bucket(-d, **self.c["relative_bias"]) for d in row] for row in distance.tolist()])
            total = total + self.relative_attention_bias(bucket).permute(2, 0, 1)
        return total

    def shown(self, T, S, keep=None, lengths=None, segments=None, key_segments=None):
        """Which of S keys each of T queries sees, (T, S) or (B or 1, H or 1, T, S)."""
        mask = self.c.get("mask", {"type": "all"})
        shown = torch.tensor([[sees(mask, t, s, T, S) for s in range(S)] for t in range(T)])
        if keep is not None:
            shown = shown & keep.bool()
        if lengths is not None:
            shown = shown & (torch.arange(S) < lengths[..., None])[..., None, None, :]
        if segments is not None:
            of_keys = segments if key_segments is None else key_segments
            shown = shown & (segments.long()[..., :, None] == of_keys.long()[..., None, :])[..., None, :, :]
        return shown

    def weigh(self, scores, shown):
        if self.c.get("renormalize"):
            weights = torch.softmax(scores, -1) * shown
            total = weights.sum(-1, keepdim=True)
            return weights / torch.where(total == 0, torch.ones(()), total)
        scores = scores.masked_fill(~shown, -torch.inf)
        if self.c.get("sigmoid"):
            return torch.sigmoid(scores + self.c.get("sigmoid_bias", -math.log(self.c.get("context_length", 1))))
        if self.c.get("sinks"):
            sinks = self.sinks[:, None, None].expand(*scores.shape[:-1], 1)
            return torch.softmax(torch.cat([scores, sinks], -1), -1)[..., :-1]
        any_shown = shown.any(-1, keepdim=True)
        return torch.softmax(torch.where(any_shown, scores, torch.zeros(())), -1) * any_shown


def sees(mask, t, s, T, S):
    """Whether query t of T sees key s of S by a mask of layer.json."""
    at = t + S - T if mask.get("align") == "lower_right" else t
    match mask["type"]:
        case "all":
            return True
        case "causal":
            return s <= at
        case "sliding_window":
            return at - mask["left"] <= s <= at + mask["right"]
        case "prefix":
            return s < mask["n"]
    return {"and": all, "or": any}[mask["type"]](sees(m, t, s, T, S) for m in mask["of"])


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def rotate(x, positions, base=10000, dims=0, interleaved=False, scaling="none", factor=1):
    """Turns x (..., heads, length, D) by its positions, pairs being complex numbers."""
    dims = dims or x.shape[-1]
    if scaling == "ntk":
        base *= factor ** (dims / (dims - 2))
    positions = positions / factor if scaling == "linear" else positions.double()
    angles = positions[..., None] * torch.tensor(float(base)) ** (-torch.arange(0, dims, 2) / dims)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    turned, rest = x[..., :dims], x[..., dims:]
    pairs = turned.unflatten(-1, (-1, 2)) if interleaved else torch.stack(turned.chunk(2, -1), -1)
    pairs = torch.view_as_complex(pairs.contiguous()) * torch.polar(torch.ones(()), angles)
    pairs = torch.view_as_real(pairs)
    turned = pairs.flatten(-2) if interleaved else torch.cat(pairs.unbind(-1), -1)
    return torch.cat([turned, rest], -1)


def slopes(heads):
    """ALiBi's: 2^(-8/H), 2^(-16/H), ...; not a power of two takes from the next one."""
    power = 2 ** int(math.log2(heads))
    first = [2 ** (-8 * (h + 1) / power) for h in range(power)]
    return first + [2 ** (-4 * (h + 1) / power) for h in range(0, 2 * power, 2)][:heads - power]


def t5_bucket(relative, buckets=32, max_distance=128, unidirectional=False):
    """The bucket of a key so many places after the query."""
    buckets, max_distance = buckets or 32, max_distance or 128
    bucket = 0
    if unidirectional:
        distance = max(-relative, 0)
    else:
        buckets //= 2
        bucket, distance = buckets * (relative > 0), abs(relative)
    exact = buckets // 2
    if distance < exact:
        return bucket + distance
    grown = exact + int(math.log(distance / exact) / math.log(max_distance / exact) * (buckets - exact))
    return bucket + min(grown, buckets - 1)


class Torch(nn.MultiheadAttention):
    """nn.MultiheadAttention. The keys that it sees are keep (B, 1, 1, S), or the first lengths () keys without a batch."""

    def __init__(self, c):
        super().__init__(c["embed_dim"], c["num_heads"], bias=c["qkv_bias"], kdim=c.get("kdim"), vdim=c.get("vdim"),
                         add_bias_kv=c.get("add_bias_kv", False), add_zero_attn=c.get("add_zero_attn", False), batch_first=True)
        if c["qkv_bias"]:  # which begin as zeros
            nn.init.normal_(self.in_proj_bias)
            nn.init.normal_(self.out_proj.bias)
        self.c = c

    def forward(self, query, key=None, value=None, bias=None, keep=None, lengths=None):
        key = query if key is None else key
        value = key if value is None else value
        padding, n = None, query.shape[-2]
        if "mask" in self.c:  # causal
            bias = torch.full((n, n), -torch.inf).triu(1)
        if keep is not None:
            padding = ~keep[:, 0, 0]
        if lengths is not None:
            padding = torch.arange(key.shape[-2]) >= lengths
        return super().forward(query, key, value, key_padding_mask=padding, attn_mask=bias,
                               average_attn_weights=self.c.get("average_weights", False))


def make(c):
    return Torch(c) if c.get("layout") == "torch" else Attention(c)

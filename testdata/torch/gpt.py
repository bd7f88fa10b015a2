"""GPT-2, blocks and encoder–decoders in PyTorch: outputs, losses and gradients.

Writes gpt.safetensors beside itself, all in float64. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case, named <case>.<entry>:

    param.<name>   each parameter, named as in state_dict
    x, memory      the inputs; for the models int64 source, ids and targets
    lengths        int64, how much of each source or memory is no padding
    out            the result, the logits of a model
    dout           the gradient that flows into out; a model has its loss instead
    dx, dmemory    the gradients of the inputs
    loss           the mean cross entropy, without the targets −100
    grad.<name>    the gradient of each parameter

Parameters, inputs and dout are exact in float32, so that float32 can be held against
the same values.

init.<dtype>.encoder.<name> and init.<dtype>.decoder.<name> are the parameters of
nn.TransformerEncoderLayer and nn.TransformerDecoderLayer made one after the other after
torch.manual_seed(123), in float32 (f32) and in float64 (f64).

The GPT is written out here and has the names and the transposed weights of Hugging
Face's. The layers of the encoder–decoders are PyTorch's own. All parameters are
drawn from a normal distribution, since biases of 0 and gains of 1 hide mistakes.
"""
import math
import os

import torch
from torch import nn
from torch.nn import functional as F

import golden


class Conv1D(nn.Module):
    """A linear layer with the weight (in, out)."""

    def __init__(self, inner, outer, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inner, outer))
        self.bias = nn.Parameter(torch.empty(outer)) if bias else None

    def forward(self, x):
        y = x @ self.weight
        return y if self.bias is None else y + self.bias


class LayerNorm(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


def causal(tokens):
    """True where a query does not see a key."""
    return torch.ones(tokens, tokens).triu(1).bool()


def heads_of(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(-3, -2)


def attend(q, k, v, hidden):
    """Attention of heads; there may be fewer of k and v."""
    k, v = (x.repeat_interleave(q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(hidden, -math.inf)
    return (scores.softmax(-1) @ v).transpose(-3, -2).flatten(-2)


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, bias):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        self.widths = [width, width // heads * kv_heads, width // heads * kv_heads]
        self.c_attn = Conv1D(width, sum(self.widths), bias)
        self.c_proj = Conv1D(width, width, bias)

    def forward(self, x):
        q, k, v = self.c_attn(x).split(self.widths, -1)
        q, k, v = heads_of(q, self.heads), heads_of(k, self.kv_heads), heads_of(v, self.kv_heads)
        return self.c_proj(attend(q, k, v, causal(x.shape[-2])))


class MLP(nn.Module):
    def __init__(self, width, hidden, activation, bias):
        super().__init__()
        self.approximate = "tanh" if activation == "gelu_new" else "none"
        self.c_fc = Conv1D(width, hidden, bias)
        self.c_proj = Conv1D(hidden, width, bias)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate=self.approximate))


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden, activation, bias, post_norm=False):
        super().__init__()
        self.post_norm = post_norm
        self.ln_1 = LayerNorm(width, bias)
        self.attn = Attention(width, heads, kv_heads, bias)
        self.ln_2 = LayerNorm(width, bias)
        self.mlp = MLP(width, hidden, activation, bias)

    def forward(self, x):
        if self.post_norm:
            x = self.ln_1(x + self.attn(x))
            return self.ln_2(x + self.mlp(x))
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab=13, context=11, width=12, layers=2, heads=3, kv_heads=None, hidden=None,
                 activation="gelu_new", bias=True, tied=True):
        super().__init__()
        block = (width, heads, kv_heads or heads, hidden or 4 * width, activation, bias)
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocab, width),
            "wpe": nn.Embedding(context, width),
            "h": nn.ModuleList(Block(*block) for _ in range(layers)),
            "ln_f": LayerNorm(width, bias),
        })
        self.lm_head = None if tied else nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        t = self.transformer
        x = t["wte"](ids) + t["wpe"](torch.arange(ids.shape[-1]))
        for block in t["h"]:
            x = block(x)
        x = t["ln_f"](x)
        return x @ t["wte"].weight.T if self.lm_head is None else self.lm_head(x)


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight


def rotate(x):
    """Rotary positions in Llama's order: element i with element i + D/2."""
    half = x.shape[-1] // 2
    angles = torch.arange(x.shape[-2])[:, None] * 10000.0 ** (-torch.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


class LlamaBlock(nn.Module):
    def __init__(self, width=12, heads=6, kv_heads=2, hidden=17):
        super().__init__()
        self.heads, self.kv_heads = heads, kv_heads
        linear = lambda inner, outer: nn.Linear(inner, outer, bias=False)
        kv = width // heads * kv_heads
        self.input_layernorm = RMSNorm(width)
        self.self_attn = nn.ModuleDict({"q_proj": linear(width, width), "k_proj": linear(width, kv),
                                        "v_proj": linear(width, kv), "o_proj": linear(width, width)})
        self.post_attention_layernorm = RMSNorm(width)
        self.mlp = nn.ModuleDict({"gate_proj": linear(width, hidden), "up_proj": linear(width, hidden),
                                  "down_proj": linear(hidden, width)})

    def forward(self, x):
        a, m, n = self.self_attn, self.mlp, self.input_layernorm(x)
        q, k = rotate(heads_of(a["q_proj"](n), self.heads)), rotate(heads_of(a["k_proj"](n), self.kv_heads))
        x = x + a["o_proj"](attend(q, k, heads_of(a["v_proj"](n), self.kv_heads), causal(x.shape[-2])))
        n = self.post_attention_layernorm(x)
        return x + m["down_proj"](F.silu(m["gate_proj"](n)) * m["up_proj"](n))


def padding(lengths, tokens):
    return None if lengths is None else torch.arange(tokens) >= lengths[:, None]


class Encoder(nn.TransformerEncoderLayer):
    def forward(self, x, lengths):
        return super().forward(x, src_key_padding_mask=padding(lengths, x.shape[-2]))


class Decoder(nn.TransformerDecoderLayer):
    def forward(self, x, memory, lengths):
        return super().forward(x, memory, tgt_mask=causal(x.shape[-2]),
                               memory_key_padding_mask=padding(lengths, memory.shape[-2]))


def sinusoids(tokens, width):
    angles = torch.arange(tokens)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


class Seq2Seq(nn.Module):
    def __init__(self, source_vocab, target_vocab, norm_first, sinusoidal=False, shared=False, tied=False, layers=(1, 1),
                 context=7, width=12, heads=3, hidden=17):
        super().__init__()
        if shared:
            self.embedding = nn.Embedding(source_vocab, width)
        else:
            self.source, self.target = nn.Embedding(source_vocab, width), nn.Embedding(target_vocab, width)
        if not sinusoidal:
            self.source_positions, self.target_positions = nn.Embedding(context, width), nn.Embedding(context, width)
        self.transformer = nn.Transformer(width, heads, *layers, hidden, 0.0, "gelu", norm_first=norm_first, batch_first=True)
        self.output = None if tied else nn.Linear(width, target_vocab)
        self.width, self.shared, self.sinusoidal = width, shared, sinusoidal

    def forward(self, source, target, lengths):
        tables = [self.embedding] * 2 if self.shared else [self.source, self.target]
        x, y = (table(ids) for table, ids in zip(tables, (source, target)))
        if self.sinusoidal:
            x, y = (z * math.sqrt(self.width) + sinusoids(z.shape[-2], self.width) for z in (x, y))
        else:
            x = x + self.source_positions(torch.arange(x.shape[-2]))
            y = y + self.target_positions(torch.arange(y.shape[-2]))
        hidden = padding(lengths, source.shape[-1])
        y = self.transformer(x, y, tgt_mask=causal(target.shape[-1]), src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
        return y @ tables[1].weight.T if self.output is None else self.output(y)


def layer(cls, norm_first, activation="gelu", width=12, heads=3, hidden=17):
    return cls(width, heads, hidden, 0.0, activation, batch_first=True, norm_first=norm_first)


def ids(vocab, *shape):
    return torch.randint(vocab, shape)


def some(targets):
    targets[..., 1] = -100
    return targets


def n(*shape):
    """Normal numbers that are exact in float32."""
    return torch.randn(shape, dtype=torch.float32).to(torch.float64)


t = torch.tensor

# case: (how to make the module, its inputs by name in order, the targets of a model)
CASES = {
    "gpt": (lambda: GPT(), lambda: {"ids": ids(13, 2, 7)}, lambda: ids(13, 2, 7)),
    "gpt_no_bias": (lambda: GPT(bias=False), lambda: {"ids": ids(13, 2, 7)}, lambda: some(ids(13, 2, 7))),
    "gpt_untied": (lambda: GPT(tied=False), lambda: {"ids": ids(13, 3, 11)}, lambda: some(ids(13, 3, 11))),
    "gpt_untied_no_bias": (lambda: GPT(tied=False, bias=False), lambda: {"ids": ids(13, 2, 5)}, lambda: ids(13, 2, 5)),
    "gpt_gelu": (lambda: GPT(activation="gelu", hidden=17), lambda: {"ids": ids(13, 2, 5)}, lambda: ids(13, 2, 5)),
    "gpt_grouped": (lambda: GPT(heads=6, kv_heads=2, layers=1), lambda: {"ids": ids(13, 2, 7)}, lambda: ids(13, 2, 7)),
    "gpt_alone": (lambda: GPT(), lambda: {"ids": ids(13, 5)}, lambda: ids(13, 5)),
    "gpt_one_token": (lambda: GPT(), lambda: {"ids": ids(13, 2, 1)}, lambda: ids(13, 2, 1)),
    "block": (lambda: Block(12, 3, 3, 17, "gelu", True), lambda: {"x": n(2, 7, 12)}, None),
    "block_post_norm": (lambda: Block(12, 3, 3, 17, "gelu_new", True, True), lambda: {"x": n(2, 7, 12)}, None),
    "block_llama": (lambda: LlamaBlock(), lambda: {"x": n(2, 7, 12)}, None),
    "encoder_pre_norm": (lambda: layer(Encoder, True), lambda: {"x": n(3, 7, 12), "lengths": t([7, 3, 5])}, None),
    "encoder_post_norm": (lambda: layer(Encoder, False, "relu"), lambda: {"x": n(2, 7, 12), "lengths": None}, None),
    "decoder_pre_norm": (lambda: layer(Decoder, True),
                         lambda: {"x": n(3, 5, 12), "memory": n(3, 7, 12), "lengths": t([2, 7, 5])}, None),
    "decoder_post_norm": (lambda: layer(Decoder, False),
                          lambda: {"x": n(2, 7, 12), "memory": n(2, 5, 12), "lengths": None}, None),
    "seq2seq_pre_norm": (lambda: Seq2Seq(13, 11, True, layers=(2, 1)),
                         lambda: {"source": ids(13, 3, 7), "ids": ids(11, 3, 5), "lengths": t([7, 2, 5])},
                         lambda: some(ids(11, 3, 5))),
    "seq2seq_post_norm": (lambda: Seq2Seq(13, 11, False, sinusoidal=True, tied=True, layers=(1, 2)),
                          lambda: {"source": ids(13, 2, 3), "ids": ids(11, 2, 5), "lengths": None}, lambda: ids(11, 2, 5)),
    "seq2seq_shared": (lambda: Seq2Seq(13, 13, True, sinusoidal=True, shared=True, tied=True),
                       lambda: {"source": ids(13, 2, 7), "ids": ids(13, 2, 5), "lengths": t([4, 7])}, lambda: ids(13, 2, 5)),
}


def record(module, inputs, targets):
    """Returns a dict of everything one forward and backward pass gives."""
    for name, p in module.named_parameters():
        gain = p.dim() == 1 and name.endswith("weight")
        p.data = (0.25 * n(*p.shape) + gain).float().double()
    for x in inputs.values():
        if x is not None:
            x.requires_grad_(x.is_floating_point())
    got = {}
    out = module(*inputs.values())
    if targets is None:
        got["dout"] = n(*out.shape)
        out.backward(got["dout"])
    else:
        got["targets"] = targets
        got["loss"] = F.cross_entropy(out.flatten(0, -2), targets.flatten())
        got["loss"].backward()
    got.update({f"param.{name}": p for name, p in module.named_parameters()})
    got.update({f"grad.{name}": p.grad for name, p in module.named_parameters()})
    for name, x in inputs.items():
        if x is not None:
            got[name] = x
            if x.grad is not None:
                got["d" + name] = x.grad
    return {**got, "out": out}


def main():
    torch.set_default_dtype(torch.float64)
    out = {}
    for case, (make, inputs, targets) in CASES.items():
        torch.manual_seed(20190214)
        for entry, value in record(make(), inputs(), targets() if targets else None).items():
            out[f"{case}.{entry}"] = value
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        for name, cls in (("encoder", nn.TransformerEncoderLayer), ("decoder", nn.TransformerDecoderLayer)):
            for entry, value in cls(6, 3, 5).state_dict().items():
                out[f"init.{label}.{name}.{entry}"] = value
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpt.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

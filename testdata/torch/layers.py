"""The chapter's attention layers in PyTorch: outputs, weights and gradients.

Writes layers.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case and dtype (f32, f64), named <case>.<dtype>.<entry>:

    param.<name>   each parameter, named as in state_dict
    x              the input; for additive also key, for the model int64 ids
    out, weights   the context vectors (or logits) and the attention weights
    dout           the gradient that flows into out
    dx, dkey       the gradients of the inputs
    grad.<name>    the gradient of each parameter

init.<dtype>.<layer>.<name> are the parameters of layers made one after the other
after torch.manual_seed(123).

Sizes are different primes where the layer allows it, so that swapped axes show.
"""
import os

import torch
from torch import nn

import golden


def attend(queries, keys, values, hidden=None):
    """Scaled dot-product attention; hidden is 1 where a key is not seen."""
    scores = queries @ keys.transpose(-2, -1)
    if hidden is not None:
        scores = scores.masked_fill(hidden.bool(), -torch.inf)
    weights = torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1)
    return weights @ values, weights


def later(tokens):
    """1 above the diagonal: the keys after each query."""
    return torch.triu(torch.ones(tokens, tokens), diagonal=1)


class Simple(nn.Module):
    def forward(self, x):
        weights = torch.softmax(x @ x.transpose(-2, -1), dim=-1)
        return weights @ x, weights


class SelfAttentionV1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x):
        return attend(x @ self.W_query, x @ self.W_key, x @ self.W_value)


class SelfAttentionV2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        return attend(self.W_query(x), self.W_key(x), self.W_value(x))


class CausalAttention(SelfAttentionV2):
    def forward(self, x):
        return attend(self.W_query(x), self.W_key(x), self.W_value(x), later(x.shape[-2]))


class Wrapper(nn.Module):
    def __init__(self, d_in, d_out, num_heads, qkv_bias=False):
        super().__init__()
        self.heads = nn.ModuleList(CausalAttention(d_in, d_out, qkv_bias) for _ in range(num_heads))

    def forward(self, x):
        outs, weights = zip(*(head(x) for head in self.heads))
        return torch.cat(outs, dim=-1), torch.stack(weights, dim=-3)


class MultiHeadAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads, qkv_bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)

    def forward(self, x):
        q, k, v = (self.split(w(x)) for w in (self.W_query, self.W_key, self.W_value))
        out, weights = attend(q, k, v, later(x.shape[-2]))
        return self.out_proj(out.transpose(-3, -2).flatten(-2)), weights


class Additive(nn.Module):
    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.W_query = nn.Linear(d_query, d_attn, bias=False)
        self.W_key = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, key):
        pairs = self.W_query(query).unsqueeze(-2) + self.W_key(key).unsqueeze(-3)
        weights = torch.softmax(self.v(torch.tanh(pairs)).squeeze(-1), dim=-1)
        return weights @ key, weights


class LanguageModel(nn.Module):
    def __init__(self, vocab, context, width, d_out, num_heads):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(context, width)
        self.attention = MultiHeadAttention(width, d_out, num_heads)
        self.output = nn.Linear(d_out, vocab)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[-1]))
        context, weights = self.attention(x)
        return self.output(context), weights


# case: (how to make the layer, shapes of its inputs)
CASES = {
    "simple": (lambda: Simple(), [(5, 3)]),
    "simple_batch": (lambda: Simple(), [(2, 5, 3)]),
    "self_v1": (lambda: SelfAttentionV1(3, 7), [(5, 3)]),
    "self_v1_batch": (lambda: SelfAttentionV1(3, 7), [(2, 5, 3)]),
    "self_v2": (lambda: SelfAttentionV2(3, 7), [(5, 3)]),
    "self_v2_bias_batch": (lambda: SelfAttentionV2(3, 7, True), [(2, 5, 3)]),
    "causal": (lambda: CausalAttention(5, 3), [(7, 5)]),
    "causal_batch": (lambda: CausalAttention(5, 3), [(2, 7, 5)]),
    "causal_bias": (lambda: CausalAttention(5, 3, True), [(7, 5)]),
    "causal_bias_batch": (lambda: CausalAttention(5, 3, True), [(2, 7, 5)]),
    "multi_head_wrapper": (lambda: Wrapper(5, 2, 3), [(7, 5)]),
    "multi_head_wrapper_bias_batch": (lambda: Wrapper(5, 2, 3, True), [(2, 7, 5)]),
    "multi_head": (lambda: MultiHeadAttention(5, 6, 2), [(7, 5)]),
    "multi_head_bias": (lambda: MultiHeadAttention(5, 6, 2, True), [(7, 5)]),
    "multi_head_batch": (lambda: MultiHeadAttention(5, 6, 3), [(2, 7, 5)]),
    "multi_head_bias_batch": (lambda: MultiHeadAttention(5, 6, 3, True), [(2, 7, 5)]),
    "multi_head_narrow": (lambda: MultiHeadAttention(2, 3, 3), [(5, 2)]),
    "additive": (lambda: Additive(3, 5, 11), [(2, 3), (7, 5)]),
    "additive_batch": (lambda: Additive(3, 5, 11), [(3, 2, 3), (3, 7, 5)]),
}


def record(layer, inputs):
    """Returns a dict of everything one forward and backward pass gives."""
    for x in inputs:
        x.requires_grad_(x.is_floating_point())
    out, weights = layer(*inputs)
    dout = torch.randn(out.shape)
    out.backward(dout)
    got = {f"param.{n}": p for n, p in layer.state_dict().items()}
    got.update({f"grad.{n}": p.grad for n, p in layer.named_parameters()})
    for name, x in zip(("x", "key"), inputs):
        got[name] = x
        if x.grad is not None:
            got["d" + name] = x.grad
    return {**got, "out": out, "weights": weights, "dout": dout}


def initial():
    """Parameters of layers made one after the other, from one seed."""
    torch.manual_seed(123)
    made = {
        "v2": SelfAttentionV2(3, 2),
        "v2_bias": SelfAttentionV2(3, 7, True),
        "v1": SelfAttentionV1(3, 2),
        "causal": CausalAttention(5, 3, True),
        "wrapper": Wrapper(5, 2, 3, True),
        "mha": MultiHeadAttention(11, 6, 2, True),
        "additive": Additive(3, 5, 11),
        "model": LanguageModel(13, 5, 8, 6, 3),
    }
    return {f"{layer}.{n}": p for layer, module in made.items() for n, p in module.state_dict().items()}


def main():
    out = {}
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(20170612)
        for case, (make, shapes) in CASES.items():
            for entry, t in record(make(), [torch.randn(s) for s in shapes]).items():
                out[f"{case}.{label}.{entry}"] = t
        model, ids = LanguageModel(13, 7, 8, 6, 3), torch.randint(13, (2, 5))
        for entry, t in record(model, [ids]).items():
            out[f"model.{label}.{entry}"] = t
        for name, t in initial().items():
            out[f"init.{label}.{name}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

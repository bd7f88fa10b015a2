"""Reference runs of every layer for `attention apply`.

Writes ../apply/<case>/: layer.json, w.safetensors, in.safetensors and
out.safetensors, which are the four files of one call of the command. Made with
torch 1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11; the output files'
metadata repeats the version.

The weights file is the layer's state_dict, so the causal layers' holds the
buffer `mask` too. Values are float64, except in the case half, whose tensors are
F16, BF16 and F32 and whose output is float32. Lengths that need not agree
are different, so that a swapped axis cannot pass.
"""
import json
import os

import torch
from torch import nn

import golden

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apply")
SIZES = dict(d_in=5, d_out=6, context_length=11)


def attend(q, k, v, scale, causal=False):
    """softmax(mask(q·kᵀ)·scale) and its product with v."""
    scores = q @ k.transpose(-2, -1)
    if causal:
        hidden = torch.ones(scores.shape[-2:]).triu(1).bool()
        scores = scores.masked_fill(hidden, -torch.inf)
    weights = torch.softmax(scores * scale, dim=-1)
    return weights @ v, weights


class Simple(nn.Module):
    def __init__(self, c):
        super().__init__()

    def forward(self, x):
        return attend(x, x, x, 1)


class SelfV1(nn.Module):
    def __init__(self, c):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.rand(c["d_in"], c["d_out"])))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return attend(q, k, v, q.shape[-1] ** -0.5)


class SelfV2(nn.Module):
    causal = False

    def __init__(self, c):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(c["d_in"], c["d_out"], bias=c.get("qkv_bias", False)))

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        return attend(q, k, v, q.shape[-1] ** -0.5, self.causal)


class Causal(SelfV2):
    causal = True

    def __init__(self, c):
        super().__init__(c)
        n = c["context_length"]
        self.register_buffer("mask", torch.ones(n, n).triu(1))


class Wrapper(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads = nn.ModuleList(Causal(c) for _ in range(c["num_heads"]))

    def forward(self, x):
        out, weights = zip(*(head(x) for head in self.heads))
        return torch.cat(out, dim=-1), torch.stack(weights, dim=-3)


class MultiHead(Causal):
    def __init__(self, c):
        super().__init__(c)
        self.num_heads = c["num_heads"]
        self.out_proj = nn.Linear(c["d_out"], c["d_out"])

    def forward(self, x):
        def split(y):
            return y.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)

        q, k, v = split(self.W_query(x)), split(self.W_key(x)), split(self.W_value(x))
        out, weights = attend(q, k, v, q.shape[-1] ** -0.5, True)
        return self.out_proj(out.transpose(-3, -2).flatten(-2)), weights


class Additive(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.W_query = nn.Linear(c["d_query"], c["d_attn"], bias=False)
        self.W_key = nn.Linear(c["d_key"], c["d_attn"], bias=False)
        self.v = nn.Linear(c["d_attn"], 1, bias=False)

    def forward(self, query, key):
        hidden = torch.tanh(self.W_query(query).unsqueeze(-2) + self.W_key(key).unsqueeze(-3))
        weights = torch.softmax(self.v(hidden).squeeze(-1), dim=-1)
        return weights @ key, weights


LAYERS = {"simple": Simple, "self_v1": SelfV1, "self_v2": SelfV2, "causal": Causal,
          "multi_head_wrapper": Wrapper, "multi_head": MultiHead, "additive": Additive}
X, BATCH = {"x": (7, 5)}, {"x": (2, 7, 5)}
PAIR = {"query": (4, 5), "key": (7, 3)}
ONE = dict(d_in=1, d_out=1, context_length=1, num_heads=1, qkv_bias=True)

# name of the case: (layer.json, input shapes)
CASES = {
    "simple": (dict(layer="simple", d_in=5), X),
    "simple_batch": (dict(layer="simple"), BATCH),
    "self_v1": (dict(layer="self_v1", d_in=5, d_out=6), X),
    "self_v1_batch": (dict(layer="self_v1", d_in=5, d_out=6), BATCH),
    "self_v2": (dict(layer="self_v2", d_in=5, d_out=6), X),
    "self_v2_batch": (dict(layer="self_v2", d_in=5, d_out=6, qkv_bias=True), BATCH),
    "causal": (dict(layer="causal", **SIZES, dropout=0.5), X),
    "causal_batch": (dict(layer="causal", **SIZES, qkv_bias=True), BATCH),
    "multi_head_wrapper": (dict(layer="multi_head_wrapper", **SIZES, num_heads=3), X),
    "multi_head_wrapper_batch": (dict(layer="multi_head_wrapper", **SIZES, num_heads=3, qkv_bias=True), BATCH),
    "multi_head": (dict(layer="multi_head", **SIZES, num_heads=3), X),
    "multi_head_batch": (dict(layer="multi_head", **SIZES, num_heads=3, qkv_bias=True, dropout=0), BATCH),
    "multi_head_one": (dict(layer="multi_head", **ONE), {"x": (1, 1)}),
    "multi_head_wrapper_one": (dict(layer="multi_head_wrapper", **ONE), {"x": (1, 1, 1)}),
    "additive": (dict(layer="additive", d_query=5, d_key=3, d_attn=6), PAIR),
    "additive_batch": (dict(layer="additive", d_query=5, d_key=3, d_attn=6), {k: (2, *s) for k, s in PAIR.items()}),
    "additive_one": (dict(layer="additive", d_query=1, d_key=1, d_attn=1), {"query": (1, 1), "key": (1, 1)}),
    "half": (dict(layer="causal", d_in=5, d_out=6, context_length=7, qkv_bias=True), BATCH),
}


def mixed(state):
    """Gives the tensors F16, BF16 and F32 in turn."""
    dtypes = [torch.float16, torch.bfloat16, torch.float32]
    return {name: t.to(dtypes[i % 3]) for i, (name, t) in enumerate(state.items())}


def main():
    torch.set_default_dtype(torch.float64)
    for seed, (name, (config, shapes)) in enumerate(CASES.items()):
        torch.manual_seed(seed)
        layer = LAYERS[config["layer"]](config)
        inputs = {key: torch.randn(shape) for key, shape in shapes.items()}
        inputs["grad_output"] = torch.randn_like(layer(*inputs.values())[0])
        state = layer.state_dict()
        if name == "half":
            state, inputs = mixed(state), mixed(inputs)
            layer.load_state_dict(state)
        widened = {key: t.double().requires_grad_(key in shapes) for key, t in inputs.items()}
        out, weights = layer(*(widened[key] for key in shapes))
        out.backward(widened["grad_output"])
        result = {"output": out, "weights": weights}
        result.update({"grad." + key: widened[key].grad for key in shapes})
        result.update({"grad." + key: p.grad for key, p in layer.named_parameters()})
        if name == "half":
            result = {key: t.float() for key, t in result.items()}
        path = os.path.join(OUT, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "layer.json"), "w") as f:
            f.write(json.dumps(config) + "\n")
        if state:
            golden.save(os.path.join(path, "w.safetensors"), state)
        golden.save(os.path.join(path, "in.safetensors"), inputs)
        golden.save(os.path.join(path, "out.safetensors"), result, {"torch": torch.__version__})


if __name__ == "__main__":
    main()

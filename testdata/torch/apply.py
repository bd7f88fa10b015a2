"""Reference runs of every layer for `attention apply`; apply_attention.py has the layer
attention.

Writes ../apply/<case>/: layer.json, w.safetensors, in.safetensors and
out.safetensors, which are the four files of one call of the command. Made with
torch 1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11; the output files'
metadata repeats the version.

The weights file is the layer's state_dict, so the causal layers' holds the
buffer `mask` too. Values are float64, except in the case half, whose tensors are
F16, BF16 and F32 and whose output is float32, and masks and positions, which are
of all types. Lengths that need not agree are different, so that a swapped axis
cannot pass.

The case attention_renormalize computes its weights as the chapter does: those of
hidden keys are zeroed, and the others divided by their sum. Its layer.json does
not say so, since that is the softmax over the visible keys.
"""
import json
import os

import torch
from torch import nn

import apply_attention
import golden
import latentattention
import linearlayers

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "apply")
SIZES = dict(embed_dim=5, out_dim=6, context_length=11)


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
            setattr(self, name, nn.Parameter(torch.rand(c["embed_dim"], c["out_dim"])))

    def forward(self, x):
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        return attend(q, k, v, q.shape[-1] ** -0.5)


class SelfV2(nn.Module):
    causal = False

    def __init__(self, c):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(c["embed_dim"], c["out_dim"], bias=c.get("qkv_bias", False)))

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
        self.out_proj = nn.Linear(c["out_dim"], c["out_dim"])

    def forward(self, x):
        def split(y):
            return y.unflatten(-1, (self.num_heads, -1)).transpose(-3, -2)

        q, k, v = split(self.W_query(x)), split(self.W_key(x)), split(self.W_value(x))
        out, weights = attend(q, k, v, q.shape[-1] ** -0.5, True)
        return self.out_proj(out.transpose(-3, -2).flatten(-2)), weights


class Additive(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.W_query = nn.Linear(c["query_dim"], c["attn_dim"], bias=False)
        self.W_key = nn.Linear(c["key_dim"], c["attn_dim"], bias=False)
        self.v = nn.Linear(c["attn_dim"], 1, bias=False)

    def forward(self, query, key):
        hidden = torch.tanh(self.W_query(query).unsqueeze(-2) + self.W_key(key).unsqueeze(-3))
        weights = torch.softmax(self.v(hidden).squeeze(-1), dim=-1)
        return weights @ key, weights


class Gain(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(width))


class LinearAttention(nn.Module):
    """With the parts of linearlayers.py."""

    def __init__(self, c):
        super().__init__()
        E, H = c["embed_dim"], c["num_heads"]
        K, D = c.get("num_kv_heads", H), c.get("head_dim", E // H)
        Dv = c.get("value_dim", D)
        words = {"features": "elu", "conv_size": "conv", "qk_norm": "l2", "decay": c.get("decay")}
        self.form = K, D, Dv, {words.get(key, key) for key in c}

        def linear(name, width):
            self.add_module(name, nn.Linear(E, width, bias=False))

        linear("q_proj", H * D), linear("k_proj", K * D), linear("v_proj", K * Dv)
        if c.get("delta"):
            linear("b_proj", K)
        if c.get("decay") == "head":
            linear("a_proj", K)
            self.A_log, self.dt_bias = nn.Parameter(torch.rand(K)), nn.Parameter(torch.randn(K))
        if c.get("decay") == "channel":
            self.gk_proj = nn.Sequential(nn.Linear(E, linearlayers.RANK, bias=False), nn.Linear(linearlayers.RANK, K * D))
        if c.get("conv_size"):
            for name, width in (("q", H * D), ("k", K * D), ("v", K * Dv)):
                conv = nn.Conv1d(width, width, c["conv_size"], groups=width, bias=False)
                self.add_module(name + "_conv1d", conv)
        if c.get("gate"):
            linear("g_proj", H * Dv)
        if c.get("norm"):
            self.o_norm = Gain(Dv)
        self.o_proj = nn.Linear(H * Dv, E, bias=False)

    def forward(self, x, lengths=None):
        batch = x if x.dim() == 3 else x[None]
        out, weights = linearlayers.forward(dict(self.named_parameters()), batch, *self.form, lengths=lengths)
        return (out, weights) if x.dim() == 3 else (out[0], weights[0])


class LatentAttention(nn.Module):
    """With the formulas of latentattention.py, causal."""

    def __init__(self, c):
        super().__init__()
        E, H, c = c["embed_dim"], c["num_heads"], c["latent"]
        P, R, Dv, N = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"], c["kv_lora_rank"]
        self.form = dict(heads=H, nope=P, value=Dv, scale=(P + R) ** -0.5)

        def linear(name, inner, outer):
            self.add_module(name, nn.Linear(inner, outer, bias=False))

        rank = c.get("q_lora_rank")
        if rank:
            linear("q_a_proj", E, rank), linear("q_b_proj", rank, H * (P + R))
            self.q_a_layernorm = Gain(rank)
        else:
            linear("q_proj", E, H * (P + R))
        linear("kv_a_proj_with_mqa", E, N + R), linear("kv_b_proj", N, H * (P + Dv)), linear("o_proj", H * Dv, E)
        self.kv_a_layernorm = Gain(N)

    def forward(self, query, lengths=None):
        batch = query if query.dim() == 3 else query[None]
        out, weights = latentattention.forward(dict(self.named_parameters()), batch, **self.form, lengths=lengths)
        return (out, weights) if query.dim() == 3 else (out[0], weights[0])


def attention(c):
    return LatentAttention(c) if "latent" in c else apply_attention.make(c)


LAYERS = {"simple": Simple, "self_v1": SelfV1, "self_v2": SelfV2, "causal": Causal,
          "multi_head_wrapper": Wrapper, "multi_head": MultiHead, "additive": Additive,
          "attention": attention, "linear_attention": LinearAttention}
X, BATCH = {"x": (7, 5)}, {"x": (2, 7, 5)}
PAIR = {"query": (4, 5), "key": (7, 3)}
ONE = dict(embed_dim=1, out_dim=1, context_length=1, num_heads=1, qkv_bias=True)

# name of the case: (layer.json, input shapes)
CASES = {
    "simple": (dict(layer="simple", embed_dim=5), X),
    "simple_batch": (dict(layer="simple"), BATCH),
    "self_v1": (dict(layer="self_v1", embed_dim=5, out_dim=6), X),
    "self_v1_batch": (dict(layer="self_v1", embed_dim=5, out_dim=6), BATCH),
    "self_v2": (dict(layer="self_v2", embed_dim=5, out_dim=6), X),
    "self_v2_batch": (dict(layer="self_v2", embed_dim=5, out_dim=6, qkv_bias=True), BATCH),
    "causal": (dict(layer="causal", **SIZES, dropout=0.5), X),
    "causal_batch": (dict(layer="causal", **SIZES, qkv_bias=True), BATCH),
    "multi_head_wrapper": (dict(layer="multi_head_wrapper", **SIZES, num_heads=3), X),
    "multi_head_wrapper_batch": (dict(layer="multi_head_wrapper", **SIZES, num_heads=3, qkv_bias=True), BATCH),
    "multi_head": (dict(layer="multi_head", **SIZES, num_heads=3), X),
    "multi_head_batch": (dict(layer="multi_head", **SIZES, num_heads=3, qkv_bias=True, dropout=0), BATCH),
    "multi_head_one": (dict(layer="multi_head", **ONE), {"x": (1, 1)}),
    "multi_head_wrapper_one": (dict(layer="multi_head_wrapper", **ONE), {"x": (1, 1, 1)}),
    "additive": (dict(layer="additive", query_dim=5, key_dim=3, attn_dim=6), PAIR),
    "additive_batch": (dict(layer="additive", query_dim=5, key_dim=3, attn_dim=6), {k: (2, *s) for k, s in PAIR.items()}),
    "additive_one": (dict(layer="additive", query_dim=1, key_dim=1, attn_dim=1), {"query": (1, 1), "key": (1, 1)}),
    "half": (dict(layer="causal", embed_dim=5, out_dim=6, context_length=7, qkv_bias=True), BATCH),
}


def bits(*shape, seed):
    """Three of four are 1."""
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed)) > 0.25


I8, I16, I32, U8 = torch.int8, torch.int16, torch.int32, torch.uint8
LINEAR = dict(layer="linear_attention", embed_dim=6)
BIG = 2 ** 53  # the first whole number whose successor is no float64
ATT = dict(layer="attention")
MHA = dict(**ATT, layout="torch", embed_dim=6, num_heads=3, out_bias=True)
FAR = {"query": (2, 5, 6), "key": (2, 7, 6)}
CAUSAL, LOWER = dict(type="causal"), dict(align="lower_right")


def window(left, right, **align):
    return dict(type="sliding_window", left=left, right=right, **align)


def either(*masks):
    return dict(type="or", of=masks)


def both(*masks):
    return dict(type="and", of=masks)


# name of the case: (layer.json, shapes of the inputs that have gradients, other inputs)
ATTENTION_CASES = {
    "attention": (dict(**ATT, embed_dim=6, num_heads=3), {"query": (7, 6)}, {}),
    "attention_one": (dict(**ATT, embed_dim=1, num_heads=1, qkv_bias=True, out_bias=True, mask=CAUSAL, dropout=0.5),
                      {"query": (1, 1), "bias": (1,)}, {"lengths": torch.tensor(1)}),
    "attention_torch": (dict(**MHA, qkv_bias=True, mask=CAUSAL), {"query": (2, 7, 6)}, {}),
    "attention_torch_widths": (
        dict(**MHA, qkv_bias=True, kdim=5, vdim=11, add_bias_kv=True, add_zero_attn=True, average_weights=True),
        {"query": (2, 3, 6), "key": (2, 7, 5), "value": (2, 7, 11), "bias": (3, 7)}, {"keep": bits(2, 1, 1, 7, seed=1)}),
    "attention_torch_cross": (dict(**dict(MHA, out_bias=False), qkv_bias=False), {"query": (5, 6), "key": (7, 6)},
                              {"lengths": torch.tensor(4, dtype=I8)}),
    "attention_gpt2": (dict(**ATT, layout="gpt2", embed_dim=6, num_heads=3, qkv_bias=True, out_bias=True, mask=CAUSAL,
                            context_length=7), {"query": (2, 7, 6)}, {"segments": BIG + torch.tensor([[0, 0, 1, 1, 1, 2, 2],
                                                                                                      [1, 0, 1, 0, 1, 1, 0]])}),
    "attention_gpt2_prefix": (
        dict(**ATT, layout="gpt2", embed_dim=6, num_heads=3,
             mask=either(both(CAUSAL | LOWER, window(1, 0, **LOWER)), dict(type="prefix", n=2))), FAR, {}),
    "attention_llama": (
        dict(**ATT, layout="llama", embed_dim=10, num_heads=6, num_kv_heads=3, head_dim=4, mask=both(CAUSAL, window(3, 1)),
             qk_norm="rms", qk_norm_eps=1e-5, rope=dict(base=500000)), {"query": (2, 7, 10)}, {}),
    "attention_llama_step": (
        dict(**ATT, layout="llama", embed_dim=10, num_heads=6, num_kv_heads=2, head_dim=4, qkv_bias=True,
             mask=CAUSAL | LOWER, **LOWER, rope=dict(scaling="linear", factor=2.5)), {"query": (3, 10), "key": (7, 10)}, {}),
    "attention_inputs": (
        dict(**ATT, embed_dim=6, out_dim=5, num_heads=3, head_dim=6, qkv_bias=True,
             mask=either(dict(CAUSAL, align="upper_left"), dict(type="prefix", n=6)),
             rope=dict(dims=4, interleaved=True, scaling="ntk", factor=3)), {**FAR, "bias": (2, 1, 5, 1)},
        {"keep": bits(3, 1, 7, seed=2).to(I32), "lengths": torch.tensor([6, 3]),
         "segments": torch.tensor([[1, 1, 2, 2, 9], [1, 2, 1, 2, 1]], dtype=I16),
         "key_segments": torch.tensor([[1, 1, 1, 2, 2, 2, 1], [2, 2, 1, 1, 1, 2, 2]], dtype=U8),
         "positions": torch.tensor([[0, 1, 5, 6, 40], [-2, 3, 4, 4, 5]]),
         "key_positions": torch.tensor([0, 1, 2, 5, 6, 7, 30], dtype=I8)}),
    "attention_self": (
        dict(**ATT, embed_dim=6, num_heads=2, num_kv_heads=1, head_dim=4, rope=dict(), add_zero_attn=True, relative_bias=dict(),
             mask=window(2, 3)), {"query": (2, 7, 6), "bias": (1, 7)},
        {"positions": torch.tensor([3, 4, 5, 0, 1, 2, 90], dtype=I32), "keep": bits(2, 1, 7, 7, seed=3).double()}),
    "attention_extras": (
        dict(**ATT, embed_dim=6, out_dim=11, num_heads=6, num_kv_heads=3, head_dim=5, value_dim=7, kdim=3, vdim=2,
             align="lower_right", scale=0.3, softcap=1.5, qk_norm="l2", alibi=True, sinks=True, add_bias_kv=True,
             gate=True, qkv_bias=True, relative_bias=dict(buckets=6, max_distance=5, unidirectional=True)),
        {"query": (2, 5, 6), "key": (2, 7, 3), "value": (2, 7, 2)}, {"lengths": torch.tensor([5, 0], dtype=I32)}),
    "attention_renormalize": (
        dict(**ATT, embed_dim=6, num_heads=3, mask=window(0, 1, align="upper_left"), renormalize=True, average_weights=True),
        {**FAR, "value": (2, 7, 6), "bias": (3, 5, 7)}, {"lengths": torch.tensor([7, 3])}),
    "attention_olmo2": (
        dict(**ATT, layout="llama", embed_dim=10, num_heads=6, num_kv_heads=3, head_dim=4, mask=CAUSAL, qk_norm="rms",
             qk_norm_whole=True, rope=dict(base=500000)), {"query": (2, 7, 10)}, {}),
    "attention_gemma3": (
        dict(**ATT, layout="llama", embed_dim=10, num_heads=4, num_kv_heads=2, head_dim=6, mask=both(CAUSAL, window(2, 0)),
             qk_norm="rms", qk_norm_offset=True, scale=0.3, rope=dict(scaling="linear", factor=8)), {"query": (2, 7, 10)}, {}),
}


def mixed(state):
    """Gives the tensors F16, BF16 and F32 in turn."""
    dtypes = [torch.float16, torch.bfloat16, torch.float32]
    return {name: t.to(dtypes[i % 3]) for i, (name, t) in enumerate(state.items())}


# The cases of linear_attention, as those of attention.
LINEAR_CASES = {
    "linear_attention": (dict(**LINEAR, num_heads=3, features="elu", normalize=True), {"x": (7, 6)}, {}),
    "linear_attention_channels": (
        dict(**LINEAR, num_heads=2, value_dim=5, decay="channel", norm=True, gate=True), {"x": (2, 19, 6)}, {}),
    "linear_attention_delta": (
        dict(**LINEAR, num_heads=2, num_kv_heads=1, conv_size=4, qk_norm=True, delta=True, decay="head", norm=True, gate=True),
        {"x": (2, 7, 6)}, {"lengths": torch.tensor([7, 3])}),
}

LATENT = dict(kv_lora_rank=5, qk_nope_head_dim=3, qk_rope_head_dim=4, v_head_dim=2)
LATENT_CASES = {
    "attention_latent": (dict(**ATT, embed_dim=6, num_heads=3, mask=CAUSAL, latent=LATENT), {"query": (7, 6)}, {}),
    "attention_latent_low_rank": (
        dict(**ATT, embed_dim=6, num_heads=3, mask=CAUSAL, latent=dict(**LATENT, q_lora_rank=7)), {"query": (2, 7, 6)},
        {"lengths": torch.tensor([7, 3])}),
}


# More cases of attention; a case's seed is its number.
LATER_CASES = {
    "attention_forget": (
        dict(**ATT, layout="llama", embed_dim=6, num_heads=4, num_kv_heads=2, head_dim=3, kdim=5, vdim=5,
             mask=CAUSAL | LOWER, **LOWER, forget=True, rope=dict(dims=2)),
        {"query": (2, 4, 6), "key": (2, 7, 5)}, {"lengths": torch.tensor([7, 5])}),
    "attention_sigmoid": (
        dict(**ATT, embed_dim=6, num_heads=3, qkv_bias=True, mask=CAUSAL, sigmoid=True, context_length=9),
        {"query": (2, 7, 6)}, {"lengths": torch.tensor([7, 0])}),
    "attention_sigmoid_bias": (dict(**ATT, embed_dim=6, num_heads=3, sigmoid=True, sigmoid_bias=-2.5), {"query": (7, 6)}, {}),
}


def main():
    torch.set_default_dtype(torch.float64)
    cases = {name: (*case, {}) for name, case in CASES.items()}
    cases |= ATTENTION_CASES | LINEAR_CASES | LATENT_CASES | LATER_CASES
    for seed, (name, (config, shapes, others)) in enumerate(cases.items()):
        torch.manual_seed(seed)
        layer = LAYERS[config["layer"]](config)
        inputs = {key: torch.randn(shape) for key, shape in shapes.items()}
        inputs["grad_output"] = torch.randn_like(layer(**inputs, **others)[0])
        state = layer.state_dict()
        if name == "half":
            state, inputs = mixed(state), mixed(inputs)
            layer.load_state_dict(state)
        widened = {key: t.double().requires_grad_(key in shapes) for key, t in inputs.items()}
        out, weights = layer(**{key: widened[key] for key in shapes}, **others)
        out.backward(widened["grad_output"])
        result = {"output": out, "weights": weights}
        result.update({"grad." + key: widened[key].grad for key in shapes})
        result.update({"grad." + key: p.grad for key, p in layer.named_parameters()})
        if name == "half":
            result = {key: t.float() for key, t in result.items()}
        path = os.path.join(OUT, name)
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "layer.json"), "w") as f:
            f.write(json.dumps({key: v for key, v in config.items() if key != "renormalize"}) + "\n")
        if state:
            golden.save(os.path.join(path, "w.safetensors"), state)
        golden.save(os.path.join(path, "in.safetensors"), inputs | others)
        golden.save(os.path.join(path, "out.safetensors"), result, {"torch": torch.__version__})


if __name__ == "__main__":
    main()

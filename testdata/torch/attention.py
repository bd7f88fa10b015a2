"""Attention in PyTorch, with every option: outputs, weights and gradients.

Writes attention.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

What torch.nn.MultiheadAttention has is computed by it (the cases mha_…), the rest by
attention_formula.py. Inputs and parameters are float32 numbers and all else is computed
from them in float64, so one file is the reference for both types. For every case, named
<case>.<entry>:

    param.<name>          each parameter, in the case's layout
    query, key, value     the inputs; those that are missing are the one before
    bias                  what is added to the scores
    hidden, padding       true where a key is not seen, ([B, H,] T, S) and ([B,] S)
    starts, lengths       keys before a sequence's queries, and all that it has (B)
    segments, key_segments, positions, key_positions
    out, weights          weights ([B,] H, T, S); mean is theirs over the heads
    dout                  the gradient that flows into out
    dquery, dkey, dvalue, dbias, grad.<name>

init.<dtype>.<case>.<name> are the parameters of modules made one after the other
after torch.manual_seed(123).

Sizes are different primes where they can be, so that swapped axes show.
"""
import math
import os
from types import SimpleNamespace

import torch
from torch import nn

import golden
from attention_formula import attend, halves, l2, neighbours, rms, shapes

B, T, S = 2, 5, 7
PARTS = ("query", "key", "value")


def draw(*shape):
    return torch.randn(shape, dtype=torch.float32).double()


def leaf(t):
    return t.requires_grad_()


def parameter(shape):
    """Weights small enough that float32 keeps six digits of all that is computed."""
    return draw(*shape) / (4 if len(shape) == 2 else 1)


def mha(given="q", t=T, s=None, batch=B, masks=dict, heads=3, width=6, **options):
    """A case: given are the inputs that are tensors of their own."""
    layer = nn.MultiheadAttention(width, heads, batch_first=options.pop("batch_first", True), **options)
    for p in layer.parameters():
        p.data = parameter(p.shape)
    widths = (width, layer.kdim, layer.vdim)
    lead = (batch,) if batch else ()
    inputs = {name: leaf(draw(*lead, t if name == "query" else s or t, e))
              for name, e in zip(PARTS, widths) if name[0] in given}
    got, masks = dict(inputs), masks()
    if "attn_mask" in masks:
        name = "hidden" if masks["attn_mask"].dtype == torch.bool else "bias"
        got[name] = masks["attn_mask"] if name == "hidden" else leaf(masks["attn_mask"])
        masks["attn_mask"] = got[name].flatten(0, 1) if got[name].dim() == 4 else got[name]
    if "key_padding_mask" in masks:
        got["padding"] = masks["key_padding_mask"]
    query = inputs["query"]
    key = inputs.get("key", query)
    value = inputs.get("value", key)
    if not layer.batch_first and batch:
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    out, weights = layer(query, key, value, average_attn_weights=False, **masks)
    mean = layer(query, key, value, **masks)[1]
    if not layer.batch_first and batch:
        out = out.transpose(0, 1)
    got.update(backward(out, inputs, got.get("bias"), dict(layer.named_parameters())))
    return {**got, "weights": weights, "mean": mean}


def backward(out, inputs, bias, params):
    """The gradients of a random sum of out."""
    dout = draw(*out.shape)
    out.backward(dout)
    got = {"out": out, "dout": dout}
    got.update({f"d{name}": x.grad for name, x in inputs.items()})
    if bias is not None:
        got["dbias"] = bias.grad
    for name, p in params.items():
        got[f"param.{name}"], got[f"grad.{name}"] = p, p.grad
    return got


def later(t=T, s=S):
    return torch.ones(t, s).triu(1).bool()


def some(*shape):
    """True for some, never for the first of the last axis."""
    hidden = torch.rand(shape) < 0.4
    hidden[..., 0] = False
    return hidden


def infinite(*shape):
    return draw(*shape).masked_fill(some(*shape), -torch.inf)


def padding(*lengths):
    return torch.arange(S) >= torch.tensor(lengths).unsqueeze(1)


MHA = {
    "mha_self": lambda: mha(width=15),
    "mha_no_bias": lambda: mha(bias=False),
    "mha_one_head": lambda: mha(heads=1, width=7),
    "mha_sequence_first": lambda: mha("qk", s=S, batch_first=False),
    "mha_unbatched": lambda: mha(batch=None),
    "mha_cross": lambda: mha("qk", s=S),
    "mha_cross_three": lambda: mha("qkv", s=S),
    "mha_cross_value": lambda: mha("qv"),
    "mha_widths": lambda: mha("qkv", s=S, kdim=11, vdim=13),
    "mha_widths_no_bias": lambda: mha("qkv", s=S, kdim=11, vdim=13, bias=False),
    "mha_key_width": lambda: mha("qkv", s=S, kdim=11),
    "mha_widths_bias_kv": lambda: mha("qkv", s=S, kdim=11, vdim=13, add_bias_kv=True),
    "mha_bias_kv": lambda: mha("qk", s=S, add_bias_kv=True),
    "mha_zero_attn": lambda: mha("qk", s=S, add_zero_attn=True, bias=False),
    "mha_both": lambda: mha("qk", s=S, add_bias_kv=True, add_zero_attn=True),
    "mha_both_masked": lambda: mha("qk", s=S, add_bias_kv=True, add_zero_attn=True, masks=lambda: dict(
        attn_mask=some(T, S), key_padding_mask=padding(S, 3))),
    "mha_both_all_hidden": lambda: mha("qk", s=S, add_bias_kv=True, add_zero_attn=True, masks=lambda: dict(
        attn_mask=torch.ones(T, S).bool())),
    "mha_both_float_mask": lambda: mha("qk", s=S, add_bias_kv=True, add_zero_attn=True, masks=lambda: dict(
        attn_mask=infinite(B, 3, T, S))),
    "mha_padding": lambda: mha("qk", s=S, masks=lambda: dict(key_padding_mask=padding(3, S))),
    "mha_holes": lambda: mha("qk", s=S, masks=lambda: dict(key_padding_mask=some(B, S))),
    "mha_unbatched_padding": lambda: mha("qk", s=S, batch=None, masks=lambda: dict(
        attn_mask=some(T, S), key_padding_mask=padding(4)[0])),
    "mha_bool_mask": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=some(T, S))),
    "mha_bool_masks": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=some(B, 3, T, S))),
    "mha_float_mask": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=draw(T, S))),
    "mha_float_masks": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=draw(B, 3, T, S))),
    "mha_infinite_mask": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=infinite(T, S))),
    "mha_float_mask_padding": lambda: mha("qk", s=S, masks=lambda: dict(
        attn_mask=draw(T, S), key_padding_mask=padding(3, S))),
    "mha_causal": lambda: mha(t=S, masks=lambda: dict(attn_mask=later(S))),
    "mha_causal_upper_left": lambda: mha("qk", s=S, masks=lambda: dict(attn_mask=later())),
    "mha_causal_padding": lambda: mha(t=S, masks=lambda: dict(
        attn_mask=later(S), key_padding_mask=padding(S, 3))),
}


DEFAULTS = dict(
    given="q", t=T, s=None, batch=B, width=11, key_width=0, value_width=0, out=0, heads=6, kv_heads=0, dim=4, value_dim=0,
    qkv_bias=False, out_bias=False, layout="book", scale=0, softcap=0, shown=None, renormalize=False, offset=0, turn=None,
    rope_dims=0, base=10000.0, positions=None, key_positions=None, alibi=False, buckets=0, longest=128, decoder=False,
    norm=None, sinks=False, forget=False, gate=False, bias_kv=False, zero_attn=False, segments=None, key_segments=None,
    starts=None, lengths=None, bias=None, sigmoid=False, sigmoid_bias=0)


def written(**options):
    o = SimpleNamespace(**{**DEFAULTS, **options})
    o.key_width, o.value_width = o.key_width or o.width, o.value_width or o.width
    o.out, o.kv_heads, o.value_dim = o.out or o.width, o.kv_heads or o.heads, o.value_dim or o.dim
    p = {name: leaf(parameter(shape)) for name, shape in shapes(o).items()}
    lead = (o.batch,) if o.batch else ()
    inputs = {name: leaf(draw(*lead, o.t if name == "query" else o.s or o.t, e))
              for name, e in zip(PARTS, (o.width, o.key_width, o.value_width)) if name[0] in o.given}
    if o.bias is not None:
        o.bias = leaf(o.bias())
    query = inputs["query"]
    key = inputs.get("key", query)
    out, weights = attend(o, p, query, key, inputs.get("value", key))
    got = dict(inputs)
    for name in "segments", "key_segments", "positions", "key_positions", "starts", "lengths", "bias":
        if getattr(o, name) is not None:
            got[name] = getattr(o, name)
    got.update(backward(out, inputs, o.bias, p))
    return {**got, "weights": weights}


def causal(t, s):
    return s <= t


def window(left, right):
    return lambda t, s: (t - left <= s) & (s <= t + right)


def each(numbers):
    """A number of each sequence, beside (H, T, S)."""
    return numbers.view(-1, 1, 1, 1)


PLACES = torch.tensor([[3, 0, 4, 3, 11], [-2, 5, 100, 101, 0]])
KEY_PLACES = torch.tensor([2, 7, 1, 8, -2, 8, 1])
DOCUMENTS = torch.tensor([[4, 4, 4, 9, 9], [1, 2, 1, 2, 1]])
STARTS, PAST, LENGTHS = torch.tensor([2, -1]), torch.tensor([3, 0]), torch.tensor([S, 4])
KEY_DOCUMENTS = torch.tensor([[9, 9, 4, 4, 4, 7, 9], [1, 1, 1, 1, 2, 2, 2]])
CROSS = dict(given="qk", s=S)
THREE = dict(given="qkv", s=S, key_width=13, value_width=3)
EVERYTHING = dict(
    **THREE, out=17, kv_heads=2, dim=6, value_dim=5, qkv_bias=True, out_bias=True, scale=0.3, softcap=5, offset=2, turn=halves,
    rope_dims=4, alibi=True, buckets=8, longest=20, norm=rms, sinks=True, gate=True, bias_kv=True, zero_attn=True,
    shown=window(2, 1), bias=lambda: draw(B, 1, 1, S))

WRITTEN = {
    "grouped": dict(kv_heads=2),
    "multi_query": dict(kv_heads=1, qkv_bias=True),
    "grouped_cross": dict(**CROSS, kv_heads=3, shown=causal),
    "sizes": dict(**THREE, out=17, heads=3, dim=5, value_dim=7, qkv_bias=True, out_bias=True),
    "value_dim": dict(kv_heads=2, value_dim=3),
    "scale": dict(scale=0.71),
    "softcap": dict(softcap=1.5),
    "rope": dict(turn=halves),
    "rope_interleaved": dict(turn=neighbours, base=500.0),
    "rope_part": dict(turn=halves, dim=7, rope_dims=4, kv_heads=2),
    "rope_positions": dict(turn=halves, positions=PLACES),
    "rope_cross": dict(**CROSS, turn=halves),
    "rope_cross_lower_right": dict(**CROSS, turn=neighbours, offset=2),
    "rope_cross_positions": dict(**CROSS, turn=halves, positions=PLACES, key_positions=KEY_PLACES),
    "alibi": dict(alibi=True),
    "alibi_causal_cross": dict(**CROSS, alibi=True, offset=2, shown=causal),
    "t5": dict(buckets=8, longest=4, t=S),
    "t5_decoder": dict(**CROSS, buckets=5, longest=4, decoder=True, offset=2, shown=causal),
    "alibi_t5": dict(alibi=True, buckets=6),
    "window": dict(t=S, shown=window(2, 0)),
    "window_both": dict(**CROSS, offset=2, shown=window(2, 1)),
    "prefix": dict(t=S, shown=lambda t, s: (s <= t) | (s < 3)),
    "segments": dict(segments=DOCUMENTS),
    "segments_causal": dict(segments=DOCUMENTS, shown=causal),
    "segments_cross": dict(**CROSS, segments=DOCUMENTS, key_segments=KEY_DOCUMENTS),
    "renormalized": dict(t=S, shown=causal, renormalize=True),
    "sinks": dict(sinks=True),
    "sinks_causal": dict(sinks=True, shown=causal, kv_heads=2),
    "norm_rms": dict(norm=rms),
    "norm_l2": dict(norm=l2, scale=3.0, kv_heads=2),
    "gate": dict(gate=True, value_dim=3, out_bias=True),
    "bias_kv_grouped": dict(**CROSS, kv_heads=2, value_dim=3, bias_kv=True, zero_attn=True, shown=causal),
    "gpt2": dict(layout="gpt2", width=12, heads=3, qkv_bias=True, out_bias=True, shown=causal),
    "gpt2_no_bias": dict(layout="gpt2", heads=3, kv_heads=1, value_dim=3, out=7),
    "gpt2_cross": dict(**CROSS, layout="gpt2", width=12, heads=3, qkv_bias=True, out_bias=True),
    "llama": dict(layout="llama", width=12, heads=6, kv_heads=2, dim=2, turn=halves, shown=causal),
    "llama_bias": dict(**THREE, layout="llama", heads=3, dim=5, qkv_bias=True, out_bias=True),
    "qwen": dict(layout="llama", kv_heads=3, turn=halves, norm=rms, base=1e6, shown=causal, batch=None),
    "gemma": dict(layout="llama", kv_heads=2, turn=halves, softcap=2.0, scale=0.4, shown=window(2, 0), t=S),
    "oss": dict(layout="llama", kv_heads=2, turn=halves, sinks=True, qkv_bias=True, out_bias=True, shown=window(1, 0)),
    "everything": EVERYTHING,
    "everything_llama": {**EVERYTHING, "layout": "llama", "norm": l2, "turn": neighbours, "kv_heads": 3, "decoder": True},
    "everything_gpt2": {**EVERYTHING, "layout": "gpt2", "given": "q", "s": None, "key_width": 0, "value_width": 0, "offset": 0,
                        "bias": lambda: draw(6, T, 1)},
    "causal_offset": dict(**CROSS, kv_heads=2, shown=lambda t, s: s <= t + 2),
    "causal_offset_ahead": dict(t=S, shown=lambda t, s: s <= t + 3),
    "causal_offset_blind": dict(**CROSS, kv_heads=3, qkv_bias=True, shown=lambda t, s: s <= t - 2),
    "causal_offset_past": dict(**CROSS, layout="llama", kv_heads=2, turn=halves, offset=2, shown=causal),
    "causal_starts": dict(**CROSS, kv_heads=2, starts=STARTS, shown=lambda t, s: s <= t + each(STARTS)),
    "causal_starts_padding": dict(**CROSS, t=4, starts=PAST, lengths=LENGTHS,
                                  shown=lambda t, s: (s <= t + each(PAST)) & (s < each(LENGTHS))),
    "forget": dict(forget=True, shown=causal, t=S),
    "forget_grouped": dict(forget=True, shown=causal, layout="llama", kv_heads=2, turn=halves, norm=rms, batch=None),
    "forget_cross": dict(**THREE, forget=True, offset=2, shown=causal, qkv_bias=True, sinks=True),
    "forget_padding": dict(**CROSS, t=4, forget=True, offset=3, lengths=LENGTHS, bias_kv=True, softcap=2,
                           shown=lambda t, s: (s <= t) & (s < each(LENGTHS))),
    "sigmoid": dict(sigmoid=True),
    "sigmoid_causal": dict(sigmoid=True, sigmoid_bias=-math.log(7), shown=causal, kv_heads=2, layout="llama", turn=halves),
    "sigmoid_cross": dict(**CROSS, sigmoid=True, sigmoid_bias=-1.5, zero_attn=True, softcap=2, kv_heads=3, shown=causal,
                          offset=2, forget=True),
    "sigmoid_padding": dict(**CROSS, t=4, sigmoid=True, sigmoid_bias=-2, alibi=True, offset=3, lengths=torch.tensor([S, 0]),
                            shown=lambda t, s: s < each(torch.tensor([S, 0]))),
}


def initial():
    """Parameters of modules made one after the other, from one seed."""
    torch.manual_seed(123)
    made = {
        "packed": nn.MultiheadAttention(15, 3),
        "no_bias": nn.MultiheadAttention(15, 3, bias=False),
        "separate": nn.MultiheadAttention(15, 3, kdim=11, vdim=13),
        "bias_kv": nn.MultiheadAttention(14, 2, add_bias_kv=True),
        "bias_kv_wide": nn.MultiheadAttention(22, 2, add_bias_kv=True, bias=False, kdim=3),
    }
    return {f"{case}.{n}": p for case, module in made.items() for n, p in module.state_dict().items()}


COMPUTED = "out", "weights", "mean", "grad.", "dquery", "dkey", "dvalue", "dbias"


def main():
    out = {}
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20170612)
    cases = {**MHA, **{name: lambda o=o: written(**o) for name, o in WRITTEN.items()}}
    for case, make in cases.items():
        for entry, t in make().items():
            assert not t.isnan().any(), (case, entry)
            exact = t.dtype == torch.float64 and not entry.startswith(COMPUTED)
            assert not exact or torch.equal(t.float().double(), t), (case, entry)
            out[f"{case}.{entry}"] = t.float() if exact else t
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        for name, t in initial().items():
            out[f"init.{label}.{name}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attention.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

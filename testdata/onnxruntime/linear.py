#!/usr/bin/env python3
"""Writes the cases of ../torch/linearattention.safetensors as ONNX models of com.microsoft's LinearAttention and
CausalConvWithState, for linear.mjs to run: <case>.onnx, and cases.json with inputs and outputs.

    npm ci --ignore-scripts && python3 linear.py /tmp/cases && node linear.mjs /tmp/cases

onnxruntime 1.30.0 is within 1e-5 of all of them. Needs Debian's python3-torch alone: the models are written byte by byte.
"""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torch"))
import golden

D, DV, CONV = 3, 5, 4  # of every case

# case: (update rule, its inputs after query, key and value)
RULES = {
    "": ("linear", []),
    "_gated": ("gated", ["decay"]),
    "_channels": ("gated", ["decay"]),
    "_delta": ("delta", ["beta"]),
    "_gated_delta": ("gated_delta", ["decay", "beta"]),
    "_channels_delta": ("gated_delta", ["decay", "beta"]),
    "_state": ("gated_delta", ["decay", "beta", "past_state"]),
    "_grouped": ("gated_delta", ["decay", "beta"]),
    "_strong": ("gated_delta", ["decay", "beta"]),
    "_one": ("gated_delta", ["decay", "beta", "past_state"]),
}


def varint(n):
    low, n = n & 127, n >> 7
    return bytes([low]) if n == 0 else bytes([low | 128]) + varint(n)


def field(number, value):
    """A field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def attribute(name, value):
    number, kind = {int: (3, 2), float: (2, 1), str: (4, 3)}[type(value)]
    return field(1, name) + field(number, value) + field(20, kind)


def tensor_info(name, shape):
    dims = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def model(op, inputs, outputs, attributes):
    """A model of one node of com.microsoft; inputs and outputs are shapes by name, None for an input that is left out."""
    names = list(inputs)
    while inputs[names[-1]] is None:
        names.pop()
    node = b"".join(field(1, n if inputs[n] else "") for n in names) + b"".join(field(2, n) for n in outputs)
    node += field(4, op) + b"".join(field(5, attribute(*a)) for a in attributes.items()) + field(7, "com.microsoft")
    graph = field(1, node) + field(2, op)
    graph += b"".join(field(11, tensor_info(n, inputs[n])) for n in names if inputs[n])
    graph += b"".join(field(12, tensor_info(n, shape)) for n, shape in outputs.items())
    opsets = field(8, field(1, "") + field(2, 21)) + field(8, field(1, "com.microsoft") + field(2, 1))
    return field(1, 10) + field(7, graph) + opsets


def linear(t, case, rule, optional):
    given = ["query", "key", "value", *optional]
    x = {name: t[f"{case}.in.{i}"] for i, name in enumerate(given)}
    out, batch = t[case + ".out"], x["query"].shape[0]
    heads, kv_heads = x["query"].shape[-1] // D, x["key"].shape[-1] // D
    shapes = {n: x[n].shape if n in x else None for n in ["query", "key", "value", "past_state", "decay", "beta"]}
    settings = {"update_rule": rule, "q_num_heads": heads, "kv_num_heads": kv_heads, "scale": D ** -0.5}
    return x, out, model("LinearAttention", shapes, {"out": out.shape, "state": (batch, kv_heads, D, DV)}, settings)


def conv(t, case):
    """The standard has channels before tokens."""
    x = {name: t[f"{case}.in.{i}"] for i, name in enumerate(["input", "weight", "bias", "past_state"])
         if f"{case}.in.{i}" in t}
    x = {name: v.transpose(1, 2) if name in ("input", "past_state") else v for name, v in x.items()}
    out = t[case + ".out"].transpose(1, 2)
    shapes = {n: x[n].shape if n in x else None for n in ["input", "weight", "bias", "past_state"]}
    outputs = {"out": out.shape, "state": (out.shape[0], out.shape[1], CONV - 1)}
    return x, out, model("CausalConvWithState", shapes, outputs, {"activation": "none", "ndim": 1})


def main():
    t = golden.load(os.path.join(os.path.dirname(golden.__file__), "linearattention.safetensors"))
    made = {"linear_attention" + c: linear(t, "linear_attention" + c, *rule) for c, rule in RULES.items()}
    made.update({c: conv(t, c) for c in ("causal_conv", "causal_conv_bias", "causal_conv_state")})
    os.makedirs(sys.argv[1], exist_ok=True)
    cases = {}
    for case, (inputs, out, text) in made.items():
        with open(os.path.join(sys.argv[1], case + ".onnx"), "wb") as f:
            f.write(text)
        data = {name: {"shape": list(v.shape), "data": v.flatten().tolist()} for name, v in inputs.items()}
        cases[case] = {"inputs": data, "out": out.flatten().tolist()}
    with open(os.path.join(sys.argv[1], "cases.json"), "w") as f:
        json.dump(cases, f)


main()

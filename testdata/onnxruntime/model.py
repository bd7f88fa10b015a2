#!/usr/bin/env python3
"""Writes causal multi-head attention, with a bias in the output's projection alone, as an ONNX model.

    model.py --width 768 --heads 12 --module split model.onnx

Input x and output out are (B, T, E), float32; the weights are random and part of the model.
The attention is com.microsoft's MultiHeadAttention, onnxruntime's fused one, unidirectional.
--module says how the queries, keys and values are made: split by three products, packed by one.
Made for Debian's python3-onnx 1.12.
"""
import argparse

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for size in ["width", "heads"]:
        p.add_argument("--" + size, type=int, required=True)
    p.add_argument("--module", choices=["split", "packed"], required=True)
    p.add_argument("file")
    a = p.parse_args()
    onnx.save(attention(a.width, a.heads, a.module), a.file)


def attention(width, heads, module):
    random = numpy.random.default_rng(123)

    def weight(name, *shape):
        numbers = random.standard_normal(shape) / width**0.5
        return numpy_helper.from_array(numbers.astype(numpy.float32), name)

    if module == "packed":
        weights = [weight("in_proj", width, 3 * width)]
        nodes = [
            helper.make_node("MatMul", ["x", "in_proj"], ["qkv"]),  # (B, T, 3·E)
            helper.make_node("Split", ["qkv"], ["q", "k", "v"], axis=2),
        ]
    else:
        weights = [weight("W_" + part, width, width) for part in "qkv"]
        nodes = [helper.make_node("MatMul", ["x", "W_" + part], [part]) for part in "qkv"]  # (B, T, E)
    weights += [weight("out_proj", width, width), weight("out_bias", width)]
    nodes += [
        helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["context"],
                         domain="com.microsoft", num_heads=heads, unidirectional=1),
        helper.make_node("MatMul", ["context", "out_proj"], ["projected"]),
        helper.make_node("Add", ["projected", "out_bias"], ["out"]),
    ]

    def value(name):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["B", "T", width])

    graph = helper.make_graph(nodes, "attention", [value("x")], [value("out")], weights)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


if __name__ == "__main__":
    main()

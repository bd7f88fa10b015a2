"""Modules without attention in PyTorch: initial values, outputs and gradients.

Writes modules.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case and dtype (f32, f64), named <case>.<dtype>.<entry>:

    param.<name>   each parameter's initial value: all cases are made one after the
                   other after torch.manual_seed(123)
    ids, out       the input and the output
    dout           the gradient that flows into out
    grad.<name>    the gradient of each parameter
"""
import os

import torch
from torch import nn

import golden

CASES = {
    "embedding": lambda: nn.Embedding(7, 5),
    "embedding_padding": lambda: nn.Embedding(11, 3, padding_idx=0),
    "embedding_last": lambda: nn.Embedding(7, 5, padding_idx=6),
}


def main():
    out = {}
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        layers = {case: make() for case, make in CASES.items()}
        ids = torch.tensor([[3, 0, 6], [6, 3, 1]])
        for case, layer in layers.items():
            y = layer(ids)
            dy = torch.randn(y.shape)
            y.backward(dy)
            got = {f"param.{n}": p for n, p in layer.state_dict().items()}
            got.update({f"grad.{n}": p.grad for n, p in layer.named_parameters()})
            for entry, t in {**got, "ids": ids, "out": y, "dout": dy}.items():
                out[f"{case}.{label}.{entry}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

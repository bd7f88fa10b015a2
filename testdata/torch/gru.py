"""nn.GRU in PyTorch: initial values, outputs and gradients.

Writes gru.safetensors beside itself. Made with torch 1.13.0a0 (Debian's python3-torch
1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case and dtype (f32, f64), named <case>.<dtype>.<entry>:

    param.<name>      each parameter's initial value: all cases are made one after the
                      other after torch.manual_seed(123)
    x, state          the input and, in some cases, the first state
    lengths           in some cases, of the sequences, which are packed
    out, end          the output and the last state; out is 0 beyond a length
    dout, dend        the gradients that flow into them; dout is 0 beyond a length
    grad.<name>       the gradient of each parameter
    dx, dstate        the gradients of the inputs
"""
import os

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import golden

# case: (the layer, the first state's rows or 0, lengths or none); x is (3, 5, 7) or (5, 7)
CASES = {
    "gru": (lambda: nn.GRU(7, 5, batch_first=True), 0, None),
    "gru_no_bias": (lambda: nn.GRU(7, 3, bias=False, batch_first=True), 1, None),
    "gru_deep": (lambda: nn.GRU(7, 3, 2, batch_first=True, bidirectional=True), 4, None),
    "gru_lengths": (lambda: nn.GRU(7, 3, 2, batch_first=True, bidirectional=True), 4, [2, 5, 1]),
    "gru_single": (lambda: nn.GRU(7, 11, batch_first=True), 1, None),
}


def main():
    out = {}
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        layers = {case: make() for case, (make, _, _) in CASES.items()}
        for case, layer in layers.items():
            _, rows, lengths = CASES[case]
            batch = () if case == "gru_single" else (3,)
            x = torch.randn(*batch, 5, 7, requires_grad=True)
            state = torch.randn(rows, *batch, layer.hidden_size, requires_grad=True) if rows else None
            given = x
            if lengths:
                given = pack_padded_sequence(x, torch.tensor(lengths), batch_first=True, enforce_sorted=False)
            y, end = layer(given, state)
            if lengths:
                y, _ = pad_packed_sequence(y, batch_first=True, total_length=5)
            dy, dend = torch.randn(y.shape), torch.randn(end.shape)
            for i, n in enumerate(lengths or []):
                dy[i, n:] = 0
            torch.autograd.backward([y, end], [dy, dend])
            got = {f"param.{n}": p for n, p in layer.state_dict().items()}
            got.update({f"grad.{n}": p.grad for n, p in layer.named_parameters()})
            got.update({"x": x, "dx": x.grad, "out": y, "end": end, "dout": dy, "dend": dend})
            if rows:
                got.update({"state": state, "dstate": state.grad})
            if lengths:
                got["lengths"] = torch.tensor(lengths)
            for entry, t in got.items():
                out[f"{case}.{label}.{entry}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gru.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

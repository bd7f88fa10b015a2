"""Parts of today's decoders in PyTorch: values and gradients.

Writes decoder_parts.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

Ops have entries as norms.py writes them: <case>.in.<i>, .out, .dout and .din.<i>.
Layers have, all in float64, as <case>.<entry>:

    param.<name>   each parameter, named as in state_dict
    x, y           the input and the output
    dy, dx         the gradients of both
    grad.<name>    the gradient of each parameter

Shapes are different primes, so that swapped axes show.
"""
import os

import torch
from torch import nn
from torch.nn import functional as F

import golden

IGNORE = -100
n = torch.randn
far = [0.0, -0.0, 1e-3, -1e-3, 5.0, -5.0, 20.0, -20.0, 88.0, -88.0, 1e4, -1e4, 1e15, -1e15]
t = torch.tensor


def gelu_tanh(x):
    return F.gelu(x, approximate="tanh")


def relu_squared(x):
    return F.relu(x).square()


def gated(f):
    return lambda gate, up: f(gate) * up


def loss(scale=1.0, cap=None, **c):
    def of(x, w, target, weight=None):
        logits = scale * (x @ w.T).flatten(0, -2)
        if cap:
            logits = cap * torch.tanh(logits / cap)
        return F.cross_entropy(logits, target.flatten(), None if weight is None else weight.detach(), **c)
    return of


def rows():
    return [n(2, 3, 5), n(7, 5), t([[6, 0, IGNORE], [1, IGNORE, 1]])]


def weighted():
    return rows() + [t([1, 2, 0.5, 3, 0, 0.25, 1.5])]


# case: (the op, its inputs)
OPS = {
    "relu_squared": (relu_squared, lambda: [n(2, 3, 5)]),
    "relu_squared_far": (relu_squared, lambda: [t(far)]),
    "geglu": (gated(F.gelu), lambda: [n(2, 3, 5), n(2, 3, 5)]),
    "geglu_far": (gated(F.gelu), lambda: [t(far), n(len(far))]),
    "geglu_tanh": (gated(gelu_tanh), lambda: [n(2, 3, 5), n(2, 3, 5)]),
    "geglu_tanh_far": (gated(gelu_tanh), lambda: [t(far), n(len(far))]),
    "linear_cross_entropy_scaled": (loss(0.3), rows),
    "linear_cross_entropy_capped": (loss(cap=0.7), rows),
    "linear_cross_entropy_both": (loss(2.5, 3.0), rows),
    "linear_cross_entropy_both_weighted": (loss(2.5, 3.0), weighted),
    "linear_cross_entropy_both_smooth": (loss(2.5, 3.0, label_smoothing=0.1), rows),
    "linear_cross_entropy_both_smooth_weighted": (loss(2.5, 3.0, label_smoothing=0.1), weighted),
}


class MLP(nn.Module):
    def __init__(self, f, gate):
        super().__init__()
        self.f = f
        if gate:
            self.gate_proj = nn.Linear(5, 7, bias=False)
        self.up_proj, self.down_proj = nn.Linear(5, 7, bias=False), nn.Linear(7, 5, bias=False)

    def forward(self, x):
        if hasattr(self, "gate_proj"):
            return self.down_proj(self.f(self.gate_proj(x)) * self.up_proj(x))
        return self.down_proj(self.f(self.up_proj(x)))


class OffsetNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(5))
        nn.init.normal_(self.weight)

    def forward(self, x):
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


LAYERS = {
    "mlp_geglu": lambda: MLP(F.gelu, True),
    "mlp_geglu_tanh": lambda: MLP(gelu_tanh, True),
    "mlp_relu2": lambda: MLP(relu_squared, False),
    "norm_offset": OffsetNorm,
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20240229)
    out = {}
    for case, (op, make) in OPS.items():
        inputs = make()
        for x in inputs:
            x.requires_grad_(x.is_floating_point())
        y = op(*inputs)
        dy = torch.randn(y.shape)
        y.backward(dy)
        out[f"{case}.out"], out[f"{case}.dout"] = y, dy
        for k, x in enumerate(inputs):
            out[f"{case}.in.{k}"] = x
            if x.grad is not None:
                out[f"{case}.din.{k}"] = x.grad
    for case, make in LAYERS.items():
        layer, x = make(), n(2, 3, 5).requires_grad_()
        y = layer(x)
        dy = n(y.shape)
        y.backward(dy)
        got = {f"param.{name}": p for name, p in layer.state_dict().items()}
        got |= {f"grad.{name}": p.grad for name, p in layer.named_parameters()}
        for entry, v in {**got, "x": x, "y": y, "dy": dy, "dx": x.grad}.items():
            out[f"{case}.{entry}"] = v
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "decoder_parts.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

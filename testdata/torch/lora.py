"""MLPs with low-rank adapters (Hu et al. 2021) on frozen weights: outputs and gradients.

Writes lora.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

    <case>.<dtype>.param.<name>   weights and adapters
    <case>.<dtype>.x, .up         input, and the gradient of the output
    <case>.<dtype>.y              output
    <case>.<dtype>.grad.<name>    gradients of the input x and of the adapters

llama: SwiGLU, adapters of rank 3 on all three maps, scaled by 6/3.
gpt2:  weights (in, out), biases, GELU by tanh, an adapter of rank 2 on c_fc, scaled by 8/√2.
"""
import math
import os

import torch
import torch.nn.functional as F

import golden

E, N = 5, 7
SHAPES = {
    "llama": {"gate_proj.weight": (N, E), "up_proj.weight": (N, E), "down_proj.weight": (E, N),
              "gate_proj.lora_A.weight": (3, E), "gate_proj.lora_B.weight": (N, 3),
              "up_proj.lora_A.weight": (3, E), "up_proj.lora_B.weight": (N, 3),
              "down_proj.lora_A.weight": (3, N), "down_proj.lora_B.weight": (E, 3)},
    "gpt2": {"c_fc.weight": (E, N), "c_fc.bias": (N,), "c_proj.weight": (N, E), "c_proj.bias": (E,),
             "c_fc.lora_A.weight": (2, E), "c_fc.lora_B.weight": (N, 2)},
}


def linear(p, name, x, scale, transposed=False):
    w = p[name + ".weight"]
    y = x @ (w if transposed else w.t())
    if name + ".bias" in p:
        y = y + p[name + ".bias"]
    if name + ".lora_A.weight" in p:
        y = y + scale * (x @ p[name + ".lora_A.weight"].t()) @ p[name + ".lora_B.weight"].t()
    return y


def llama(p, x):
    gate, up = linear(p, "gate_proj", x, 6 / 3), linear(p, "up_proj", x, 6 / 3)
    return linear(p, "down_proj", F.silu(gate) * up, 6 / 3)


def gpt2(p, x):
    h = linear(p, "c_fc", x, 8 / math.sqrt(2), transposed=True)
    h = 0.5 * h * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3)))
    return linear(p, "c_proj", h, 0, transposed=True)


def main():
    g = torch.Generator().manual_seed(2106_09685)
    out = {}
    for case, forward in (("llama", llama), ("gpt2", gpt2)):
        start = {n: torch.randn(s, generator=g, dtype=torch.float64) / 2 for n, s in SHAPES[case].items()}
        x0, up = (torch.randn((2, 3, E), generator=g, dtype=torch.float64) for _ in range(2))
        for label, dtype in (("float64", torch.float64), ("float32", torch.float32)):
            p = {n: v.to(dtype, copy=True).requires_grad_("lora" in n) for n, v in start.items()}
            x = x0.to(dtype, copy=True).requires_grad_()
            y = forward(p, x)
            (y * up.to(dtype)).sum().backward()
            of = f"{case}.{label}."
            out.update({of + "param." + n: v for n, v in p.items()})
            out.update({of + "x": x, of + "up": up.to(dtype), of + "y": y, of + "grad.x": x.grad})
            out.update({of + "grad." + n: v.grad for n, v in p.items() if v.grad is not None})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lora.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

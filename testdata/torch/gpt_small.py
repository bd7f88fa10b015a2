"""Scores of a GPT-2 of its true size, 124 million weights, by plain PyTorch.

Writes gpt_small.safetensors beside itself, in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version
and how far PyTorch's own float32 is from its float64. Takes a minute and 3 GB.

No weight is stored: element i of the parameter called name, counted in row-major order
of GPT-2's shapes (linear layers (in, out)), is

    h = fnv1a(name) + i, then h ^= h >> 16; h *= 0x7feb352d; h ^= h >> 15;
                              h *= 0x846ca68b; h ^= h >> 16        (all mod 2³²)
    u = (h >> 8) − 2²³                                             (exact in float32)
    u · scale                                                      (rounded to float32)

with the scale 0.1/2²³ for c_attn.weight, so that attention is not even, else 0.05/2²³.
The weights of norms are 1 + that, rounded to float32 again. Token t of the text is
(31·t² + 7) mod 50257.

    rows     int64 (R), positions
    columns  int64 (C), tokens
    logits   (R, C), the scores of these tokens behind these positions
    norms    (R), the logarithm of the sum of exp of all scores there
"""
import os
import sys

import numpy
import torch

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../train/pretrained"))
import model

CONFIG = {
    "vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12, "activation_function": "gelu_new",
    "layer_norm_epsilon": 1e-5, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0, "tie_word_embeddings": True, "bias": True,
}
TOKENS = 48


def fnv1a(name):
    h = 0x811C9DC5
    for b in name.encode():
        h = (h ^ b) * 0x01000193 % 2**32
    return h


def weights(name, count):
    h = numpy.arange(count, dtype=numpy.uint32) + numpy.uint32(fnv1a(name))
    h ^= h >> 16
    h *= numpy.uint32(0x7FEB352D)
    h ^= h >> 15
    h *= numpy.uint32(0x846CA68B)
    h ^= h >> 16
    u = (h >> 8).astype(numpy.int32) - 2**23
    scale = numpy.float32((0.1 if name.endswith("c_attn.weight") else 0.05) / 2**23)
    x = u.astype(numpy.float32) * scale
    if ".ln_" in name and name.endswith("weight"):
        x = x + numpy.float32(1)
    return torch.from_numpy(x)


def fill(gpt):
    for name, p in gpt.named_parameters():
        shape = tuple(p.shape)
        linear = len(shape) == 2 and "wte" not in name and "wpe" not in name
        w = weights(name, p.numel()).reshape(shape[::-1] if linear else shape)
        p.data = (w.T if linear else w).contiguous()


def main():
    ids = torch.tensor([(31 * t * t + 7) % 50257 for t in range(TOKENS)])
    rows, columns = torch.tensor([0, 39, 47]), torch.arange(0, 50257, 97)
    gpt = model.GPT(CONFIG).eval()
    fill(gpt)
    with torch.no_grad():
        single = gpt(ids[None])[0]
        double = gpt.double()(ids[None])[0]
    error = (single - double).abs().max().item()
    out = {"rows": rows, "columns": columns, "logits": double[rows][:, columns], "norms": double[rows].logsumexp(-1)}
    print("logits from", double.min().item(), "to", double.max().item(), "; float32 is off by", error)
    metadata = {"torch": torch.__version__, "float32": f"{error:.3g}"}
    golden.save(os.path.join(HERE, "gpt_small.safetensors"), out, metadata)


main()

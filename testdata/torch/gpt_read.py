"""Runs the GPT of each folder with plain PyTorch and writes all logits to one file.

    gpt_read.py OUT.safetensors ID,ID,… FOLDER…

A folder of the format huggingface is run by the functions below, one of the format
torch by the model.py in it, which then also saves it anew as FOLDER/again. The logits
of the i-th folder, (T, V), are called by its number, from 0. The exit code is 77 if
there is no PyTorch.
"""
import json
import math
import os
import sys

try:
    import torch
    from torch.nn import functional as F
except ImportError:
    sys.exit(77)

import golden


def norm(x, p, name, eps):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p[name + ".bias"], eps)


def linear(x, p, name):
    return x @ p[name + ".weight"] + p[name + ".bias"]


def huggingface(ids, p, c):
    """GPT-2 by its weights p and its config c: int64 (T) -> (T, V)."""
    assert c["model_type"] == "gpt2" and c["architectures"] == ["GPT2LMHeadModel"]
    eps, kind = c["layer_norm_epsilon"], {"gelu_new": "tanh", "gelu": "none"}[c["activation_function"]]
    hidden = torch.ones(len(ids), len(ids)).triu(1).bool()
    x = p["transformer.wte.weight"][ids] + p["transformer.wpe.weight"][:len(ids)]
    for i in range(c["n_layer"]):
        h = f"transformer.h.{i}."
        q, k, v = (y.unflatten(-1, (c["n_head"], -1)).transpose(0, 1)
                   for y in linear(norm(x, p, h + "ln_1", eps), p, h + "attn.c_attn").chunk(3, -1))
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        y = scores.masked_fill(hidden, -math.inf).softmax(-1) @ v
        x = x + linear(y.transpose(0, 1).flatten(1), p, h + "attn.c_proj")
        y = F.gelu(linear(norm(x, p, h + "ln_2", eps), p, h + "mlp.c_fc"), approximate=kind)
        x = x + linear(y, p, h + "mlp.c_proj")
    head = p["transformer.wte.weight"] if c.get("tie_word_embeddings", True) else p["lm_head.weight"]
    return norm(x, p, "transformer.ln_f", eps) @ head.T


def torch_form(ids, folder):
    """The folder's own model.py: int64 (T) -> (T, V)."""
    module = type(sys)("model")
    module.__file__ = os.path.join(folder, "model.py")
    with open(module.__file__) as f:
        exec(f.read(), module.__dict__)
    gpt = module.load(folder).eval()
    module.save(gpt, os.path.join(folder, "again"))
    return gpt(ids[None])[0]


def main(out, ids, *folders):
    ids = torch.tensor([int(i) for i in ids.split(",")])
    logits = {}
    for i, folder in enumerate(folders):
        with open(os.path.join(folder, "config.json")) as f:
            c = json.load(f)
        if c.get("format") == "torch":
            logits[str(i)] = torch_form(ids, folder)
        else:
            logits[str(i)] = huggingface(ids, golden.load(os.path.join(folder, "model.safetensors")), c)
    golden.save(out, logits)


main(*sys.argv[1:])

"""The GPT of this folder in plain PyTorch.

    import model
    gpt = model.load(".")              # config.json and model.safetensors
    logits = gpt(ids)                  # int64 (B, T) -> (B, T, V)
    model.save(gpt, "trained")         # a folder like this one, also from under torchrun:
                                       # save what DistributedDataParallel wraps (its .module),
                                       # in one process

For FullyShardedDataParallel gather the state_dict first and pass it to save.
"""
import functools
import json
import math
import os
import shutil
import struct

import torch
from torch import nn
from torch.nn import functional as F

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
ACTIVATIONS = {
    "gelu": F.gelu, **dict.fromkeys(("gelu_new", "gelu_pytorch_tanh", "gelu_fast"),
                                    functools.partial(F.gelu, approximate="tanh")),
    "relu": F.relu, "relu2": lambda x: F.relu(x) ** 2, "silu": F.silu, "swish": F.silu,
}


class LayerNorm(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(c["n_embd"]))
        self.bias = nn.Parameter(torch.zeros(c["n_embd"])) if c["bias"] else None
        self.eps = c["layer_norm_epsilon"]

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv_heads = c["n_head"], c.get("n_kv_head") or c["n_head"]
        kv = c["n_embd"] // self.heads * self.kv_heads
        self.widths = [c["n_embd"], kv, kv]
        self.c_attn = nn.Linear(c["n_embd"], sum(self.widths), c.get("qkv_bias", c["bias"]))
        self.c_proj = nn.Linear(c["n_embd"], c["n_embd"], c["bias"])
        self.attn_dropout, self.resid_dropout = nn.Dropout(c["attn_pdrop"]), nn.Dropout(c["resid_pdrop"])

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (-1, x.shape[-1] // self.heads)).transpose(1, 2)
                   for y in self.c_attn(x).split(self.widths, -1))  # (B, H, T, D)
        k, v = (y.repeat_interleave(self.heads // self.kv_heads, 1) for y in (k, v))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        hidden = torch.ones(scores.shape[2:], dtype=torch.bool, device=x.device).triu(1)
        weights = self.attn_dropout(scores.masked_fill(hidden, -math.inf).softmax(-1))
        return self.resid_dropout(self.c_proj((weights @ v).transpose(1, 2).flatten(2)))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        inner = c.get("n_inner") or 4 * c["n_embd"]
        self.c_fc = nn.Linear(c["n_embd"], inner, c["bias"])
        self.c_proj = nn.Linear(inner, c["n_embd"], c["bias"])
        self.activation, self.dropout = ACTIVATIONS[c["activation_function"]], nn.Dropout(c["resid_pdrop"])

    def forward(self, x):
        return self.dropout(self.c_proj(self.activation(self.c_fc(x))))


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = LayerNorm(c), Attention(c), LayerNorm(c), MLP(c)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        c = self.config = config
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(c["vocab_size"], c["n_embd"]),
            "wpe": nn.Embedding(c["n_positions"], c["n_embd"]),
            "drop": nn.Dropout(c["embd_pdrop"]),
            "h": nn.ModuleList(Block(c) for _ in range(c["n_layer"])),
            "ln_f": LayerNorm(c),
        })
        self.lm_head = None if c["tie_word_embeddings"] else nn.Linear(c["n_embd"], c["vocab_size"], bias=False)

    def forward(self, ids):
        t = self.transformer
        x = t["drop"](t["wte"](ids) + t["wpe"](torch.arange(ids.shape[1], device=ids.device)))
        for block in t["h"]:
            x = block(x)
        x = t["ln_f"](x)
        return F.linear(x, t["wte"].weight) if self.lm_head is None else self.lm_head(x)


def load(folder):
    """The model of a folder, in the type of its weights."""
    with open(os.path.join(folder, "config.json")) as f:
        config = json.load(f)
    with open(os.path.join(folder, "model.safetensors"), "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = bytearray(f.read())
    header.pop("__metadata__", None)
    state = {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        dtype = DTYPES[t["dtype"]]
        state[name] = torch.frombuffer(data, dtype=dtype, offset=begin, count=math.prod(t["shape"])).reshape(t["shape"])
    gpt = GPT(config).to(state["transformer.wte.weight"].dtype)
    gpt.load_state_dict(state)
    return gpt


def save(gpt, folder, state=None):
    """Writes a model, or the state_dict given for it, as a folder like this one."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, parts, at = {"__metadata__": {"format": "pt"}}, [], 0
    for name, t in (state or gpt.state_dict()).items():
        raw = t.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": names[t.dtype], "shape": list(t.shape), "data_offsets": [at, at + len(raw)]}
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "model.safetensors"), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.writelines(parts)
    with open(os.path.join(folder, "config.json"), "w") as f:
        json.dump(gpt.config, f, indent=2)
    if not os.path.exists(os.path.join(folder, "model.py")):
        shutil.copy(__file__, folder)

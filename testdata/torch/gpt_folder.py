"""GPTs of train/pretrained/model.py, whose linear layers are nn.Linear: weights and logits.

Writes gpt_folder.safetensors beside itself, in float64. Made with torch 1.13.0a0
(Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case, named <case>.<entry>:

    param.<name>   each parameter, named and shaped as in state_dict
    ids            int64 (B, T)
    logits         (B, T, V)

The metadata holds the JSON of each case's config.json under the case's name.
"""
import json
import os
import sys

import torch

import golden

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../train/pretrained"))
import model

PLAIN = {
    "format": "torch", "vocab_size": 13, "n_positions": 11, "n_embd": 12, "n_layer": 2, "n_head": 3, "n_inner": None,
    "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "resid_pdrop": 0.0,
    "tie_word_embeddings": True, "bias": True, "bos_token_id": None, "eos_token_id": None,
}
CASES = {
    "plain": PLAIN,
    "grouped": {**PLAIN, "n_head": 6, "n_kv_head": 2, "n_inner": 17, "activation_function": "gelu",
                "layer_norm_epsilon": 0.01, "tie_word_embeddings": False, "bias": False},
}


def main():
    torch.set_default_dtype(torch.float64)
    out, metadata = {}, {"torch": torch.__version__}
    for case, config in CASES.items():
        torch.manual_seed(20190214)
        gpt = model.GPT(config).eval()
        for name, p in gpt.named_parameters():
            gain = p.dim() == 1 and name.endswith("weight")
            p.data = 0.25 * torch.randn(p.shape) + gain
        ids = torch.randint(13, (2, 11))
        out.update({f"{case}.param.{name}": p for name, p in gpt.state_dict().items()})
        out.update({f"{case}.ids": ids, f"{case}.logits": gpt(ids)})
        metadata[case] = json.dumps(config)
    golden.save(os.path.join(HERE, "gpt_folder.safetensors"), out, metadata)


main()

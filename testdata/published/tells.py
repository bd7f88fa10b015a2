"""tells.py DIR: where the heads of SmolLM2-135M-Instruct in a folder tell most about twelve texts.

It writes tells.json: of each text the layer, the head, the token, the key of its largest weight, and that weight. A head
tells its weight less the mean weight of the other heads there, times (d - 1)/(d + 2) at a distance of d >= 2 tokens, not
on the first key, and only between tokens that have a letter or a digit.
Made with torch 2.15.0 and transformers 5.24.0 on Python 3.11.
"""
import json
import os
import re
import sys

import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

torch.set_num_threads(1)
TEXTS = [
    "The animal didn't cross the street because it was too tired.",
    "The attention of each word is what it looks at.",
    "Mary and John went to the store. Mary bought milk and John bought bread.",
    "When Mary and John went to the store, John gave a drink to Mary.",
    "Harry Potter lived with the Dursleys. Harry hated the Dursleys.",
    "The cat sat on the mat. The cat sat on the mat.",
    "def add(a, b):\n    return a + b\n\nprint(add(1, 2))",
    "for i in range(10):\n    total = total + i\n",
    "Der Hund bellte laut, weil er Hunger hatte.",
    "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\nThe capital of France is Paris."
    "<|im_end|>",
    "The keys to the cabinet are on the table.",
    "The lamp fell and set the curtain on fire. Anna ran to put it out.",
]
tokenizer = PreTrainedTokenizerFast.from_pretrained(sys.argv[1])
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], attn_implementation="eager", dtype=torch.float32).eval()


def spoken(token):
    return any(c.isalnum() for c in token) and not re.fullmatch(r"<.+>|\[.+\]", token)


found = []
for text in TEXTS:
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        w = torch.stack(model(ids, output_attentions=True).attentions)[:, 0].double()  # (layers, heads, T, T)
    L, H, T, _ = w.shape
    others = (w.sum((0, 1)) - w) / (L * H - 1)
    tokens = [tokenizer.decode([i]) for i in ids[0]]
    says = torch.tensor([spoken(t) for t in tokens])
    d = torch.arange(T)[:, None] - torch.arange(T)
    counts = (d >= 2) & (torch.arange(T) > 0) & says[:, None] & says
    told = torch.where(counts, (w - others) * (d - 1) / (d + 2), 0.0)
    layer, head, q, _ = (int(i) for i in torch.unravel_index(told.argmax(), told.shape))
    k = int(w[layer, head, q].argmax())
    found.append(
        {"text": text, "layer": layer, "head": head, "token": q, "key": k, "weight": round(float(w[layer, head, q, k]), 4)}
        | {"says": f"{tokens[q].strip()} -> {tokens[k].strip()}"}
    )
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tells.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(x) for x in found) + "\n]\n")

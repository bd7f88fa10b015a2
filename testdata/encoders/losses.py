"""Writes losses.json: losses of the encoder in bert on batches of texts, without dropout, and the length of each
gradient, by sentence-transformers 6.2.0 in float64.

    python losses.py losses.json
"""
import json
import os
import sys

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.losses import CoSENTLoss, MultipleNegativesRankingLoss

torch.set_num_threads(1)
TRIPLES = [
    ["hello", "the word is hello", "a b"],
    ["the world", "of the world", "hello hello hello"],
    ["a b c d e f g h i j k", "the", "of the word"],
    ["word", "a the of a the of a the of a the of a the of a the of a the of a the of a", "k"],
    ["is", "is it the world", "c d"],
]
SCORES = [0.1, 0.9, 0.4, 0.4, -2.0]

folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bert")
model = SentenceTransformer(folder, device="cpu").double().eval()
cases = {"pairs": (MultipleNegativesRankingLoss(model), 2, None),
         "triples": (MultipleNegativesRankingLoss(model), 3, None),
         "scores": (CoSENTLoss(model), 2, torch.tensor(SCORES, dtype=torch.float64))}
out = {"triples": TRIPLES, "scores": SCORES, "cases": {}}
for name, (loss, texts, labels) in cases.items():
    model.zero_grad()
    value = loss([model.preprocess([row[k] for row in TRIPLES]) for k in range(texts)], labels)
    value.backward()
    out["cases"][name] = {"loss": value.item(), "gradients": {
        key.split("model.", 1)[-1]: p.grad.norm().item() for key, p in model.named_parameters() if p.grad is not None}}
with open(sys.argv[1], "w") as f:
    json.dump(out, f, indent=1)
    f.write("\n")

"""Probabilities of the next token under limits, as transformers' logits processors define them.

Writes sampling.safetensors beside itself, all in float64: logits, the ids of a text,
and of each case the probabilities of all ids. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

The order is transformers': repetition penalty, temperature, top-k, top-p, min-p. Each
removes by the scores that the one before it left.
"""
import os

import torch

import golden


def penalize(scores, text, penalty):
    of = scores[text]
    scores = scores.clone()
    scores[text] = torch.where(of < 0, of * penalty, of / penalty)
    return scores


def top_k(scores, k):
    return scores.masked_fill(scores < scores.topk(k).values[-1], -torch.inf)


def top_p(scores, p):
    ascending, ids = scores.sort()
    removed = ascending.softmax(-1).cumsum(-1) <= 1 - p
    removed[-1] = False
    return scores.masked_fill(torch.zeros_like(removed).scatter(0, ids, removed), -torch.inf)


def min_p(scores, p):
    probabilities = scores.softmax(-1)
    return scores.masked_fill(probabilities < p * probabilities.max(), -torch.inf)


CASES = {
    "temperature": dict(temperature=0.7),
    "top_k": dict(k=7),
    "top_p": dict(temperature=1.3, p=0.8),
    "min_p": dict(temperature=1.3, least=0.1),
    "penalty": dict(penalty=1.3),
    "reward": dict(penalty=0.8),
    "all": dict(temperature=1.7, k=20, p=0.9, least=0.15, penalty=1.5),
    "order": dict(temperature=3, k=30, p=0.7, least=0.4, penalty=2),
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20240229)
    logits, text = 3 * torch.randn(101), torch.randint(0, 101, (40,))
    text[-3:] = text[0]  # several times
    out = {"logits": logits, "text": text}
    for name, c in CASES.items():
        scores = penalize(logits, text, c.get("penalty", 1)) / c.get("temperature", 1)
        for limit, key in ((top_k, "k"), (top_p, "p"), (min_p, "least")):
            if key in c:
                scores = limit(scores, c[key])
        out[name] = scores.softmax(-1)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sampling.safetensors")
    golden.save(path, out, {"torch": torch.__version__})
    print({name: int((out[name] > 0).sum()) for name in CASES})


main()

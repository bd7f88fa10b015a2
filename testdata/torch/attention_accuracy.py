"""How far PyTorch's float32 is from float64 in attention with large and small numbers.

Writes attention_accuracy.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

100 cases of queries and keys of deviations from 1e-3 to 1e3: attention composed of plain
operations, and its gradients, in float32 and in float64 from the same float32 numbers.
Case n has

    <n>.q, .k, .v, .dout    (T, D), (S, D), (S, D), (T, D), float32
    <n>.exact.<name>        float64's values of out and of the gradients q, k and v
    <n>.torch               (4) the root mean squares of what float32's differ from these by

Odd cases are causal. The tests compute the same errors of graph.Attention and
graph.FusedAttention. `python3 attention_accuracy.py print` prints the errors of PyTorch, by
the deviation of the queries and keys, and writes nothing.
"""
import math
import os
import sys

import torch

import golden

DEVIATIONS = [10 ** (n / 2) for n in range(-6, 7)]


def attend(q, k, v, dout, causal):
    q, k, v = (x.detach().clone().requires_grad_() for x in (q, k, v))
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]))
    if causal:
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    out = torch.softmax(scores, -1) @ v
    out.backward(dout)
    return {"out": out.detach(), "q": q.grad, "k": k.grad, "v": v.grad}


def case(n):
    """Returns the tensors of case n."""
    torch.manual_seed(n)
    deviation = DEVIATIONS[n % len(DEVIATIONS)]
    t, s, d = ((3, 5, 4), (7, 7, 8), (9, 12, 16))[n // len(DEVIATIONS) % 3]
    q, k = deviation * torch.randn(t, d), deviation * torch.randn(s, d)
    v, dout = torch.randn(s, d), torch.randn(t, d)
    causal = n % 2 == 1
    exact = attend(q.double(), k.double(), v.double(), dout.double(), causal)
    single = attend(q, k, v, dout, causal)
    errors = torch.stack([(single[name].double() - x).square().mean().sqrt() for name, x in exact.items()])
    tensors = {"q": q, "k": k, "v": v, "dout": dout, "torch": errors}
    tensors.update({"exact." + name: x for name, x in exact.items()})
    return deviation, tensors


def main():
    cases = [case(n) for n in range(100)]
    if sys.argv[1:] == ["print"]:
        print("deviation   median errors of out and of the gradients of q, k and v")
        for deviation in DEVIATIONS:
            errors = torch.stack([x["torch"] for d, x in cases if d == deviation]).median(0).values
            print(f"{deviation:9.3g}  ", "  ".join(f"{e:8.2g}" for e in errors))
        return
    tensors = {f"{n}.{name}": x for n, (_, of) in enumerate(cases) for name, x in of.items()}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "attention_accuracy.safetensors")
    golden.save(path, tensors, {"torch": torch.__version__})


if __name__ == "__main__":
    main()

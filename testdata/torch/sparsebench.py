"""Attention that is sparse by content (MoBA), in plain PyTorch: time of a forward and its gradients.

    python3 sparsebench.py [T] [runs]

prints the least time of some runs with B 1, H 12, D 64, blocks of 256 keys of which a query
sees 4, in float32, and the least time of the processor. BenchmarkSparseAttention of package
graph has the same sizes. Queries that see a block are gathered head by head, as in the paper's
efficient form: one product with the block's keys, joined by the sums of exponentials. The own
block is one batch of causal squares.
"""
import resource
import sys
import time

import torch

H, D, SIZE, BLOCKS = 12, 64, 256, 4


def chosen(q, k):
    """The earlier blocks that queries see (H, T, blocks)."""
    T = q.shape[1]
    n = T // SIZE
    gates = q @ k.view(H, n, SIZE, D).mean(2).transpose(1, 2)
    own = torch.arange(T) // SIZE
    gates = gates.masked_fill(torch.arange(n) >= own[:, None], -torch.inf)
    best = gates.topk(min(BLOCKS - 1, n), -1).indices
    seen = torch.zeros(gates.shape, dtype=torch.bool).scatter_(-1, best, True)
    return seen & (torch.arange(n) < own[:, None])


def moba(q, k, v):
    """q, k, v (H, T, D)."""
    T, scale = q.shape[1], D ** -0.5
    n = T // SIZE
    with torch.no_grad():
        seen = chosen(q, k)
    squares = [x.view(H, n, SIZE, D) for x in (q * scale, k, v)]
    scores = squares[0] @ squares[1].transpose(-1, -2)
    scores = scores.masked_fill(torch.ones(SIZE, SIZE).triu(1).bool(), -torch.inf)
    top = scores.detach().amax(-1, keepdim=True)
    weights = (scores - top).exp()
    out, sums = (weights @ squares[2]).view(H, T, D), weights.sum(-1).view(H, T)
    top = top.view(H, T)
    outs = []
    # Apart at once: the gradient of a part is as large as the whole.
    heads = zip(q.unbind(), k.view(H, n, SIZE, D).unbind(), v.view(H, n, SIZE, D).unbind(), top.unbind(), seen.unbind())
    for h, (queries, keys, values, highest, sees) in enumerate(heads):
        rows = [sees[:, i].nonzero()[:, 0] for i in range(n)]
        found, counts = torch.cat(rows), [len(r) for r in rows]
        parts, weights = [], []
        for some, tops, key, value in zip((queries[found] * scale).split(counts), highest[found].split(counts),
                                          keys.unbind(), values.unbind()):
            # Scores of normal numbers are small: the own block's maximum serves all blocks.
            w = (some @ key.T - tops[:, None]).exp()
            parts.append(w @ value)
            weights.append(w.sum(-1))
        total = sums[h].index_add(0, found, torch.cat(weights))
        outs.append(out[h].index_add(0, found, torch.cat(parts)) / total[:, None])
    return torch.stack(outs)


def processor():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def main():
    T, runs = (int(x) for x in (sys.argv[1:] + ["4096", "5"][len(sys.argv) - 1:]))
    torch.manual_seed(123)
    inputs = [torch.randn(H, T, D).requires_grad_() for _ in range(3)]
    dy = torch.randn(H, T, D)
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), processor()
        torch.autograd.grad(moba(*inputs), inputs, dy)
        walls.append(time.perf_counter() - wall)
        cpus.append(processor() - cpu)
    print(f"T {T}: {min(walls) * 1e3:.0f} ms, processor {min(cpus) * 1e3:.0f} ms, {torch.get_num_threads()} threads")


main()

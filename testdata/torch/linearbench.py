"""The gated delta rule in chunks, in plain PyTorch: time of a forward and its gradients.

    python3 linearbench.py [T] [runs]

prints the least time of some runs with B 1, H 12, D and Dv 64, in float32, and the least
time of the processor, which other programs change less. BenchmarkLinearAttention of
package graph has the same sizes. The form is that of flash-linear-attention's reference:
chunks of 64 tokens, all heads and chunks in one product where no state is needed.
"""
import resource
import sys
import time

import torch
from torch.nn import functional as F

H, D, C = 12, 64, 64


def gated_delta(q, k, v, g, beta):
    """q, k, v (H, T, D), g and beta (H, T)."""
    T = q.shape[1]
    q, k, v = (x.view(H, T // C, C, D) for x in (q * D ** -0.5, k, v))
    g, beta = g.view(H, T // C, C).cumsum(-1), beta.view(H, T // C, C, 1)
    pairs = (g[..., :, None] - g[..., None, :]).tril().exp().tril()
    kb = k * beta
    lower = ((kb @ k.transpose(-1, -2)) * pairs).tril(-1) + torch.eye(C)
    u = torch.linalg.solve_triangular(lower, v * beta, upper=False, unitriangular=True)
    w = torch.linalg.solve_triangular(lower, kb * g.exp()[..., None], upper=False, unitriangular=True)
    scores = (q @ k.transpose(-1, -2)) * pairs
    faded, whole = q * g.exp()[..., None], g[..., -1].exp()
    kept = (k * (g[..., -1:] - g).exp()[..., None]).transpose(-1, -2)
    # Apart at once: the gradient of x[:, i] is as large as that of x.
    u, w, faded, scores, kept, whole = (x.unbind(1) for x in (u, w, faded, scores, kept, whole[..., None, None]))
    S, out = torch.zeros(H, D, D), []
    for i in range(T // C):
        written = u[i] - w[i] @ S
        out.append(faded[i] @ S + scores[i] @ written)
        S = S * whole[i] + kept[i] @ written
    return torch.cat(out, 1)


def processor():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def main():
    T, runs = (int(x) for x in (sys.argv[1:] + ["4096", "5"][len(sys.argv) - 1:]))
    torch.manual_seed(123)
    q, v = torch.randn(H, T, D), torch.randn(H, T, D)
    k = F.normalize(torch.randn(H, T, D), dim=-1)
    g, beta = -0.1 * torch.rand(H, T), torch.rand(H, T)
    inputs = [x.requires_grad_() for x in (q, k, v, g, beta)]
    dy = torch.randn(H, T, D)
    walls, cpus = [], []
    for _ in range(runs):
        wall, cpu = time.perf_counter(), processor()
        torch.autograd.grad(gated_delta(*inputs), inputs, dy)
        walls.append(time.perf_counter() - wall)
        cpus.append(processor() - cpu)
    print(f"T {T}: {min(walls) * 1e3:.0f} ms, processor {min(cpus) * 1e3:.0f} ms, {torch.get_num_threads()} threads")


main()

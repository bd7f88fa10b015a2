#!/usr/bin/env python3
"""Times PyTorch at the works of `attention bench`.

    bench.py --batch 2 --tokens 1024 --width 768 --heads 12 --mode forward-backward

The work is causal multi-head attention with a bias in the output projection alone
and no dropout, in float32. forward computes the output, without recording anything
for gradients; forward-backward computes the output and, for a fixed random gradient
of it, the gradients of the parameters, not of the input. gpt-step takes a step of training
the GPT of gpt_train.py, with --layers blocks and without biases, on --vocab distinct tokens.
Its operations are those of nanoGPT's step: forward, gradients, clipping and AdamW.

Every way to do the work is timed in a process of its own, and printed as a line of
JSON with the fields of `attention bench --json` and

    settings       installed: as it comes
                   tuned: TUNED below in the environment
    module         mha: nn.MultiheadAttention with a causal mask
                   book: three projections, -inf filled in, softmax of scaled scores
                   lean: one projection, scale and mask within the product, softmax
                   blocks: lean, but a block of queries at a time with the keys up to
                   its end, and a backward written by hand; only if asked for
    threads        of PyTorch; blas_threads, of its BLAS
    blas           the library that multiplies its matrices
    start_rss_bytes  memory in use when PyTorch was loaded, before the work

The fastest line counts. Made for torch 1.13 on Linux; --module, --settings and
--threads choose ways.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time

TUNED = {
    "OPENBLAS_CORETYPE": "SKYLAKEX",  # OpenBLAS may not know the processor; needs AVX-512
    "ATEN_CPU_CAPABILITY": "avx512",
    "MALLOC_MMAP_MAX_": "0",  # keep freed memory, so that its pages need not be zeroed again
    "MALLOC_TRIM_THRESHOLD_": "100000000000",
}
SETTINGS = {"installed": {}, "tuned": TUNED}
THREADS = {"1": (1, 1), "2": (2, 2), "1x2": (1, 2)}  # of PyTorch, of its BLAS
MODULES = ["mha", "book", "lean"]


def main():
    a = arguments()
    if a.here:
        print(json.dumps(measure(a)), flush=True)
        return
    failed = 0
    for settings in chosen(a.settings, SETTINGS):
        for threads in chosen(a.threads, THREADS):
            for module in chosen(a.module, ["gpt"] if a.mode == "gpt-step" else MODULES):
                failed += not in_child(a, settings, threads, module)
    sys.exit(min(failed, 1))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for size in ["batch", "tokens", "width", "heads"]:
        p.add_argument("--" + size, type=int, required=True)
    p.add_argument("--mode", choices=["forward", "forward-backward", "gpt-step"], required=True)
    p.add_argument("--layers", type=int, default=0, help="blocks of the GPT of gpt-step")
    p.add_argument("--vocab", type=int, default=65, help="distinct tokens of gpt-step")
    p.add_argument("--runs", type=int, default=0, help="timed runs (default: as many as two seconds hold, at least 5)")
    p.add_argument("--settings", choices=list(SETTINGS), help="default: both")
    p.add_argument("--threads", choices=list(THREADS), help="of PyTorch, x of its BLAS if not equal (default: each)")
    p.add_argument("--module", choices=MODULES + ["blocks", "gpt"], help="default: mha, book and lean; gpt for gpt-step")
    p.add_argument("--here", action="store_true", help="one way, in this process, with its environment as it is")
    a = p.parse_args()
    if a.here and None in (a.settings, a.threads, a.module):
        p.error("--here: needs --settings, --threads and --module")
    if (a.mode == "gpt-step") != (a.layers > 0) or a.mode == "gpt-step" and a.module not in (None, "gpt"):
        p.error("--mode gpt-step: needs --layers, and has the module gpt alone")
    return a


def chosen(one, all_of_them):
    return [one] if one else list(all_of_them)


def in_child(a, settings, threads, module):
    """Measures one way in a new process, whose BLAS reads its settings at start; says whether it went well."""
    environment = {k: v for k, v in os.environ.items() if k not in TUNED}
    environment |= SETTINGS[settings]
    of_torch, of_blas = THREADS[threads]
    environment |= {"OMP_NUM_THREADS": str(of_torch), "OPENBLAS_NUM_THREADS": str(of_blas)}
    command = [sys.executable, os.path.abspath(__file__), "--here", "--settings", settings, "--threads", threads, "--module", module]
    for name in ["batch", "tokens", "width", "heads", "mode", "layers", "vocab", "runs"]:
        command += ["--" + name, str(getattr(a, name))]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f"bench.py: {settings} {module} with threads {threads}: exit code {done.returncode}", file=sys.stderr)
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return done.returncode == 0


def measure(a):
    limit_memory()
    import torch

    of_torch, of_blas = THREADS[a.threads]
    torch.set_num_threads(of_torch)
    torch.manual_seed(123)
    start = memory("VmRSS")
    took = timed(gpt_step(a) if a.mode == "gpt-step" else attention(a), a.runs)
    blocks = f" L{a.layers}" if a.layers else ""
    vocab = f" V{a.vocab}" if a.vocab != 65 else ""
    return {
        "name": f"B{a.batch} T{a.tokens} E{a.width} H{a.heads}{blocks}{vocab} {a.mode}",
        "batch": a.batch, "tokens": a.tokens, "embed_dim": a.width, "num_heads": a.heads, "num_layers": a.layers,
        "vocab_size": a.vocab, "mode": a.mode, "settings": a.settings,
        "module": a.module, "threads": of_torch, "blas_threads": of_blas, "blas": blas(),
        "torch": torch.__version__, "runs": len(took), "seconds": statistics.median(took), "seconds_min": min(took),
        "start_rss_bytes": start, "peak_rss_bytes": memory("VmHWM"),
    }


def attention(a):
    """What does an attention work once."""
    import torch

    module = modules()[a.module](a.tokens, a.width, a.heads)
    x = torch.randn(a.batch, a.tokens, a.width)
    upstream = torch.randn(a.batch, a.tokens, a.width)
    parameters = list(module.parameters())

    if a.mode == "forward":
        module.eval()

        def run():
            with torch.inference_mode():
                module(x)
    else:

        def run():
            torch.autograd.grad(module(x), parameters, upstream)

    return run


def gpt_step(a):
    """What takes a step of training a GPT."""
    import torch

    import gpt_train

    model = gpt_train.GPT(gpt_train.Config(a.vocab, a.tokens, a.width, a.layers, a.heads, bias=False))
    ids = torch.randint(0, a.vocab, (10 * a.batch * a.tokens + 1,))
    steps = gpt_train.train(model, ids, 1 << 40, a.batch)
    return lambda: next(steps)


def limit_memory():
    """Makes too large a work an error in this process, not the end of another."""
    with open("/proc/meminfo") as f:
        available = next(int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable"))
    resource.setrlimit(resource.RLIMIT_DATA, (available, available))


def timed(run, runs):
    """Seconds of each run after one to warm up; by default for two seconds, 5 to 1000 times."""
    run()
    took = []
    begin = time.perf_counter()
    while True:
        n = len(took)
        if n == runs > 0 or runs == 0 and n >= 5 and (n == 1000 or time.perf_counter() - begin > 2):
            return took
        start = time.perf_counter()
        run()
        took.append(time.perf_counter() - start)


def memory(field):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) << 10 for line in f if line.startswith(field + ":"))


def blas():
    """The file name of the library that has sgemm_, without its folder."""
    with open("/proc/self/maps") as f:
        files = {os.path.basename(os.path.realpath(line.split()[-1])) for line in f if ".so" in line}
    known = sorted(name for name in files if any(k in name for k in ["openblas", "mkl_", "blis", "libblas", "atlas"]))
    return " ".join(known) or "unknown"


def modules():
    """The ways to do the work, by name: classes made of (tokens, width, heads)."""
    import math

    import torch
    from torch import nn

    class MHA(nn.Module):
        def __init__(self, tokens, width, heads):
            super().__init__()
            self.attention = nn.MultiheadAttention(width, heads, bias=False, batch_first=True)
            self.attention.out_proj.bias = nn.Parameter(torch.zeros(width))
            # A mask of numbers; one of booleans would be turned into numbers in every run.
            self.register_buffer("mask", hidden(tokens))

        def forward(self, x):
            return self.attention(x, x, x, attn_mask=self.mask, need_weights=False)[0]

    class Book(nn.Module):
        def __init__(self, tokens, width, heads):
            super().__init__()
            self.heads = heads
            self.W_query = nn.Linear(width, width, bias=False)
            self.W_key = nn.Linear(width, width, bias=False)
            self.W_value = nn.Linear(width, width, bias=False)
            self.out_proj = nn.Linear(width, width)
            self.dropout = nn.Dropout(0.0)
            self.register_buffer("mask", torch.triu(torch.ones(tokens, tokens), diagonal=1))

        def split(self, x):
            return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)  # (B, H, T, D)

        def forward(self, x):
            tokens = x.shape[1]
            q, k, v = self.split(self.W_query(x)), self.split(self.W_key(x)), self.split(self.W_value(x))
            scores = q @ k.transpose(2, 3)
            scores.masked_fill_(self.mask.bool()[:tokens, :tokens], -torch.inf)
            weights = self.dropout(torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1))
            context = (weights @ v).transpose(1, 2).contiguous().view(x.shape)
            return self.out_proj(context)

    class Lean(nn.Module):
        def __init__(self, tokens, width, heads):
            super().__init__()
            self.heads, self.scale = heads, 1 / math.sqrt(width // heads)
            self.in_proj = nn.Linear(width, 3 * width, bias=False)
            self.out_proj = nn.Linear(width, width)
            self.register_buffer("mask", hidden(tokens))

        def forward(self, x):
            batch, tokens, width = x.shape
            qkv = self.in_proj(x).view(batch, tokens, 3, self.heads, width // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).reshape(3, batch * self.heads, tokens, -1)
            context = self.attend(q, k, v).view(batch, self.heads, tokens, -1)
            return self.out_proj(context.transpose(1, 2).reshape(x.shape))

        def attend(self, q, k, v):
            scores = torch.baddbmm(self.mask, q, k.transpose(1, 2), alpha=self.scale)
            return torch.softmax(scores, dim=-1) @ v

    class Blocks(Lean):
        def attend(self, q, k, v):
            return CausalBlocks.apply(q, k, v, self.mask, self.scale)

    class CausalBlocks(torch.autograd.Function):
        rows = 256

        @staticmethod
        def forward(ctx, q, k, v, mask, scale):
            out, weights = torch.empty_like(q), []
            for i in range(0, q.shape[1], CausalBlocks.rows):
                end = min(i + CausalBlocks.rows, q.shape[1])
                s = torch.baddbmm(mask[i:end, :end], q[:, i:end], k[:, :end].transpose(1, 2), alpha=scale)
                weights.append(torch.softmax(s, dim=-1))
                out[:, i:end] = weights[-1] @ v[:, :end]
            ctx.save_for_backward(q, k, v, out)
            ctx.weights, ctx.scale = weights, scale
            return out

        @staticmethod
        def backward(ctx, dout):
            q, k, v, out = ctx.saved_tensors
            dout = dout.contiguous()
            dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
            shift = (dout * out).sum(-1, keepdim=True)  # the sum of dweights*weights in each row
            for n, w in enumerate(ctx.weights):
                i, end = n * CausalBlocks.rows, w.shape[2]
                do = dout[:, i:end]
                dv[:, :end].baddbmm_(w.transpose(1, 2), do)
                ds = torch.bmm(do, v[:, :end].transpose(1, 2)).sub_(shift[:, i:end]).mul_(w)
                dq[:, i:end] = torch.bmm(ds, k[:, :end]).mul_(ctx.scale)
                dk[:, :end].baddbmm_(ds.transpose(1, 2), q[:, i:end], alpha=ctx.scale)
            return dq, dk, dv, None, None

    def hidden(tokens):
        return torch.full((tokens, tokens), -torch.inf).triu(1)

    return {"mha": MHA, "book": Book, "lean": Lean, "blocks": Blocks}


if __name__ == "__main__":
    main()

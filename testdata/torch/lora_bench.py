#!/usr/bin/env python3
"""Times a step of LoRA by `attention finetune` and by plain PyTorch, of the same Llama, in turns.

    lora_bench.py --model DIR [--rounds 3] [--steps 4] [--binary FILE]

DIR is a folder of a Llama with a tokenizer.json; its weights may be random ones. A step is forward, the gradients of
adapters of rank 8 on all linear maps but the head, and AdamW, over a batch of one row of 512 tokens; the base is frozen.
PyTorch has its weights in float32, attention in what the folder has. PyTorch is tuned as bench.py does it; its ways are
one and two threads, with all cores for its BLAS, and the maps of the same vectors one by one or packed into one product. Its
heads that share keys are one product, and its attention is a masked softmax. A first round, which does not count, takes
one step of each of PyTorch's ways; those that take a quarter longer than the fastest are left out of the others. A
side's time is the least median of its ways over the rounds.

The operations are those that forward and the wanted gradients need: of each frozen map its product and that of the
vectors' gradient, which the first layer's queries, keys and values do not need; of adapters all three; of attention
six products of the half that the causal mask leaves. The peak is that of attention's own loop in float32.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

from bench import TUNED, blas

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TOKENS, RANK = 512, 8
TORCH = ["torch 1 plain", "torch 1 packed", "torch 2 plain", "torch 2 packed"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--model", required=True, metavar="DIR")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--steps", type=int, default=4, help="steps of a measurement, of which the first does not count")
    p.add_argument("--binary", metavar="FILE", help="the attention command (default: build it)")
    p.add_argument("--torch", metavar="WAY", help=argparse.SUPPRESS)
    a = p.parse_args()
    with open(os.path.join(a.model, "config.json")) as f:
        c = json.load(f)
    if a.torch:
        threads, module = a.torch.split()
        return print(json.dumps(torch_steps(c, int(threads), module == "packed", a.steps)))
    with tempfile.TemporaryDirectory() as folder:
        binary = a.binary or os.path.join(folder, "attention")
        if not a.binary:
            subprocess.run(["go", "build", "-o", binary, "./cmd/attention"], cwd=ROOT, check=True)
        data = os.path.join(folder, "text.jsonl")
        with open(os.path.join(ROOT, "README.md")) as f, open(data, "w") as to:
            to.write(json.dumps({"text": f.read()}) + "\n")
        first = {way: theirs(a, way.split(" ", 1)[1], 2)[0] for way in TORCH}
        print(f"one step: {first}", file=sys.stderr, flush=True)
        ways = ["attention full", "attention bf16"] + [way for way in TORCH if first[way] < 1.25 * min(first.values())]
        took = {}
        for i in range(a.rounds):
            for way in ways:
                side, how = way.split(" ", 1)
                times = ours(a, binary, data, how, folder) if side == "attention" else theirs(a, how, a.steps)
                took.setdefault(way, []).append(statistics.median(times))
                print(f"round {i + 1}: {way}: {took[way][-1]:.3f} s", file=sys.stderr, flush=True)
        peak = json.loads(run([binary, "bench", "--json", "--batch", "1", "--tokens", "64", "--width", "64", "--heads", "1"]))
        report(c, {way: statistics.median(times) for way, times in took.items()}, peak["peak_flop_per_second"])


def report(c, took, peak):
    theirs = min((way for way in took if way.startswith("torch")), key=took.get)
    flop = operations(c)
    for way, seconds in took.items():
        print(f"{way}: {seconds:.3f} s, {seconds / took[theirs]:.2f} of {theirs}, "
              f"{flop / seconds / 1e9:.0f} GFLOP/s, {flop / seconds / peak:.2f} of the peak of {peak / 1e9:.0f}")


def run(command, **environment):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | environment)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def ours(a, binary, data, precision, folder):
    """Seconds of each step but the first."""
    out = tempfile.mkdtemp(dir=folder)
    run([binary, "finetune", "--model", a.model, "--data", data, "--lora", str(RANK), "--context", str(TOKENS), "--batch", "1",
         "--steps", str(a.steps), "--precision", precision, "--sample", "0", "--eval-every", "0", "--save-every", "1000", "--out", out])
    with open(os.path.join(out, "metrics.jsonl")) as f:
        rates = [json.loads(line).get("tokens_per_second") for line in f]
    return [TOKENS / r for r in rates if r][1:]


def theirs(a, way, steps):
    threads = {"OMP_NUM_THREADS": way.split()[0], "OPENBLAS_NUM_THREADS": str(os.cpu_count()), "OMP_WAIT_POLICY": "passive"}
    return json.loads(run([sys.executable, "-B", __file__, "--model", a.model, "--steps", str(steps), "--torch", way], **TUNED, **threads))


def shape(c):
    heads, groups = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"])
    return c["hidden_size"], heads, groups, c.get("head_dim") or c["hidden_size"] // heads, c["intermediate_size"]


def operations(c):
    """Of one step."""
    width, heads, groups, d, inner = shape(c)
    maps = [(heads * d, width), (groups * d, width), (groups * d, width), (width, heads * d), (inner, width), (inner, width), (width, inner)]
    layers, total = c["num_hidden_layers"], 4 * c["vocab_size"] * width
    for layer in range(layers):
        for i, (out, into) in enumerate(maps):
            first = layer == 0 and i < 3
            total += (2 if first else 4) * out * into + (4 if first else 6) * RANK * out + (4 if first else 6) * RANK * into
        total += 6 * 2 * (TOKENS / 2) * heads * d
    return total * TOKENS


def torch_steps(c, threads, packed, steps):
    """Seconds of each step of plain PyTorch but the first."""
    import torch
    from torch import nn
    from torch.nn import functional as F
    if "openblas" not in blas():
        sys.exit(f"BLAS: got {blas()}, want OpenBLAS (libopenblas0-pthread): the reference takes minutes for a step")
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    width, heads, groups, d, inner = shape(c)
    eps, base, vocab = c["rms_norm_eps"], c.get("rope_theta", 10000), c["vocab_size"]

    class Maps(nn.Module):
        """Maps of the same vectors, each with an adapter."""

        def __init__(self, into, *outs):
            super().__init__()
            weights = [0.02 * torch.randn(out, into) for out in outs]
            self.outs, self.weights = outs, [torch.cat(weights)] if packed else weights
            self.a = nn.ParameterList([nn.Parameter(torch.randn(RANK, into) / math.sqrt(into)) for _ in outs])
            self.b = nn.ParameterList([nn.Parameter(torch.zeros(out, RANK)) for out in outs])

        def forward(self, x):
            y = [F.linear(x, w) for w in self.weights]
            y = y[0].split(self.outs, dim=-1) if packed else y
            low = F.linear(x, torch.cat(list(self.a))).split(RANK, dim=-1) if packed else [F.linear(x, a) for a in self.a]
            return [torch.addmm(v, h, b.t(), alpha=2.0) for v, h, b in zip(y, low, self.b)]

    def norm(x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)

    frequencies = base ** (-torch.arange(0, d, 2) / d)
    angles = torch.outer(torch.arange(TOKENS), frequencies).repeat(1, 2)
    cos, sin = angles.cos(), angles.sin()
    hidden = torch.full((TOKENS, TOKENS), -math.inf).triu(1)

    def turned(x):  # (H, T, D)
        return x * cos + torch.cat([-x[..., d // 2:], x[..., :d // 2]], -1) * sin

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.o = Maps(width, heads * d, groups * d, groups * d), Maps(heads * d, width)
            self.gate, self.down = Maps(width, inner, inner), Maps(inner, width)

        def forward(self, x):
            q, k, v = self.qkv(norm(x))
            q = turned(q.view(TOKENS, heads, d).transpose(0, 1)).reshape(groups, -1, d)  # heads of the same keys
            k = turned(k.view(TOKENS, groups, d).transpose(0, 1))
            scores = torch.bmm(q, k.transpose(1, 2)).view(heads, TOKENS, TOKENS) / math.sqrt(d) + hidden
            mixed = torch.bmm(scores.softmax(-1).view(groups, -1, TOKENS), v.view(TOKENS, groups, d).transpose(0, 1))
            x = x + self.o(mixed.view(heads, TOKENS, d).transpose(0, 1).reshape(TOKENS, -1))[0]
            gate, up = self.gate(norm(x))
            return x + self.down(F.silu(gate) * up)[0]

    embeddings = 0.02 * torch.randn(vocab, width)
    blocks = nn.Sequential(*[Block() for _ in range(c["num_hidden_layers"])])
    solver = torch.optim.AdamW(blocks.parameters(), lr=2e-4, foreach=True)
    ids = torch.randint(vocab, (TOKENS,))
    times = []
    for _ in range(steps):
        begin = time.perf_counter()
        logits = F.linear(norm(blocks(embeddings[ids])), embeddings)
        loss = F.cross_entropy(logits[:-1], ids[1:])
        solver.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(blocks.parameters(), 1.0)
        solver.step()
        times.append(time.perf_counter() - begin)
    return times[1:]


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times attention in turns with today's PyTorch, transformers and peft, and prints a Markdown table.

    compare.py --venv DIR [--model DIR] [--works REGEXP] [--kernels avx2] [--rounds 5]

DIR of --venv gets a virtual environment with PACKAGES, unless it is there. --model is the folder of
SmolLM2-135M-Instruct; without it the works on a published model are left out. --kernels avx2 limits both sides to AVX2.
Each measurement is a process of its own with two threads. In a first round, which does not count, each way of PyTorch
takes its turn; those that take a quarter longer than the fastest are left out of the others. A cell is the median of
the rounds, a ratio that of the medians. PyTorch keeps its memory (KEEP), which makes it faster. Memory is the peak of
the process. The share of the peak is that of `attention bench`.

The works: causal multi-head attention without a bias in q, k and v, forward with the gradients of its parameters, or
forward alone; a step of training a GPT (nanoGPT's on characters, GPT-2's size), with clipping and AdamW; a step of LoRA
of rank 8 on all linear maps, 2 rows of 512 tokens, AdamW; a prompt of some thousand tokens; 100 greedy tokens after a
prompt of 5, from the first new token to the last.
"""
import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = ["torch==2.15.0", "transformers==5.24.0", "peft==0.21.2"]
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000"}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AVX2 = {"ATTENTION_KERNELS": "avx2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
PAUSE = 0.25  # seconds between turns: the threads of OpenMP go on spinning
ATTENTION = [  # B, T, E, H, mode
    (2, 1024, 768, 12, "forward-backward"), (2, 1024, 768, 12, "forward"), (1, 4096, 768, 12, "forward-backward"),
    (1, 4096, 768, 12, "forward"), (32, 32, 64, 4, "forward-backward"),
]
WAYS = ["mha", "sdpa", "mha compiled", "sdpa compiled"]
GPTS = [  # B, T, E, H, layers, vocabulary
    (12, 64, 128, 4, 4, 65), (1, 1024, 768, 12, 12, 50257),
]
PROMPT, NEW, ROW, ROWS, RANK = "The history of attention is", 100, 512, 2, 8


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--venv", metavar="DIR")
    p.add_argument("--model", metavar="DIR")
    p.add_argument("--works", metavar="REGEXP", default="", help="works whose name matches, such as 'LoRA|token'")
    p.add_argument("--kernels", choices=["avx2"], help="limit both sides to these instructions")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--child", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.child:
        return print(json.dumps(child(json.loads(a.child))))
    if not a.venv:
        p.error("--venv: missing, want a folder for the virtual environment")
    python = os.path.join(a.venv, "bin/python")
    if not os.path.exists(python):
        subprocess.run([sys.executable, "-m", "venv", a.venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    if a.kernels:
        os.environ.update(AVX2)
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "attention")
        subprocess.run(["go", "build", "-o", binary, "./cmd/attention"], cwd=ROOT, check=True)
        works = [attention_work(binary, w) for w in ATTENTION] + [gpt_work(binary, w) for w in GPTS]
        if a.model:
            works += [lora_work(binary, a.model, folder), prompt_work(binary, a.model), tokens_work(binary, a.model)]
        print("| work | here | PyTorch | ratio | memory here | PyTorch | of the peak | fastest of PyTorch |")
        print("|---|---:|---:|---:|---:|---:|---:|---|")
        for name, ours, theirs in works:
            if re.search(a.works, name):
                print(row(name, *in_turns(name, python, ours, theirs, a.rounds)), flush=True)


def in_turns(name, python, ours, theirs, rounds):
    """The measurements of our side and of the fastest way of the other."""
    def other(work):
        return json.loads(run([python, os.path.abspath(__file__), "--child", json.dumps(work)], KEEP))

    first = {w["way"]: other(w)["seconds"] for w in theirs}
    kept = [w for w in theirs if first[w["way"]] < 1.25 * min(first.values())]
    print(f"{name}: first round {first}", file=sys.stderr, flush=True)
    mine, took = [], {w["way"]: [] for w in kept}
    for i in range(rounds):
        mine.append(ours())
        for w in kept:
            took[w["way"]].append(other(w))
        print(f"{name}: round {i + 1}: {mine[-1]['seconds']:.4g} s, "
              + ", ".join(f"{way} {t[-1]['seconds']:.4g} s" for way, t in took.items()), file=sys.stderr, flush=True)
    fastest = min(took, key=lambda way: median(took[way], "seconds"))
    return mine, took[fastest], fastest


def row(name, mine, theirs, way):
    a, b = median(mine, "seconds"), median(theirs, "seconds")
    memory = [f"{median(t, 'memory') / 1e6:.0f} MB" for t in (mine, theirs)]
    share = f"{median(mine, 'share'):.2f}" if "share" in mine[0] else ""
    return f"| {name} | {length(a)} | {length(b)} | {a / b:.2f} | {memory[0]} | {memory[1]} | {share} | {way} |"


def median(took, of):
    return statistics.median(t[of] for t in took)


def length(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def run(command, more=None):
    time.sleep(PAUSE)
    environment = os.environ | {"OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2", "GOMAXPROCS": "2"} | (more or {})
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def peak(command):
    """What a command prints, and its peak memory."""
    time.sleep(PAUSE)
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=os.environ | {"GOMAXPROCS": "2"})
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read()
    if status:
        sys.exit(f"{command[0]}: {text.strip()}")
    return text, usage.ru_maxrss * 1024


def attention_work(binary, work):
    b, t, e, h, mode = work
    name = f"attention, B {b}, T {t}, E {e}, H {h}: {mode.replace('-', ' and ')}"
    return name, bench(binary, b, t, e, h, mode), [{"work": "attention", "size": work, "way": way} for way in WAYS]


def gpt_work(binary, work):
    b, t, e, h, layers, vocab = work
    name = f"a step of a GPT, B {b}, T {t}, E {e}, H {h}, {layers} layers, {vocab} tokens"
    ours = bench(binary, b, t, e, h, "gpt-step", "--layers", str(layers), "--vocab", str(vocab))
    return name, ours, [{"work": "gpt", "size": work, "way": way} for way in ["plain", "compiled"]]


def bench(binary, b, t, e, h, mode, *more):
    command = [binary, "bench", "--json", "--batch", str(b), "--tokens", str(t), "--width", str(e), "--heads", str(h),
               "--mode", mode, *more]

    def ours():
        took = json.loads(run(command))
        share = took["flop_per_second"] / took["peak_flop_per_second"]
        return {"seconds": took["seconds"], "memory": took["peak_rss_bytes"], "share": share}

    return ours


def lora_work(binary, model, folder):
    data = os.path.join(folder, "text.jsonl")
    with open(os.path.join(ROOT, "cmd/attention/README.md")) as f, open(data, "w") as to:
        text = f.read()
        for i in range(8):
            to.write(json.dumps({"text": text[4000 * i:4000 * (i + 1)]}) + "\n")

    def ours():
        out = tempfile.mkdtemp(dir=folder)
        _, memory = peak([binary, "finetune", "--model", model, "--data", data, "--lora", str(RANK), "--context", str(ROW),
                          "--batch", str(ROWS), "--steps", "4", "--sample", "0", "--eval-every", "0", "--save-every", "1000",
                          "--out", out])
        with open(os.path.join(out, "metrics.jsonl")) as f:
            rates = [json.loads(line).get("tokens_per_second") for line in f]
        steps = [ROWS * ROW / r for r in rates if r]
        return {"seconds": statistics.median(steps[1:]), "memory": memory}

    return (f"a step of LoRA, SmolLM2-135M, {ROWS} × {ROW} tokens", ours,
            [{"work": "lora", "model": os.path.abspath(model), "way": "transformers and peft"}])


def prompt_work(binary, model):
    with open(os.path.join(ROOT, "cmd/attention/README.md")) as f:
        prompt = f.read()[:4000]

    def ours():
        text, memory = peak([binary, "generate", "--model", model, "--prompt", prompt, "--tokens", "1", "--temperature", "0", "--stats"])
        return {"seconds": float(re.search(r"^prompt: \d+ tokens in ([\d.]+) s", text, re.M)[1]), "memory": memory}

    return ("a prompt of SmolLM2-135M, 4000 characters", ours,
            [{"work": "prompt", "model": os.path.abspath(model), "prompt": prompt, "way": "transformers"}])


def tokens_work(binary, model):
    def ours():
        text, memory = peak([binary, "generate", "--model", model, "--prompt", PROMPT, "--tokens", str(NEW), "--temperature", "0",
                             "--stats"])
        rate = float(text.rsplit(" tokens/s", 1)[0].split()[-1])
        return {"seconds": 1 / rate, "memory": memory}

    return "a token of SmolLM2-135M", ours, [{"work": "tokens", "model": os.path.abspath(model), "way": "transformers"}]


def child(work):
    """Measures a way of the other side, in this process."""
    import torch
    torch.set_num_threads(2)
    torch.manual_seed(123)
    seconds = {"attention": attention, "gpt": gpt, "lora": lora, "prompt": prompt, "tokens": tokens}[work["work"]](work, torch)
    return {"seconds": seconds, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def timed(step, least=5, seconds=2.0):
    """The median time of a step, after two that do not count."""
    step(), step()
    took = []
    while len(took) < least or sum(took) < seconds:
        begin = time.perf_counter()
        step()
        took.append(time.perf_counter() - begin)
    return statistics.median(took)


def attention(work, torch):
    b, t, e, h, mode = work["size"]
    module = modules(torch)[work["way"].split()[0]](t, e, h)
    x, upstream = torch.randn(b, t, e), torch.randn(b, t, e)
    parameters = [p for p in module.parameters() if p.requires_grad]
    if mode == "forward":
        module.eval()
    if work["way"].endswith("compiled"):
        module = torch.compile(module)

    def forward():
        with torch.inference_mode():
            module(x)

    def both():
        torch.autograd.grad(module(x), parameters, upstream)

    return timed(forward if mode == "forward" else both)


def modules(torch):
    class MHA(torch.nn.Module):
        def __init__(self, t, e, h):
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(e, h, bias=False, batch_first=True)
            self.register_buffer("mask", torch.ones(t, t, dtype=torch.bool).triu(1))

        def forward(self, x):
            return self.attention(x, x, x, attn_mask=self.mask, need_weights=False, is_causal=True)[0]

    class SDPA(torch.nn.Module):
        def __init__(self, t, e, h):
            super().__init__()
            self.heads, self.qkv, self.out = h, torch.nn.Linear(e, 3 * e, bias=False), torch.nn.Linear(e, e)

        def forward(self, x):
            b, t, e = x.shape
            q, k, v = self.qkv(x).view(b, t, 3, self.heads, e // self.heads).permute(2, 0, 3, 1, 4)
            y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.out(y.transpose(1, 2).reshape(b, t, e))

    return {"mha": MHA, "sdpa": SDPA}


def gpt(work, torch):
    b, t, e, h, layers, vocab = work["size"]
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(e, bias=False), nn.LayerNorm(e, bias=False)
            self.qkv, self.out = nn.Linear(e, 3 * e, bias=False), nn.Linear(e, e, bias=False)
            self.mlp = nn.Sequential(nn.Linear(e, 4 * e, bias=False), nn.GELU(), nn.Linear(4 * e, e, bias=False))

        def forward(self, x):
            q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, h, e // h).permute(2, 0, 3, 1, 4)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, e))
            return x + self.mlp(self.norm2(x))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.positions = nn.Embedding(vocab, e), nn.Embedding(t, e)
            self.blocks = nn.Sequential(*[Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(e, bias=False), nn.Linear(e, vocab, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, ids, targets):
            x = self.blocks(self.tokens(ids) + self.positions.weight)
            return functional.cross_entropy(self.head(self.norm(x)).view(-1, vocab), targets.view(-1))

    module = GPT()
    model = torch.compile(module) if work["way"] == "compiled" else module
    solver = torch.optim.AdamW(module.parameters(), lr=1e-3, fused=True)
    ids, targets = torch.randint(vocab, (2, b, t))

    def step():
        solver.zero_grad(set_to_none=True)
        model(ids, targets).backward()
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        solver.step()

    return timed(step, least=3)


def lora(work, torch):
    import peft
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(work["model"], dtype=torch.float32)
    model = peft.get_peft_model(model, peft.LoraConfig(r=RANK, lora_alpha=2 * RANK, target_modules="all-linear"))
    solver = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    ids = torch.randint(model.config.vocab_size, (ROWS, ROW))

    def step():
        solver.zero_grad(set_to_none=True)
        model(input_ids=ids, labels=ids).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        solver.step()

    return timed(step, least=3, seconds=0)


def prompt(work, torch):
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(work["model"])
    model = transformers.AutoModelForCausalLM.from_pretrained(work["model"], dtype=torch.float32)
    ids = tokenizer(work["prompt"], return_tensors="pt")

    def read():
        with torch.inference_mode():
            model(**ids, use_cache=True, logits_to_keep=1)

    return timed(read, least=3, seconds=0)


def tokens(work, torch):
    import transformers
    tokenizer = transformers.AutoTokenizer.from_pretrained(work["model"])
    model = transformers.AutoModelForCausalLM.from_pretrained(work["model"], dtype=torch.float32)
    prompt = tokenizer(PROMPT, return_tensors="pt")

    def write(n):
        begin = time.perf_counter()
        with torch.inference_mode():
            model.generate(**prompt, do_sample=False, max_new_tokens=n, min_new_tokens=n)
        return time.perf_counter() - begin

    write(4)
    return (write(NEW) - write(1)) / (NEW - 1)


if __name__ == "__main__":
    main()

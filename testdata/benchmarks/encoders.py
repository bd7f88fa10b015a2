#!/usr/bin/env python3
"""Times the encoder all-MiniLM-L6-v2 in turns with PyTorch and onnxruntime, and prints Markdown tables.

    encoders.py --venv DIR --model DIR [--rounds 9] [--threads 2] [--steps-only] [--embed-only]

DIR of --venv is a virtual environment with PACKAGES, and DIR of --model the folder of all-MiniLM-L6-v2. The works: the
vectors of B texts of T tokens, and a step that trains all weights on 32 triplets of 32 tokens by
MultipleNegativesRankingLoss with dropout and AdamW. Each side is one process, and the processes take turns: a ratio is
the median over the rounds of a round's ratio, so a load of the machine that lasts for a round divides out. The second
ratio is that of the time of all processors. With one thread it does not depend on the load, except for caches.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = ["torch==2.15.0", "transformers==5.24.0", "onnxruntime==1.32.0", "onnx==1.23.2"]
KEEP = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000"}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EMBED = [(1, 12), (1, 64), (1, 256), (32, 64)]
ROWS, LENGTH = 32, 32


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--venv", metavar="DIR", required=True)
    p.add_argument("--model", metavar="DIR", required=True)
    p.add_argument("--rounds", type=int, default=9)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--steps-only", action="store_true")
    p.add_argument("--embed-only", action="store_true")
    p.add_argument("--child", help=argparse.SUPPRESS)
    a = p.parse_args()
    if a.child:
        return child(a.child, a.model, a.threads)
    works = [] if a.embed_only else [f"step {ROWS} {LENGTH} 0"]
    works += [] if a.steps_only else [f"embed {b} {t}" for b, t in EMBED]
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "encoders")
        subprocess.run(["go", "build", "-o", binary, "testdata/benchmarks/encoders.go"], cwd=ROOT, check=True)
        threads = {"GOMAXPROCS": str(a.threads), "OMP_NUM_THREADS": str(a.threads), "MKL_NUM_THREADS": str(a.threads)}
        python = [os.path.join(a.venv, "bin/python"), os.path.abspath(__file__), "--venv", a.venv, "--model", a.model,
                  "--threads", str(a.threads), "--child"]
        sides = {"here": Side([binary, a.model], threads), "PyTorch": Side(python + ["torch"], threads | KEEP)}
        if not a.steps_only:
            sides["onnxruntime"] = Side(python + [folder], threads)
        print(f"| work, threads: {a.threads} | other | here | other | ratio | processors' time here | other | ratio |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for work in works:
            others = [name for name in sides if name != "here" and not (name == "onnxruntime" and work.startswith("step"))]
            for name, row in in_turns(work, sides, others, a.rounds).items():
                print(f"| {work} | {name} | {' | '.join(row)} |", flush=True)


class Side:
    """A process that runs works."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=os.environ | environment)

    def run(self, work):
        """The seconds of a work, and those of all processors."""
        self.process.stdin.write(work + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{work}: the process has ended")
        return [float(x) for x in line.split()]


def in_turns(work, sides, others, rounds):
    """The cells of each other side: both medians and that of the ratios, by the clock and of the processors' time."""
    times = 1 if work.startswith("step") else 15  # short works run several times in a turn
    took = {name: [] for name in ["here"] + others}
    for i in range(rounds + 2):
        for name in took:
            turn = [sides[name].run(work) for _ in range(times)]
            if i >= 2:  # the first two do not count
                took[name].append([statistics.median(column) for column in zip(*turn)])
        print(f"{work}: " + ", ".join(f"{name} {t[-1][0]:.4g} ({t[-1][1]:.4g}) s" for name, t in took.items() if t),
              file=sys.stderr, flush=True)
    rows = {name: [] for name in others}
    for name, row in rows.items():
        for kind in range(2):
            columns = [[t[kind] for t in took[side]] for side in ("here", name)]
            row += [length(statistics.median(c)) for c in columns]
            row.append(f"{statistics.median(x / y for x, y in zip(*columns)):.2f}")
    return rows


def length(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def child(side, model, threads):
    """Runs the works of standard input in this process: with PyTorch, or with onnxruntime and a model in folder side."""
    import torch
    import transformers
    torch.set_num_threads(threads)
    torch.manual_seed(123)
    encoder = transformers.AutoModel.from_pretrained(model, dtype=torch.float32)
    runs = (torch_works if side == "torch" else onnx_works)(torch, encoder, side, threads)
    works = {}
    for line in sys.stdin:
        work = line.strip()
        if work not in works:
            kind, rows, tokens = work.split()[:3]
            works[work] = runs(kind, int(rows), int(tokens))
        begin, before = time.perf_counter(), time.process_time()
        works[work]()
        print(time.perf_counter() - begin, time.process_time() - before, flush=True)


def vectors(torch, encoder, ids, mask):
    x = encoder(input_ids=ids, attention_mask=mask).last_hidden_state
    weights = mask.unsqueeze(-1).to(x.dtype)
    return torch.nn.functional.normalize((x * weights).sum(1) / weights.sum(1).clamp(min=1e-9))


def torch_works(torch, encoder, _, threads):
    def work(kind, rows, tokens):
        def texts():
            return torch.randint(1000, encoder.config.vocab_size, (rows, tokens)), torch.ones(rows, tokens, dtype=torch.long)
        if kind == "step":
            return step(torch, encoder, [texts() for _ in range(3)])
        ids, mask = texts()

        def embed():
            encoder.eval()
            with torch.inference_mode():
                vectors(torch, encoder, ids, mask)

        return embed

    return work


def step(torch, encoder, texts):
    solver = torch.optim.AdamW(encoder.parameters(), lr=2e-5, weight_decay=0)

    def run():
        encoder.train()
        solver.zero_grad(set_to_none=True)
        anchors, *others = [vectors(torch, encoder, *text) for text in texts]
        scores = 20 * anchors @ torch.cat(others).T
        torch.nn.functional.cross_entropy(scores, torch.arange(len(scores))).backward()
        solver.step()

    return run


def onnx_works(torch, encoder, folder, threads):
    import numpy
    import onnxruntime

    class Vectors(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = encoder

        def forward(self, ids, mask):
            return vectors(torch, self.encoder, ids, mask)

    encoder.eval()
    ids = torch.randint(1000, encoder.config.vocab_size, (2, 16))
    path = os.path.join(folder, "model.onnx")
    axes = {name: {0: "B", 1: "T"} for name in ("ids", "mask")}
    torch.onnx.export(Vectors(), (ids, torch.ones_like(ids)), path, input_names=["ids", "mask"], output_names=["vectors"],
                      dynamic_axes=axes, dynamo=False, opset_version=17)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def work(kind, rows, tokens):
        fed = {"ids": numpy.random.randint(1000, encoder.config.vocab_size, (rows, tokens)),
               "mask": numpy.ones((rows, tokens), dtype=numpy.int64)}
        return lambda: session.run(None, fed)

    return work


if __name__ == "__main__":
    main()

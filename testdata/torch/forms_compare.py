#!/usr/bin/env python3
"""Compares the delta rule in chunks and sparse attention with plain PyTorch and with full attention of our own.

    python3 testdata/torch/forms_compare.py [--rounds 3] [T ...]

prints a table of benchmarks.md, of T 4096 and 16384 without numbers: a forward with all gradients, B 1, H 12, D and
Dv 64, in float32, ops alone, without projections. linearbench.py and sparsebench.py are PyTorch's side, the benchmarks
of package graph ours. Both sides take turns, round after round, each measurement a process of its own; times are the
medians of the rounds. The share of the peak is that of the processor's time, of the operations that the form needs in
chunks, without what is computed again. It takes four minutes on two cores.
"""
import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FORMS = {  # a benchmark of ours and what it calls the time, and PyTorch's script
    "gated delta rule": ("LinearAttention/T={}/gated_delta$", "least-ms", "linearbench.py"),
    "blocks of 256, 4 seen": ("SparseAttention/T={}$", "sparse-ms", "sparsebench.py"),
}


def output(*command, **more):
    environment = {**os.environ, **more}
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT, env=environment).stdout


def ours(binary, pattern):
    text = output(binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", "1x")
    return {name: float(number) for number, name in re.findall(r"([\d.e+-]+) ([a-z-]+)", text)}


def torch(script, T):
    """PyTorch's time, with one thread of its own or with two: which is faster differs."""
    ways = [output(sys.executable, os.path.join(HERE, script), str(T), "2", OMP_NUM_THREADS=n) for n in "12"]
    return min(float(re.search(r": (\d+) ms", way)[1]) for way in ways)


def measure(binary, T, rounds):
    """The medians of the metrics by form, with PyTorch's time and, of all forms, full attention's."""
    all = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form, (pattern, time, script) in FORMS.items():
            metrics = ours(binary, pattern.format(T))
            all[form].append({**metrics, "ours": metrics[time], "torch": torch(script, T)})
            print(f"T {T}, {form}: {all[form][-1]}", file=sys.stderr)
    median = {f: {name: statistics.median(x[name] for x in found) for name in found[0]} for f, found in all.items()}
    full = next(m["full-ms"] for m in median.values() if "full-ms" in m)
    return {form: {**m, "full": full} for form, m in median.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("T", type=int, nargs="*", default=[4096, 16384])
    a = parser.parse_args()
    print("| form | T | ours | PyTorch | ratio | full attention | ratio | of the peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "graph.test")
        output("go", "test", "-c", "-o", binary, "./graph")
        for T in a.T:
            for form, m in measure(binary, T, a.rounds).items():
                print(f"| {form} | {T} | {m['ours']:.0f} ms | {m['torch']:.0f} ms | {m['ours'] / m['torch']:.2f} | "
                      f"{m['full']:.0f} ms | {m['ours'] / m['full']:.3f} | {100 * m['of-peak']:.0f} % |", flush=True)


main()

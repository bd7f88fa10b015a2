#!/usr/bin/env python3
"""Compares `attention bench` with PyTorch, and prints the tables of the README.

    bench_compare.py [--quick] [--only time|memory] [--works REGEXP] [--lines FILE]

Every work is done by attention with 1 and with 2 threads, and by PyTorch in all the
ways of bench.py, which have no more. The fastest few ways of each side are then timed
again in turns, round after round, so that what else the machine does weighs on all
alike. A side's time is that of its fastest way, each way's the median of the rounds;
its memory is the least peak of any way. Each measurement is a process of its own. The
peak that a rate is compared with is the higher of attention's own loop and of peak.c's,
which runs after each measurement if there is a gcc.

Needs Go, python3-torch on an optimised BLAS (libopenblas0-pthread) and a machine that does
nothing else. An OpenBLAS that is unpacked but not installed is used if
LD_LIBRARY_PATH names its folder.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SIDES = ["attention", "installed", "tuned"]


def work(batch, tokens, width, heads, mode, **more):
    return {"batch": batch, "tokens": tokens, "width": width, "heads": heads, "mode": mode} | more


TIMED = [
    work(2, 1024, 768, 12, "forward-backward"),
    work(2, 1024, 768, 12, "forward"),
    work(1, 4096, 768, 12, "forward-backward"),
    work(32, 32, 64, 4, "forward-backward"),
    work(12, 64, 128, 4, "gpt-step", layers=4),
]
LENGTHS = [work(1, 2**n, 768, 12, "forward-backward") for n in range(8, 14)]


def name(w):
    blocks = f" L{w['layers']}" if "layers" in w else ""
    return f"B{w['batch']} T{w['tokens']} E{w['width']} H{w['heads']}{blocks} {w['mode']}"


def main():
    a = arguments()
    timed = [w for w in TIMED if a.only != "memory" and re.search(a.works, name(w))]
    lengths = [w for w in LENGTHS if a.only != "time" and w not in timed and re.search(a.works, name(w))]
    if not timed + lengths:
        sys.exit(f"bench_compare.py: --works: got {a.works!r}, which matches no name, such as {name(TIMED[0])!r}")
    load = os.getloadavg()[0]
    if load > 0.3:
        say(f"warning: the machine is busy (load {load}); times will be off")
    with tempfile.TemporaryDirectory() as folder:
        binary = a.binary or build(os.path.join(folder, "attention"))
        bench = Bench(binary, build_peak(os.path.join(folder, "peak")), a.lines)
        check_blas(bench)
        memory = []
        if timed:
            times, memory = compare_times(bench, timed, a)
            print(time_table(times), flush=True)
        print(memory_table(memory + compare_memory(bench, lengths)))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="2 rounds of 3 runs of the fastest way, not 7 rounds of two seconds of two ways")
    p.add_argument("--only", choices=["time", "memory"], help="only the works of one table: times, or memory by length")
    p.add_argument("--works", default="", metavar="REGEXP", help="works whose name matches, such as 'B2 T1024.*d$'")
    p.add_argument("--lines", metavar="FILE", help="append every measurement as a line of JSON")
    p.add_argument("--binary", metavar="FILE", help="the attention command (default: build it)")
    return p.parse_args()


def say(text):
    print(text, file=sys.stderr, flush=True)


def build(path):
    subprocess.run(["go", "build", "-o", path, "./cmd/attention"], cwd=ROOT, check=True)
    return path


def build_peak(path):
    """The program that measures the peak, or None without a compiler."""
    source = os.path.join(HERE, "peak.c")
    try:
        subprocess.run(["gcc", "-O3", "-march=native", "-pthread", "-o", path, source], check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        say(f"warning: the peak is attention's own loop's: {e}")
        return None
    return path


class Bench:
    """Runs measurements and keeps them by work and way."""

    def __init__(self, binary, peak, lines):
        self.binary, self.peak, self.lines = binary, peak, lines
        self.results = {}  # (name of the work, way) -> results

    def run(self, w, way, runs):
        """One measurement; None if the work fails, as for want of memory."""
        sizes = [x for key, value in w.items() for x in ("--" + key, str(value))]
        side, *rest = way
        if side == "attention":
            command = [self.binary, "bench", "--json", "--threads", rest[0]]
        else:
            threads, module = rest
            script = os.path.join(HERE, "bench.py")
            command = [sys.executable, "-B", script, "--settings", side, "--threads", threads, "--module", module]
        done = subprocess.run(command + sizes + ["--runs", str(runs)], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            say(f"{name(w)}: {' '.join(way)}: failed")
            return None
        result = json.loads(done.stdout)
        if side == "attention" and self.peak:
            measured = subprocess.run([self.peak, rest[0], "100"], stdout=subprocess.PIPE, text=True, check=True)
            result["peak_flop_per_second"] = max(result["peak_flop_per_second"], float(measured.stdout))
        say(f"{name(w)}: {' '.join(way)}: {seconds(result['seconds'])}, {mebibytes(result['peak_rss_bytes'])} MiB")
        self.results.setdefault((name(w), way), []).append(result)
        if self.lines:
            with open(self.lines, "a") as f:
                f.write(json.dumps({"way": list(way)} | result) + "\n")
        return result

    def ways(self, w, side):
        """The ways of a side that did the work, with their results."""
        return {way: r for (n, way), r in self.results.items() if n == name(w) and way[0] == side}


def check_blas(bench):
    """A comparison with PyTorch on the reference BLAS, many times slower, would say nothing."""
    r = bench.run(work(1, 8, 8, 1, "forward"), ("installed", "1", "mha"), 1)
    if r is None:
        sys.exit("bench_compare.py: bench.py does not run; is python3-torch installed?")
    if not re.search("openblas|mkl|blis", r["blas"]):
        sys.exit(f"bench_compare.py: PyTorch multiplies with {r['blas']}, want OpenBLAS: install libopenblas0-pthread")
    say(f"torch {r['torch']} on {r['blas']}")
    bench.results.clear()


def all_ways(w):
    modules = ["gpt"] if w["mode"] == "gpt-step" else ["mha", "book", "lean"]
    ways = [("attention", "1"), ("attention", "2")]
    for settings in ["installed", "tuned"]:
        for threads in ["1", "2", "1x2"]:
            for module in modules:
                ways.append((settings, threads, module))
    return ways


def compare_times(bench, works, a):
    """Rows of (work, side -> fastest way), and of (work, least_memory).

    The fastest few ways of each side are chosen first; all are then timed in turns.
    """
    rounds, runs, few = (2, 3, 1) if a.quick else (7, 0, 2)
    chosen, memory = {}, []
    for w in works:
        for way in all_ways(w):
            bench.run(w, way, 3)
        memory.append((w, least_memory(bench, w)))
        chosen[name(w)] = []
        for side in SIDES:
            ways = bench.ways(w, side)
            chosen[name(w)] += sorted(ways, key=lambda way: ways[way][0]["seconds_min"])[:few]
    bench.results.clear()  # what they were chosen by does not count
    for i in range(rounds):
        say(f"round {i + 1} of {rounds}")
        for w in works:
            ways = chosen[name(w)]
            for way in ways[i % len(ways):] + ways[:i % len(ways)]:
                bench.run(w, way, runs)
    return [(w, {side: fastest(bench, w, side) for side in SIDES}) for w in works], memory


def fastest(bench, w, side):
    """Medians of the fastest way of a side; None if no way did the work."""
    of_ways = [
        {key: statistics.median(r[key] for r in results) for key in ["seconds", "flop_per_second", "peak_flop_per_second"] if key in results[0]}
        | {"way": way}
        for way, results in bench.ways(w, side).items()
    ]
    return min(of_ways, key=lambda m: m["seconds"], default=None)


def least_memory(bench, w):
    """The least peak of each side's ways, and what PyTorch had before the work."""
    m = {}
    for side in SIDES:
        results = [r for of_way in bench.ways(w, side).values() for r in of_way]
        m[side] = min((r["peak_rss_bytes"] for r in results), default=None)
        m["start"] = min((r["start_rss_bytes"] for r in results if "start_rss_bytes" in r), default=m.get("start"))
    return m


def compare_memory(bench, works):
    """Rows of (work, least_memory). Threads hardly matter for it."""
    for w in works:
        for way in all_ways(w):
            if way[1] == "2":
                bench.run(w, way, 3)
    return [(w, least_memory(bench, w)) for w in works]


def time_table(rows):
    lines = ["| work | attention | PyTorch | ratio | PyTorch, tuned | ratio | GFLOP/s | of peak |", "|---|" + 7 * "---:|"]
    ways = []
    for w, best in rows:
        cells = ratios(best, "seconds", seconds)
        ours = best["attention"]
        if ours:
            cells += [f"{ours['flop_per_second'] / 1e9:.0f}", f"{ours['flop_per_second'] / ours['peak_flop_per_second']:.0%}"]
        lines.append("| " + " | ".join([name(w)] + cells) + " |")
        ways.append(f"- {name(w)}: " + "; ".join(" ".join(best[side]["way"]) for side in SIDES if best[side]))
    return "\n".join(lines + ["", "The fastest ways (threads; for PyTorch, of it x of its BLAS, and module):", ""] + ways) + "\n"


def memory_table(rows):
    lines = ["| work | attention | PyTorch | ratio | PyTorch, tuned | ratio |", "|---|" + 5 * "---:|"]
    for w, memory in rows:
        sides = {side: memory[side] and {"bytes": memory[side]} for side in SIDES}
        lines.append("| " + " | ".join([name(w)] + ratios(sides, "bytes", mebibytes)) + " |")
    starts = [m["start"] for _, m in rows if m["start"]]
    note = f"MiB at the peak. Python and PyTorch take {mebibytes(min(starts))} of theirs before the work begins." if starts else ""
    return "\n".join(lines + ["", note])


def ratios(sides, key, text):
    """Cells: ours, theirs, ours/theirs, theirs tuned, ours/theirs tuned."""
    ours = sides["attention"]
    cells = [text(ours[key]) if ours else "–"]
    for side in SIDES[1:]:
        theirs = sides[side]
        cells.append(text(theirs[key]) if theirs else "–")
        cells.append(f"{ours[key] / theirs[key]:.2f}" if ours and theirs else "–")
    return cells


def seconds(s):
    return f"{s:.2f} s" if s >= 1 else f"{1000 * s:.3g} ms"


def mebibytes(b):
    return f"{b / 2**20:.0f}"


if __name__ == "__main__":
    main()

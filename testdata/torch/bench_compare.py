#!/usr/bin/env python3
"""Compares `attention bench` with PyTorch and onnxruntime, and prints the tables of benchmarks.md.

    bench_compare.py [--quick] [--only time|memory] [--works REGEXP] [--ways REGEXP] [--lines FILE]
    bench_compare.py --tables FILE

Every work is done by attention with 1 and with 2 threads, by PyTorch in all the ways of
bench.py, which have no more, and the forward works by onnxruntime. The fastest few ways
of each side are then timed again in turns, round after round, so that what else the
machine does weighs on all alike. A side's time is that of its fastest way, each way's the
median of the rounds; its memory is the least peak of any way. Each measurement is a
process of its own. The peak that a rate is compared with is the higher of attention's own
loop and of peak.c's, which runs after each measurement if there is a gcc; a share of it
is that of the median round, and in brackets that of the best.

Where a machine is quiet for a short time only, measure in parts, each with a work and a
few ways that --works and --ways name, and append all to a file with --lines; --tables
makes the tables of such a file and measures nothing.

    bench_compare.py --works 'T1024.*forward$' --ways 'attention 2|onnxruntime 2' --rounds 3 --lines FILE

Needs Go, python3-torch on an optimised BLAS (libopenblas0-pthread) and a machine that does
nothing else. An OpenBLAS that is unpacked but not installed is used if
LD_LIBRARY_PATH names its folder. onnxruntime needs node, python3-onnx and
`npm ci --ignore-scripts` in testdata/onnxruntime, and is left out where they are not.
"""
import argparse
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
ONNX = os.path.join(ROOT, "testdata", "onnxruntime")
SIDES = {"attention": "attention", "installed": "PyTorch", "tuned": "PyTorch, tuned", "onnxruntime": "onnxruntime"}


def work(batch, tokens, width, heads, mode, **more):
    return {"batch": batch, "tokens": tokens, "width": width, "heads": heads, "mode": mode} | more


TIMED = [
    work(2, 1024, 768, 12, "forward-backward"),
    work(2, 1024, 768, 12, "forward"),
    work(1, 4096, 768, 12, "forward-backward"),
    work(1, 4096, 768, 12, "forward"),
    work(32, 32, 64, 4, "forward-backward"),
    work(32, 32, 64, 4, "forward"),
    work(12, 64, 128, 4, "gpt-step", layers=4),  # nanoGPT's, on characters
    work(1, 1024, 768, 12, "gpt-step", layers=12, vocab=50257),  # GPT-2 small's, 124 million parameters
]
LENGTHS = [work(1, 2**n, 768, 12, "forward-backward") for n in range(8, 14)]


def name(w):
    blocks = f" L{w['layers']}" if w.get("layers") else ""
    vocab = f" V{w['vocab']}" if w.get("vocab", 65) != 65 else ""
    return f"B{w['batch']} T{w['tokens']} E{w['width']} H{w['heads']}{blocks}{vocab} {w['mode']}"


def main():
    a = arguments()
    if a.tables:
        return print_tables(read_lines(a.tables))
    timed = [w for w in TIMED if a.only != "memory" and re.search(a.works, name(w))]
    lengths = [w for w in LENGTHS if a.only != "time" and w not in timed and re.search(a.works, name(w))]
    if not timed + lengths:
        sys.exit(f"bench_compare.py: --works: got {a.works!r}, which matches no name, such as {name(TIMED[0])!r}")
    load = os.getloadavg()[0]
    if load > 0.3:
        say(f"warning: the machine is busy (load {load}); times will be off")
    with tempfile.TemporaryDirectory() as folder:
        binary = a.binary or build(os.path.join(folder, "attention"))
        bench = Bench(binary, build_peak(os.path.join(folder, "peak")), folder, a)
        check_blas(bench)
        choose(bench, timed, 1 if a.quick else 2)
        for i in range(a.rounds or (2 if a.quick else 7)):
            say(f"round {i + 1}")
            for w in timed:
                ways = bench.chosen[name(w)]
                for way in ways[i % len(ways):] + ways[:i % len(ways)]:
                    bench.run(w, way, 3 if a.quick else 0)
        for w in lengths:  # threads hardly matter for memory
            for way in bench.ways(w):
                if way[1] == "2":
                    bench.run(w, way, 3)
    print_tables(bench.results)


def print_tables(results):
    """The tables of measurements, each a dict with its way."""
    print(time_table(results), flush=True)
    print(memory_table(results))


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--quick", action="store_true", help="2 rounds of 3 runs of the fastest way, not 7 rounds of two seconds of two ways")
    p.add_argument("--only", choices=["time", "memory"], help="only the works of one table: times, or memory by length")
    p.add_argument("--works", default="", metavar="REGEXP", help="works whose name matches, such as 'B2 T1024.*d$'")
    p.add_argument("--ways", default="", metavar="REGEXP", help="ways whose name matches, such as 'attention 2|tuned 2 lean'")
    p.add_argument("--rounds", type=int, default=0, help="rounds of the fastest ways (default: 7, with --quick 2)")
    p.add_argument("--lines", metavar="FILE", help="append every measurement as a line of JSON")
    p.add_argument("--tables", metavar="FILE", help="print the tables of the measurements that --lines wrote, and measure nothing")
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


def missing_onnxruntime():
    """What onnxruntime lacks here, or None."""
    if not shutil.which("node"):
        return "no node"
    if not os.path.isdir(os.path.join(ONNX, "node_modules", "onnxruntime-node")):
        return "no node_modules/onnxruntime-node in testdata/onnxruntime: npm ci --ignore-scripts"
    if importlib.util.find_spec("onnx") is None:
        return "no python3-onnx"
    return None


class Bench:
    """Runs measurements and keeps them."""

    def __init__(self, binary, peak, folder, a):
        self.binary, self.peak, self.folder, self.arguments = binary, peak, folder, a
        self.results = []  # of each measurement; "way" is how, "choice" whether only to choose the fastest
        self.chosen = {}  # name of a work -> its fastest ways
        self.models = {}  # of onnxruntime: (width, heads, module) -> file
        missing = missing_onnxruntime()
        if missing:
            say(f"onnxruntime is left out: {missing}")
        self.sides = [side for side in SIDES if side != "onnxruntime" or not missing]

    def ways(self, w):
        """All ways to do a work that --ways lets through, as tuples of words."""
        return [way for side in self.sides for way in all_ways(w, side) if re.search(self.arguments.ways, " ".join(way))]

    def run(self, w, way, runs, choice=False):
        """One measurement; None if the work fails, as for want of memory."""
        if w.get("vocab"):
            runs = 1 if runs else 2  # a run takes seconds
        done = subprocess.run(self.command(w, way, runs), stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            say(f"{name(w)}: {' '.join(way)}: failed")
            return None
        result = {"way": list(way), "choice": choice} | json.loads(done.stdout)
        if way[0] == "attention" and self.peak:
            measured = subprocess.run([self.peak, way[1], "100"], stdout=subprocess.PIPE, text=True, check=True)
            result["peak_flop_per_second"] = max(result["peak_flop_per_second"], float(measured.stdout))
        say(f"{name(w)}: {' '.join(way)}: {seconds(result['seconds'])}, {mebibytes(result['peak_rss_bytes'])} MiB")
        if w["tokens"] == CHECK["tokens"]:
            return result
        self.results.append(result)
        if self.arguments.lines:
            with open(self.arguments.lines, "a") as f:
                f.write(json.dumps(result) + "\n")
        return result

    def command(self, w, way, runs):
        side, threads, *rest = way
        if side == "onnxruntime":
            sizes = {key: w[key] for key in ["batch", "tokens", "width", "heads"]}
            more = {"model": self.model(w, rest[0]), "threads": int(threads), "runs": runs}
            return ["node", os.path.join(ONNX, "bench.mjs"), json.dumps(sizes | more)]
        sizes = [x for key, value in w.items() for x in ("--" + key, str(value))] + ["--runs", str(runs)]
        if side == "attention":
            return [self.binary, "bench", "--json", "--threads", threads] + sizes
        script = os.path.join(HERE, "bench.py")
        return [sys.executable, "-B", script, "--settings", side, "--threads", threads, "--module", rest[0]] + sizes

    def model(self, w, module):
        """The ONNX file of a work."""
        key = (w["width"], w["heads"], module)
        if key not in self.models:
            path = os.path.join(self.folder, f"{len(self.models)}.onnx")
            sizes = ["--width", str(w["width"]), "--heads", str(w["heads"]), "--module", module]
            subprocess.run([sys.executable, "-B", os.path.join(ONNX, "model.py"), *sizes, path], check=True)
            self.models[key] = path
        return self.models[key]


CHECK = work(1, 8, 8, 1, "forward")


def check_blas(bench):
    """A comparison with PyTorch on the reference BLAS, many times slower, would say nothing."""
    r = bench.run(CHECK, ("installed", "1", "mha"), 1)
    if r is None:
        sys.exit("bench_compare.py: bench.py does not run; is python3-torch installed?")
    if not re.search("openblas|mkl|blis", r["blas"]):
        sys.exit(f"bench_compare.py: PyTorch multiplies with {r['blas']}, want OpenBLAS: install libopenblas0-pthread")
    say(f"torch {r['torch']} on {r['blas']}")


def all_ways(w, side):
    if side == "attention":
        return [(side, "1"), (side, "2")]
    if side == "onnxruntime":
        return [(side, threads, module) for threads in ["1", "2"] for module in ["split", "packed"] if w["mode"] == "forward"]
    modules = ["gpt"] if w["mode"] == "gpt-step" else ["mha", "book", "lean"]
    return [(side, threads, module) for threads in ["1", "2", "1x2"] for module in modules]


def choose(bench, works, few):
    """Finds the fastest few ways of each side, where there are more."""
    for w in works:
        bench.chosen[name(w)] = []
        for side in bench.sides:
            ways = [way for way in bench.ways(w) if way[0] == side]
            if len(ways) > few:
                took = {way: bench.run(w, way, 3, choice=True) for way in ways}
                ways = sorted((way for way in ways if took[way]), key=lambda way: took[way]["seconds_min"])
            bench.chosen[name(w)] += ways[:few]


def read_lines(path):
    with open(path) as f:
        return [json.loads(line) for line in f]


def sides_of(results, of):
    """Side -> of(the measurements of that side), for one work."""
    grouped = {side: [r for r in results if r["way"][0] == side] for side in SIDES}
    return {side: of(mine) if mine else None for side, mine in grouped.items()}


def fastest(results):
    """The fastest way by its median, with its rates."""
    ways = {}
    for r in results:
        ways.setdefault(tuple(r["way"]), []).append(r)

    def median(way, key):
        return statistics.median(r[key] for r in ways[way])

    way = min(ways, key=lambda way: median(way, "seconds"))
    best = {"way": way, "seconds": median(way, "seconds"), "rounds": len(ways[way])}
    if way[0] == "attention":
        shares = [r["flop_per_second"] / r["peak_flop_per_second"] for r in ways[way]]
        best |= {"rate": median(way, "flop_per_second"), "share": statistics.median(shares), "best_share": max(shares)}
    return best


def time_table(results):
    """Times of the rounds, not of those by which ways were chosen."""
    lines = [header("GFLOP/s", "of peak")]
    ways = []
    for w in TIMED:
        best = sides_of([r for r in results if name(r) == name(w) and not r["choice"]], fastest)
        ours = best["attention"]
        if not ours:
            continue
        cells = ratios(best, "seconds", seconds)
        cells += [f"{ours['rate'] / 1e9:.0f}", f"{ours['share']:.0%} ({ours['best_share']:.0%})"]
        lines.append("| " + " | ".join([name(w)] + cells) + " |")
        ways.append(f"- {name(w)}: " + "; ".join(f"{' '.join(b['way'])} ({b['rounds']})" for b in best.values() if b))
    note = "The fastest ways (threads; for PyTorch, of it x of its BLAS; module) and how often each was timed:"
    return "\n".join(lines + ["", note, ""] + ways) + "\n"


def memory_table(results):
    lines = [header()]
    names = {name(w): None for w in TIMED + LENGTHS}  # in order, each once
    for n in names:
        least = sides_of([r for r in results if name(r) == n], lambda mine: {"bytes": min(r["peak_rss_bytes"] for r in mine)})
        if least["attention"]:
            lines.append("| " + " | ".join([n] + ratios(least, "bytes", mebibytes)) + " |")
    starts = [r["start_rss_bytes"] for r in results if r["way"][0] in ("installed", "tuned")]
    note = f"MiB at the peak. Python and PyTorch take {mebibytes(min(starts))} of theirs before the work begins." if starts else ""
    return "\n".join(lines + ["", note])


def header(*more):
    names = list(SIDES.values())
    cells = ["work", names[0]] + [c for n in names[1:] for c in (n, "ratio")] + list(more)
    return "| " + " | ".join(cells) + " |\n|---|" + (len(cells) - 1) * "---:|"


def ratios(sides, key, text):
    """Cells: ours; of each other side theirs, and ours/theirs."""
    ours, *others = sides.values()
    cells = [text(ours[key])]
    for theirs in others:
        cells += [text(theirs[key]), f"{ours[key] / theirs[key]:.2f}"] if theirs else ["–", "–"]
    return cells


def seconds(s):
    return f"{s:.2f} s" if s >= 1 else f"{1000 * s:.3g} ms"


def mebibytes(b):
    return f"{b / 2**20:.0f}"


if __name__ == "__main__":
    main()

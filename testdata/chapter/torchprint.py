#!/usr/bin/env python3
"""Writes torchprint.txt: what PyTorch prints for tensors of many shapes and magnitudes.

Run beside the file:  python3 torchprint.py
Last run with torch 1.13.0a0 (Debian's 1.13.1). Each entry is a line `== dtype shape recipe`, then the printed text,
then an empty line. shape is like 2x3, or - for a single number. recipe gives the values, element by element:
  hex v ...             the values themselves, as hexadecimal floats
  mix seed scale flags  a hash h of (seed, index) gives a fraction in [-1, 1), times scale, then by the flags:
    positive            its absolute value
    spread              times 10^((h mod 256) mod 10 - 5), so that ratios are large
    whole               the fraction part cut off
    special             in one of eight places 0, -0, inf, -inf or nan instead
All arithmetic is float64, so that every language gets the same bits; float32 rounds at the end. float64 tensors are
printed with float64 as the default dtype, so no text has a dtype behind its numbers.
"""
import pathlib
import random

import numpy
import torch

WORD = 2**64 - 1
POWERS = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4]
SPECIAL = [0.0, -0.0, float("inf"), float("-inf"), float("nan")]


def mix(z):
    """The finaliser of splitmix64."""
    z = (z + 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & WORD
    return z ^ z >> 31


def element(seed, i, scale, flags):
    h = mix(seed << 32 | i)
    v = (h >> 40) / 2**23 - 1
    if "positive" in flags:
        v = abs(v)
    v *= scale
    if "spread" in flags:
        v *= POWERS[(h & 255) % 10]
    if "whole" in flags:
        v = float(numpy.trunc(v))
    if "special" in flags and h >> 8 & 7 == 0:
        v = SPECIAL[(h >> 16 & 255) % 5]
    return v


def text(dtype, shape, values):
    torch.set_default_dtype(torch.float64 if dtype == "f64" else torch.float32)
    return str(torch.tensor(values, dtype=torch.get_default_dtype()).reshape(shape))


entries, seen = [], set()


def add(dtype, shape, recipe, values):
    head = f"== {dtype} {'x'.join(map(str, shape)) or '-'} {recipe}"
    if head not in seen:
        seen.add(head)
        entries.append(f"{head}\n{text(dtype, shape, values)}\n")


def listed(values, shape=None, dtypes=("f32", "f64")):
    shape = [len(values)] if shape is None else shape
    for dtype in dtypes:
        add(dtype, shape, "hex " + " ".join(float(v).hex() for v in values), values)


def mixed(dtype, shape, seed, scale, *flags):
    count = int(numpy.prod(shape, dtype=int))
    values = [element(seed, i, scale, flags) for i in range(count)]
    add(dtype, shape, " ".join(["mix", str(seed), repr(scale), *flags]), values)


inf, nan = float("inf"), float("nan")
# Where the notation changes: whole numbers, the ratio 1000, 1e8 and 1e-4, each side of it.
for values in ([0.0], [-0.0], [nan], [inf], [-inf], [nan, -nan], [inf, 0, -inf], [-0.0, 0.5], [1.0], [-1.0], [1, inf],
               [1, -inf, nan], [10, -inf], [100, -inf], [0.5, -inf], [1, 1000], [1, 1001], [1, -1000], [-1, 1001],
               [1.5, 1500], [1.5, 1500.001], [1e8, 1e8], [1e8, 1.5e8], [99999.5, 1e8], [1e8 + 0.5, 1e8], [1e-4, 1e-4],
               [0.00009999, 0.0001], [0.0001, 0.05], [0.00010001, 0.1], [0, 1e-5], [0, 1e8], [0, 1e9], [0, -3],
               [1e-45, 0], [3.4e38, 1], [123456789, 1], [123456789, 123456788], [0.5, 0, -inf, nan],
               [1e5, 1e-5, inf, -inf, nan, 0, -0.0],
               [0.1 + 0.2], [1 - 2**-24], [1 + 2**-23], [2 - 2**-12], [0.99995], [0.99994], [-0.99996], [9.99995, 1],
               [99.99995, 1], [999.99996, 1], [2**24, 2**24 + 2]):
    listed(values)
    if len(values) == 1:
        listed(values, shape=[])
listed([1e300, 1e-300], dtypes=["f64"])
listed([1e300, 1e300], dtypes=["f64"])
listed([5e-324, 1], dtypes=["f64"])
listed([1e100, 1e99, -1e99], dtypes=["f64"])
# Exact halves behind the fourth decimal: rounded to even.
listed([i / 32 + j / 2**5 for i in range(1, 32, 2) for j in (0, 3)])
listed([0.03125, 0.09375, -0.15625, 0.21875, 0.28125, 0.34375])
# Nothing in it.
for shape in ([0], [0, 3], [2, 0], [2, 0, 3], [0, 0, 0]):
    listed([], shape=shape)
# Lines of 80 columns: lengths around one and two full lines, for several widths.
for scale in (1.0, 50.0, 5000.0):
    for n in (7, 8, 9, 10, 11, 16, 17, 18, 19, 20):
        mixed("f32", [n], n, scale)
        mixed("f32", [n], n, scale, "positive")
    mixed("f32", [2, 3, 11], 5, scale)
for n in (20, 26, 27, 53, 54):
    mixed("f64", [n], n, 9.9, "positive", "whole")
    mixed("f32", [n], n, 9.9, "whole")
for n in (6, 7, 12, 13):
    mixed("f64", [n], n, 1.0, "spread")
    mixed("f32", [2, n], n, 1.0, "spread", "positive")
for rank in (50, 60, 64):  # brackets that leave little room, then none, for numbers
    mixed("f64", [1] * (rank - 1) + [3], rank, -1e-9)
# Around 1000 elements, and far above: the middle left out, widths by what is left.
mixed("f32", [1000], 1, 3.0, "positive", "whole")
mixed("f32", [40, 25], 2, 1.0, "positive", "whole")
for shape in ([1001], [7, 143], [6, 167], [143, 7], [167, 6], [1, 1001], [1001, 1], [3, 400], [400, 3], [32, 33],
              [2, 6, 84], [2, 7, 72], [8, 9, 15], [9, 2, 60], [1, 1, 1001], [5, 6, 7, 8], [7, 6, 5, 6],
              [2, 2, 2, 2, 100], [7, 2, 7, 2, 7], [70000]):
    for k, flags in enumerate(([], ["positive"], ["whole"], ["spread"], ["special"], ["spread", "special"],
                               ["whole", "special"])):
        if len(shape) < 3 or k == len(shape):  # the high ranks are long: one of each
            mixed(("f32", "f64")[k % 2], shape, 31 * len(shape) + k, 300.0 if "whole" in flags else 1.0, *flags)
# One value in the middle would change the notation, and is not shown; then one at the edge, which is.
for dtype in ("f32", "f64"):
    for seed in range(6):
        mixed(dtype, [1200], 100 + seed, 10.0, "spread")
        mixed(dtype, [30, 40], 200 + seed, 1.0, "special", "positive")
# At large: every small shape, magnitude and flag.
draw = random.Random(20250223)
for seed in range(260):
    shape = [draw.choice((1, 2, 3, 4, 5, 7)) for _ in range(draw.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
    while numpy.prod(shape) > 60:
        shape.pop()
    odds = {"positive": 0.5, "spread": 0.25, "whole": 0.2, "special": 0.3}
    flags = [flag for flag in odds if draw.random() < odds[flag]]
    scale = draw.choice((1e-6, 1e-3, 1.0, 1.0, 30.0, 2e3, 1e6, 3e8))
    mixed(draw.choice(("f32", "f64")), shape, 1000 + seed, scale, *flags)

out = pathlib.Path(__file__).with_name("torchprint.txt")
head = "# What PyTorch prints, written by torchprint.py with torch %s. Its text explains the entries.\n\n"
out.write_text(head % torch.__version__ + "\n".join(entries))
print(f"{len(entries)} tensors, {out.stat().st_size} bytes")

#!/usr/bin/env python3
"""Writes torchrand.json: what PyTorch draws, for the tests of internal/torchrand.

Made with PyTorch 1.13.0a0 (Debian's python3-torch 1.13.1, no MKL), on a CPU with
AVX2 and the C library glibc 2.36. Run it in this directory.

The file is a list of streams. A stream has a seed and the calls made after it, in
order; "bits" are the values of a call as hexadecimal IEEE bits, of each value or
(where "every" is above 1) of every so-many-th, and "sum" is the SHA-256 of the bits
of all. After the last call come the SHA-256 of torch.get_rng_state() with its
waiting normal value set to zero, and that value's bits. "bounds" holds nn.Linear's initial bounds, weight then bias.
"""
import hashlib
import json
from unittest import mock

import torch

SEEDS = [0, 1, 123, 789, 2**32 - 1, 2**40 + 5]
SIZES = [1, 2, 15, 16, 17, 31, 100, 1000]
LAYERS = [(3, 2), (2, 2), (1, 1), (5, 7), (7, 5), (64, 3)]  # inputs, outputs
FAN_INS = [1, 2, 3, 4, 5, 6, 7, 10, 16, 31, 64, 100, 256, 512, 768, 1000, 1024, 3072, 50257]
A, B = float.fromhex("0x1.334p-2"), float.fromhex("0x1.6a2b7p-1")  # about 0.3 and 0.7
TYPES = {"float32": torch.float32, "float64": torch.float64}


def bits(tensor, every=1):
    """The bits of every so-many-th value, in the order of memory."""
    values = tensor.detach().reshape(-1)[::every].numpy()
    unsigned = ">u%d" % values.itemsize
    return values.astype(values.dtype.newbyteorder(">")).view(unsigned).tobytes().hex()


def checksum(tensor):
    return hashlib.sha256(bytes.fromhex(bits(tensor))).hexdigest()


def fill(op, dtype, n, a, b, every=1):
    """One call of Tensor.uniform_(a, b) or Tensor.normal_(a, b)."""
    x = torch.empty(n, dtype=TYPES[dtype])
    getattr(x, op + "_")(a, b)
    return {"op": op, "type": dtype, "n": n, "a": a, "b": b, "every": every,
            "bits": bits(x, every), "sum": checksum(x)}


def linear(dtype, fan_in, out):
    """The initial weight and bias of one nn.Linear."""
    layer = torch.nn.Linear(fan_in, out, dtype=TYPES[dtype])
    both = torch.cat([layer.weight.reshape(-1), layer.bias])
    return {"op": "linear", "type": dtype, "n": fan_in * out + out, "in": fan_in, "every": 1,
            "bits": bits(both), "sum": checksum(both)}


def bulk():
    """Many values, of which the file keeps few: for what only seldom differs."""
    n = 300007
    return [
        lambda: fill("normal", "float32", n, 0, 1, 9001),
        lambda: fill("normal", "float32", n, A, B, 9001),
        lambda: fill("uniform", "float32", n, A, B, 9001),
        lambda: fill("uniform", "float64", n, A, B, 9001),
        lambda: fill("normal", "float64", n, 0, 1, 9001),
    ]


def stream(name, seed, calls):
    """Runs the calls after the seed; returns them with the state they end in."""
    torch.manual_seed(seed)
    done = [call() for call in calls]
    state = bytearray(torch.get_rng_state().numpy().tobytes())
    waiting = state[5024:5032]
    state[5024:5032] = bytes(8)
    return {"name": name, "seed": seed, "calls": done,
            "state": hashlib.sha256(state).hexdigest(), "waiting": bytes(reversed(waiting)).hex()}


def standard():
    """Every size, the two distributions and the two types taking turns."""
    return [lambda op=op, dtype=dtype, n=n: fill(op, dtype, n, 0, 1, 29 if n > 100 else 1)
            for n in SIZES for dtype in TYPES for op in ("uniform", "normal")]


def shifted():
    """Other bounds, means and deviations than 0 and 1, all of which float32 can hold."""
    calls = []
    for dtype in TYPES:
        calls += [
            lambda dtype=dtype: fill("uniform", dtype, 100, A, B),
            lambda dtype=dtype: fill("uniform", dtype, 50, -B, B),
            lambda dtype=dtype: fill("normal", dtype, 500, A, B),
        ]
        calls += [lambda dtype=dtype: fill("normal", dtype, 15, A, B)] * 20
    return calls


def linear_bounds(fan_in):
    """The bounds that nn.Linear hands to Tensor.uniform_, for its weight and its bias."""
    with mock.patch.object(torch.Tensor, "uniform_") as uniform:
        torch.nn.Linear(fan_in, 1)
    (_, weight), (_, bias) = (call.args for call in uniform.call_args_list)
    return {"in": fan_in, "weight": weight.hex(), "bias": bias.hex()}


def main():
    assert torch.__version__.startswith("1.13"), torch.__version__
    config = torch.__config__.show()
    assert "CPU capability usage: AVX2" in config, config
    streams = [stream("standard", seed, standard()) for seed in SEEDS]
    streams += [stream("shifted", seed, shifted()) for seed in (123, 789)]
    streams += [stream("bulk", 123, bulk())]
    for dtype in TYPES:
        layers = [lambda shape=shape: linear(dtype, *shape) for shape in LAYERS]
        streams += [stream("linear", seed, layers) for seed in (123, 789)]
    bounds = [linear_bounds(n) for n in FAN_INS]
    with open("torchrand.json", "w") as f:
        f.write('{"streams": [\n')
        f.write(",\n".join(json.dumps(s) for s in streams))
        f.write('\n], "bounds": [\n')
        f.write(",\n".join(json.dumps(b) for b in bounds))
        f.write("\n]}\n")


main()

"""Positions in PyTorch: rotary embeddings, relative biases, sinusoids.

Writes positions.safetensors beside itself, in float64 but for the integers. Made with
torch 1.13.0a0 (Debian's python3-torch 1.13.1) on Python 3.11; the file's metadata
repeats the version.

    <case>.in.<i>    input i, float64 or int64
    <case>.out       the result
    <case>.dout      the gradient that flows into the result
    <case>.din.<i>   the gradient of input i, where it has one
    slopes.<H>       ALiBi's slopes of H heads
    buckets.<direction>.<buckets>.<max distance>
                     T5's buckets of the keys at −2000 … 2000 from the query

Biases are written out here, (H, T, S). Lengths are different primes, but for the
widths that must be even.
"""
import math
import os

import torch

import golden

HUGE = 1_000_003


def angles(positions, dims, base):
    """(…, 1, dims/2): an axis for the heads."""
    frequency = 1 / base ** (torch.arange(0, dims, 2, dtype=torch.float64) / dims)
    return (positions.double().unsqueeze(-1) * frequency).unsqueeze(-2)


def llama3(frequency, factor, low, high, length):
    """Llama 3.1's scaling of slow frequencies."""
    turns = length * frequency / (2 * math.pi)
    smooth = (turns - low) / (high - low)
    mixed = (1 - smooth) * frequency / factor + smooth * frequency
    return torch.where(turns < low, frequency / factor, torch.where(turns > high, frequency, mixed))


def yarn(frequency, base, factor, slow, fast, length):
    """YaRN's mix of both frequencies by the number of the pair (Peng et al. 2023)."""
    dims = 2 * len(frequency)
    pair = lambda turns: dims * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(base))
    first, last = max(math.floor(pair(fast)), 0), min(math.ceil(pair(slow)), dims - 1)
    ramp = ((torch.arange(dims // 2) - first) / (last - first or 0.001)).clamp(0, 1)
    return frequency / factor * ramp + frequency * (1 - ramp)


def scaled(turn, scale, heads=1, base=10000.0, length=1.0):
    """RoPE with frequencies that scale changes, and what is turned times length."""
    def op(x, positions):
        x = x.unflatten(-1, (heads, -1))  # (…, T, H, D)
        n = x.shape[-1]
        frequency = scale(1 / base ** (torch.arange(0, n, 2, dtype=torch.float64) / n))
        angle = ((positions + torch.arange(x.shape[-3])).double().unsqueeze(-1) * frequency).unsqueeze(-2)
        return (length * turn(x, angle)).flatten(-2)
    return op


def turn_halves(x, angle):
    """Pairs (i, i + dims/2), as Llama's code in Hugging Face has them."""
    a, b = x.chunk(2, -1)
    twice = torch.cat((angle, angle), -1)
    return x * twice.cos() + torch.cat((-b, a), -1) * twice.sin()


def turn_neighbours(x, angle):
    """Pairs (2i, 2i+1), as complex numbers."""
    z = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def rope(turn, heads=1, dims=0, base=10000.0, linear=1.0, ntk=1.0):
    def op(x, positions=None):
        t = x.shape[-2]
        if positions is None:
            positions = torch.arange(t)
        elif positions.dim() == 0:
            positions = positions + torch.arange(t)
        x = x.unflatten(-1, (heads, -1))  # (…, T, H, D)
        n = dims or x.shape[-1]
        b = base if ntk == 1 else base * ntk ** (n / (n - 2))
        y = turn(x[..., :n], angles(positions.double() / linear, n, b))
        return torch.cat((y, x[..., n:]), -1).flatten(-2)
    return op


def sinusoidal(x, positions=None):
    t, e = x.shape[-2:]
    if positions is None:
        positions = torch.arange(t)
    elif positions.dim() == 0:
        positions = positions + torch.arange(t)
    angle = angles(positions, e, 10000.0).squeeze(-2)
    waves = torch.zeros(*positions.shape, e)
    waves[..., 0::2], waves[..., 1::2] = angle.sin(), angle.cos()
    return x + waves


def slopes(heads):
    """As the paper's authors compute them."""
    def power_of_two(n):
        first = 2 ** -(2 ** -(math.log2(n) - 3))
        return [first * first ** i for i in range(n)]
    if math.log2(heads).is_integer():
        return power_of_two(heads)
    below = 2 ** math.floor(math.log2(heads))
    return power_of_two(below) + slopes(2 * below)[0::2][:heads - below]


def relative(t, s, offset):
    """(T, S): how far each key is after each query."""
    return torch.arange(s) - torch.arange(offset, offset + t).unsqueeze(-1)


def alibi(heads, s, offset):
    def op(x):  # added to (H, T, S)
        slope = torch.tensor(slopes(heads)).view(-1, 1, 1)
        return x - slope * relative(x.shape[-2], s, offset).abs()
    return op


def buckets(relative, n, longest, both):
    """T5's rule in float32, as models compute it."""
    first = torch.zeros_like(relative)
    if both:
        n //= 2
        first = (relative > 0).long() * n
        distance = relative.abs()
    else:
        distance = (-relative).clamp(min=0)
    single = n // 2
    far = torch.log(distance.float() / single) / math.log(longest / single) * (n - single)
    far = (single + far.clamp(min=0).long()).clamp(max=n - 1)
    return first + torch.where(distance < single, distance, far)


def t5(t, s, offset=0, longest=128, both=True):
    def op(table):
        b = buckets(relative(t, s, offset), table.shape[0], longest, both)
        return table[b].permute(2, 0, 1)
    return op


def expand(t, s):
    def op(bias):
        at = torch.arange(t).unsqueeze(-1) - torch.arange(s) + s - 1
        return bias[:, at]
    return op


n = torch.randn
i = torch.tensor
batches = i([[3, 0, 7, 3, 11], [-2, 5, 100, 101, 0]])

# case: (the op, its inputs)
CASES = {
    "rope": (rope(turn_halves), lambda: [n(2, 5, 14)]),
    "rope_heads": (rope(turn_halves, heads=3), lambda: [n(2, 5, 3 * 14)]),
    "rope_part": (rope(turn_halves, heads=3, dims=4), lambda: [n(2, 5, 3 * 7)]),
    "rope_base": (rope(turn_halves, base=500000.0), lambda: [n(5, 14)]),
    "rope_linear": (rope(turn_halves, heads=3, linear=2.5), lambda: [n(2, 5, 3 * 14)]),
    "rope_ntk": (rope(turn_halves, heads=3, dims=10, ntk=2.5), lambda: [n(2, 5, 3 * 11)]),
    "rope_interleaved": (rope(turn_neighbours), lambda: [n(2, 5, 14)]),
    "rope_interleaved_heads": (rope(turn_neighbours, heads=3), lambda: [n(2, 5, 3 * 14)]),
    "rope_interleaved_part": (rope(turn_neighbours, heads=3, dims=4), lambda: [n(2, 5, 3 * 7)]),
    "rope_interleaved_linear": (rope(turn_neighbours, linear=2.5), lambda: [n(2, 5, 14)]),
    "rope_interleaved_ntk": (rope(turn_neighbours, ntk=2.5), lambda: [n(2, 5, 14)]),
    "rope_start": (rope(turn_halves, heads=3), lambda: [n(2, 5, 3 * 14), i(17)]),
    "rope_huge_start": (rope(turn_halves, heads=3), lambda: [n(2, 5, 3 * 14), i(HUGE)]),
    "rope_negative_start": (rope(turn_neighbours, heads=3), lambda: [n(2, 5, 3 * 14), i(-3)]),
    "rope_rows": (rope(turn_halves), lambda: [n(2, 3, 5, 14), i([3, -1, 4, 1, 5])]),
    "rope_batches": (rope(turn_halves, heads=3), lambda: [n(2, 5, 3 * 14), batches]),
    "rope_interleaved_batches": (rope(turn_neighbours, heads=3, dims=6), lambda: [n(2, 5, 3 * 7), batches]),
    "rope_one_row": (rope(turn_halves), lambda: [n(3, 1, 2), i(7)]),
    "sinusoidal": (sinusoidal, lambda: [n(2, 5, 14)]),
    "sinusoidal_start": (sinusoidal, lambda: [n(2, 5, 14), i(17)]),
    "sinusoidal_rows": (sinusoidal, lambda: [n(5, 14), i([3, -1, 4, 1, 5])]),
    "sinusoidal_batches": (sinusoidal, lambda: [n(2, 5, 14), batches]),
    "expand": (expand(5, 7), lambda: [n(3, 11)]),
    "expand_one": (expand(7, 5), lambda: [n(1, 11)]),
    "alibi": (alibi(6, 7, 2), lambda: [n(6, 5, 7)]),
    "t5": (t5(31, 37, longest=20), lambda: [n(8, 3)]),
    "t5_decoder": (t5(1, 150, offset=149, both=False), lambda: [n(32, 3)]),
    "t5_offset": (t5(5, 7, offset=-60), lambda: [n(32, 3)]),
    "rope_llama3": (scaled(turn_halves, lambda f: llama3(f, 8, 1, 4, 8192), heads=3, base=500000.0),
                    lambda: [n(2, 5, 3 * 26), i(1700)]),
    "rope_llama3_factors": (scaled(turn_neighbours, lambda f: llama3(f, 32, 2, 16, 512)),
                            lambda: [n(2, 5, 14), i(700)]),
    "rope_yarn": (scaled(turn_halves, lambda f: yarn(f, 10000.0, 4, 1, 32, 4096), heads=3,
                         length=0.1 * math.log(4) + 1), lambda: [n(2, 5, 3 * 26), i(1700)]),
    "rope_yarn_factors": (scaled(turn_neighbours, lambda f: yarn(f, 100.0, 2.5, 2, 8, 64), base=100.0, length=0.75),
                          lambda: [n(2, 5, 14), i(99)]),
}


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20210420)
    out = {}
    for case, (op, make) in CASES.items():
        inputs = make()
        for x in inputs:
            x.requires_grad_(x.is_floating_point())
        y = op(*inputs)
        dy = torch.randn(y.shape)
        y.backward(dy)
        out[f"{case}.out"], out[f"{case}.dout"] = y, dy
        for k, x in enumerate(inputs):
            out[f"{case}.in.{k}"] = x
            if x.grad is not None:
                out[f"{case}.din.{k}"] = x.grad
    for heads in range(1, 34):
        out[f"slopes.{heads}"] = torch.tensor(slopes(heads))
    sizes = [(count, longest) for count in (32, 16, 8) for longest in (128, 64, 20)]
    for count, longest in sizes + [(48, 81)]:  # the last has other buckets in float64
        for direction, both in ("both", True), ("one", False):
            b = buckets(torch.arange(-2000, 2001), count, longest, both)
            out[f"buckets.{direction}.{count}.{longest}"] = b.to(torch.uint8)
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "positions.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

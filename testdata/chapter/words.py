#!/usr/bin/env python3
"""Writes words.txt: the vectors of words that the chapter does not have, for seeds.

Run beside the file:  python3 words.py
Last run with torch 1.13.0a0 (Debian's 1.13.1) on a CPU. A word's vector is torch.rand(3) in float64 after
torch.manual_seed(seed XOR the 32-bit FNV-1a hash of the word's UTF-8).
"""
import pathlib

import torch


def fnv1a(text):
    h = 0x811C9DC5
    for byte in text.encode():
        h = (h ^ byte) * 0x01000193 & 0xFFFFFFFF
    return h


torch.set_default_dtype(torch.float64)
lines = [f"# Vectors of words, computed by words.py with torch {torch.__version__}.\n"]
for word, seed in (("cat", 123), ("ends", 123), ("ends", 7), ("größer", 123)):
    torch.manual_seed(seed ^ fnv1a(word))
    lines.append(f"== tensor words/{word} {seed}\n{torch.rand(3)}\n")
pathlib.Path(__file__).with_name("words.txt").write_text("\n".join(lines))

"""Blocks of GGUF's number formats and their numbers, by the Python package gguf: blocks.safetensors.

python blocks.py, with gguf 0.19.0, numpy and safetensors. Each format has random blocks with scales that are finite,
and blocks of extreme bytes and scales: 0, the least and the largest half-precision number, infinity and NaN.
"""

import pathlib

import gguf
import numpy
from safetensors.numpy import save_file

FORMATS = {"q4_0": [0], "q4_1": [0, 2], "q5_0": [0], "q5_1": [0, 2], "q8_0": [0], "q2_k": [80, 82], "q3_k": [108],
           "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208], "iq4_nl": [0], "iq4_xs": [0]}  # with the offsets of the scales
EXTREMES = {0x00: 0x0000, 0xFF: 0x0001, 0x55: 0x7BFF, 0xAA: 0xFBFF, 0x0F: 0x7C00, 0xF0: 0x7E00, 0x80: 0x8000}

random = numpy.random.default_rng(52)
out = {}
for name, scales in FORMATS.items():
    kind = gguf.GGMLQuantizationType[name.upper()]
    _, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.integers(0, 256, (4 + len(EXTREMES), size), dtype=numpy.uint8)
    for row in blocks[:4]:
        for at in scales:
            row[at:at + 2] = numpy.array([random.normal()], numpy.float16).view(numpy.uint8)
    for row, (byte, scale) in zip(blocks[4:], EXTREMES.items()):
        row[:] = byte
        for at in scales:
            row[at:at + 2] = numpy.array([scale], numpy.uint16).view(numpy.uint8)
    with numpy.errstate(all="ignore"):
        values = gguf.dequantize(blocks.reshape(-1), kind)
    out[name + ".blocks"], out[name + ".values"] = blocks, values.astype(numpy.float32).reshape(len(blocks), -1)
for name, bits in {"f16": numpy.arange(0, 1 << 16, 13, dtype=numpy.uint16),
                   "bf16": numpy.arange(0, 1 << 16, 17, dtype=numpy.uint16)}.items():
    kind = gguf.GGMLQuantizationType[name.upper()]
    out[name + ".blocks"] = bits.view(numpy.uint8)
    out[name + ".values"] = gguf.dequantize(bits.view(numpy.uint8), kind).astype(numpy.float32)
save_file(out, pathlib.Path(__file__).with_name("blocks.safetensors"))

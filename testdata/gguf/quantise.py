"""Quantises the matrices of GGUF files by the Python package gguf, or replaces them by random blocks of formats that the
package only reads.

python quantise.py JOBS.json with gguf 0.19.0. A job: {"from": path, "to": path of the quantised file, "as": path of a
file with the quantised numbers in F32, "format": name of the format}. Vectors and positions stay as they are.
"""

import json
import sys

import gguf
import numpy

# Where the half-precision scales are in blocks that are only read, and a scale that makes numbers small.
SCALES = {"Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0]}
SMALL = {"Q2_K": 0x18, "Q3_K": 0x10, "Q4_K": 0x08, "Q5_K": 0x04, "Q6_K": 0x00, "IQ4_NL": 0x14, "IQ4_XS": 0x04}
random = numpy.random.default_rng(1)


def blocks(numbers, kind):
    if kind.name not in SCALES:
        return gguf.quantize(numbers, kind)
    size, bytes = gguf.GGML_QUANT_SIZES[kind]
    all = random.integers(0, 256, (numbers.size // size, bytes), dtype=numpy.uint8)
    for at in SCALES[kind.name]:
        all[:, at + 1] = SMALL[kind.name]
    return all.reshape(*numbers.shape[:-1], -1)


def write(path, reader, tensors):
    writer = gguf.GGUFWriter(path, reader.fields["general.architecture"].contents())
    for key, field in reader.fields.items():
        if not key.startswith("GGUF.") and key != "general.architecture":
            of = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(key, field.contents(), field.types[0], of)
    for name, numbers, kind in tensors:
        writer.add_tensor(name, numbers, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


for job in json.load(open(sys.argv[1])):
    reader = gguf.GGUFReader(job["from"])
    kind = gguf.GGMLQuantizationType[job["format"]]
    packed, plain = [], []
    for t in reader.tensors:
        if len(t.shape) == 1 or t.name.startswith("position_embd"):
            packed.append((t.name, t.data, None))
            plain.append((t.name, t.data, None))
        else:
            stored = blocks(t.data, kind)
            packed.append((t.name, stored, kind))
            plain.append((t.name, gguf.dequantize(stored, kind), None))
    write(job["to"], reader, packed)
    write(job["as"], reader, plain)

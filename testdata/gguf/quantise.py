"""Quantises the matrices of GGUF files by the Python package gguf.

python quantise.py JOBS.json with gguf 0.19.0. A job: {"from": path, "to": path of the quantised file, "as": path of a
file with the quantised numbers in F32, "format": name of the format}. Vectors and positions stay as they are.
"""

import json
import sys

import gguf


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
            blocks = gguf.quantize(t.data, kind)
            packed.append((t.name, blocks, kind))
            plain.append((t.name, gguf.dequantize(blocks, kind), None))
    write(job["to"], reader, packed)
    write(job["as"], reader, plain)

"""Reads and writes the safetensors format with PyTorch alone.

The scripts beside this file keep their reference values with it:

    import golden
    golden.save("x.safetensors", {"x": torch.zeros(2, 3)}, {"torch": torch.__version__})
    golden.load("x.safetensors")["x"]

The format: eight bytes with the header's length (little endian), a JSON header
padded with spaces to a multiple of 8, then the elements of all tensors in
row-major order. Equal content gives equal bytes: metadata is sorted by key, and
tensors keep the order of the dict, wider elements first, so that each tensor
starts at a multiple of its element size. Written for PyTorch 1.13.
"""
import json
import sys

import numpy
import torch

assert sys.byteorder == "little"  # elements are copied as they lie in memory

DTYPES = {
    "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
    "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
    "U8": torch.uint8, "BOOL": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def save(path, tensors, metadata=None):
    """Writes a dict of name -> torch tensor or numpy array, and a dict of strings."""
    flat = {}
    for name, t in tensors.items():
        if not isinstance(t, (torch.Tensor, numpy.ndarray, numpy.generic)):
            raise TypeError(f"{name}: got {type(t).__name__}, want a tensor or an array")
        flat[name] = torch.as_tensor(t).detach().cpu().contiguous()
    header, data = {}, []
    if metadata:
        if not all(isinstance(s, str) for pair in metadata.items() for s in pair):
            raise TypeError(f"metadata: got {metadata}, want strings only")
        header["__metadata__"] = dict(sorted(metadata.items()))
    at = 0
    for name, t in sorted(flat.items(), key=lambda item: -item[1].element_size()):
        raw = t.reshape(-1).view(torch.uint8).numpy().tobytes()
        header[name] = {"dtype": NAMES[t.dtype], "shape": list(t.shape),
                        "data_offsets": [at, at + len(raw)]}
        data.append(raw)
        at += len(raw)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(data))


def load(path):
    """Reads a dict of name -> torch tensor, in the order of the header."""
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        t = torch.empty(entry["shape"], dtype=DTYPES[entry["dtype"]])
        raw = data[slice(*entry["data_offsets"])]
        t.reshape(-1).view(torch.uint8).numpy()[:] = numpy.frombuffer(raw, numpy.uint8)
        tensors[name] = t
    return tensors

"""Loads states of the book's classes into the classes, with strict=True, and saves them again.

    book_read.py [LAYER CONFIG IN.safetensors OUT.safetensors]...

LAYER is a key of apply.LAYERS, CONFIG its fields in JSON. IN holds the state and x; OUT gets
the state_dict and the output for x as "output". The exit code is 77 if there is no PyTorch.
"""
import json
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

import apply
import golden


def read(name, config, path, out):
    state = golden.load(path)
    x = state.pop("x")
    torch.set_default_dtype(x.dtype)
    layer = apply.LAYERS[name](json.loads(config))
    layer.load_state_dict(state, strict=True)
    golden.save(out, layer.state_dict() | {"output": layer(x)[0]})


if __name__ == "__main__":
    for at in range(1, len(sys.argv), 4):
        read(*sys.argv[at:at + 4])

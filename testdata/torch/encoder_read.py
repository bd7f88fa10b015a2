"""Runs the encoder of each folder with transformers and writes all vectors to one file.

    encoder_read.py OUT.safetensors ID,ID,… TEXT FOLDER…

The tensor "i" has the vectors (T, E) of the ids by folder i; folders count from 0. The tensor "i.text" has the vector
(E) of the text by sentence-transformers, for folders with a modules.json. With an empty TEXT, the tensor "i" has the
logits (C) or (T, V) of the folder's own class, and there are no others. The exit code is 77 if one of PyTorch,
transformers and sentence-transformers is missing. Tried with torch 2.15.0, transformers 5.24.0 and
sentence-transformers 6.2.0.
"""
import os
import sys

try:
    import torch
    from safetensors.torch import save_file
    from sentence_transformers import SentenceTransformer
    import transformers
    from transformers import AutoConfig, AutoModel
except ImportError:
    sys.exit(77)

torch.set_num_threads(1)
out, ids, text, folders = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
all = {}
with torch.no_grad():
    for i, folder in enumerate(folders):
        x = torch.tensor([[int(n) for n in ids.split(",")]])
        if not text:
            kind = getattr(transformers, AutoConfig.from_pretrained(folder).architectures[0])
            all[str(i)] = kind.from_pretrained(folder, dtype=torch.float64).eval()(x).logits[0].contiguous()
            continue
        model = AutoModel.from_pretrained(folder, dtype=torch.float64).eval()
        all[str(i)] = model(x).last_hidden_state[0].contiguous()
        if os.path.exists(os.path.join(folder, "modules.json")):
            model = SentenceTransformer(folder, device="cpu").double()
            all[f"{i}.text"] = model.encode(text, convert_to_tensor=True)
save_file(all, out)

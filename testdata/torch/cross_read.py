"""Writes the scores of texts for a query by sentence-transformers' CrossEncoder, as the tensor scores.

    cross_read.py OUT.safetensors FOLDER QUERY TEXT…

The tokenizer is that of FOLDER/tokenizer.json. The exit code is 77 if PyTorch or sentence-transformers is missing. Tried
with torch 2.15.0, transformers 5.24.0 and sentence-transformers 6.2.0.
"""
import os
import shutil
import sys
import tempfile

try:
    import torch
    from safetensors.torch import save_file
    from sentence_transformers import CrossEncoder
    from transformers import PreTrainedTokenizerFast
except ImportError:
    sys.exit(77)

torch.set_num_threads(1)
out, folder, query, texts = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
with tempfile.TemporaryDirectory() as to:
    shutil.copytree(folder, to, dirs_exist_ok=True)
    PreTrainedTokenizerFast(
        tokenizer_file=os.path.join(folder, "tokenizer.json"), model_max_length=24, unk_token="[UNK]", pad_token="[PAD]",
        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_input_names=["input_ids", "attention_mask", "token_type_ids"]).save_pretrained(to)
    model = CrossEncoder(to, device="cpu").double()
    save_file({"scores": model.predict([(query, t) for t in texts], convert_to_tensor=True).double()}, out)

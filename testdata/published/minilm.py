"""minilm.py DIR: what sentence-transformers makes of 200 texts with all-MiniLM-L6-v2 in a folder.

It writes minilm_texts.json, the texts, and minilm.safetensors: every12 (200, 32), every twelfth number of their vectors.
Made with torch 2.15.0, transformers 5.24.0 and sentence-transformers 6.2.0 on Python 3.11.
"""
import json
import os
import random
import sys

import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = """the a cat dog river bank engine of in and but not walks quickly unbelievable tokenization happiness learned
Paris London naïve Straße Øresund 日本 中文字符 한국어 привет العربية 3.14 1,000 don't it's U.S. e-mail C++ 😀 👩‍👩‍👧 [MASK] #tag
@name https://x.y/z?q=1 "quoted" (aside) İstanbul ﬁnal""".split()

draw = random.Random(3)
texts = [" ".join(draw.choice(WORDS) for _ in range(draw.choice([1, 3, 8, 12, 30, 100]))) for _ in range(196)]
texts += ["", " ".join(WORDS * 12), "a" * 101, "The quick brown fox jumps over the lazy dog."]
torch.set_num_threads(2)
model = SentenceTransformer(sys.argv[1])
vectors = torch.tensor(model.encode(texts))
with open(os.path.join(HERE, "minilm_texts.json"), "w") as f:
    json.dump(texts, f, ensure_ascii=False, indent=0)
save_file({"every12": vectors[:, ::12].contiguous()}, os.path.join(HERE, "minilm.safetensors"))

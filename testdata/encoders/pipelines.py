"""Spans that transformers finds and scores that sentence-transformers gives, with the small encoders beside this script.

It writes

    tags.json    for bert_tags and distilbert_tags, the spans of each text by TokenClassificationPipeline with
                 aggregation_strategy="simple": label, score, and start and end in characters
    ranks.json   for bert_pair and distilbert_pair, the scores of texts for queries by CrossEncoder.predict

Made with torch 2.15.0, transformers 5.24.0 and sentence-transformers 6.2.0 on Python 3.11: python pipelines.py
"""
import json
import os
import random
import shutil
import tempfile

import torch
from sentence_transformers import CrossEncoder
from transformers import AutoModelForTokenClassification, PreTrainedTokenizerFast, TokenClassificationPipeline

HERE = os.path.dirname(os.path.abspath(__file__))
torch.set_num_threads(1)
random.seed(7)
PIECES = ["the", "words", "of", "hello", "in", "café", "Hello,", "WORLD", "don't", "naïve", "e\u0301", "\u4f60\u597d", "é",
          "x", "(a)", "…", "\U0001f600", "\u0130stanbul", "ß", "unknownword", "[MASK]", "[SEP]", "\u00a0", "A\u030a\u0323", "1,234.5",
          "\t", "\u0928\u092e\u0938\u094d\u0924\u0947", "\ufb01ne", "-", "zzz", "\u200d", "Ω"]
TEXTS = ["", " ", "the words"] + [random.choice(["", " ", "  "]).join(random.choices(PIECES, k=random.randint(1, 12)))
                                  if i % 4 == 0 else " ".join(random.choices(PIECES, k=random.randint(1, 14)))
                                  for i in range(47)]
QUERIES = ["hello world", "the words of hello in the café", "the words of hello in the café, hello world " * 3, ""]


def tokenizer(name):
    return PreTrainedTokenizerFast(
        tokenizer_file=os.path.join(HERE, name, "tokenizer.json"), model_max_length=24, unk_token="[UNK]", pad_token="[PAD]",
        cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_input_names=["input_ids", "attention_mask"] + ["token_type_ids"] * name.startswith("bert"))


def tags(name):
    model = AutoModelForTokenClassification.from_pretrained(os.path.join(HERE, name), dtype=torch.float64).eval()
    find = TokenClassificationPipeline(model=model, tokenizer=tokenizer(name), aggregation_strategy="simple", device="cpu")
    return [[{"label": s["entity_group"], "score": float(s["score"]), "start": int(s["start"]), "end": int(s["end"])}
             for s in find(text)] for text in TEXTS]


def ranks(name):
    with tempfile.TemporaryDirectory() as to:
        for file in ["config.json", "model.safetensors"]:
            shutil.copy(os.path.join(HERE, name, file), to)
        tokenizer(name).save_pretrained(to)
        model = CrossEncoder(to, device="cpu").double()
        return [model.predict([(q, t) for t in TEXTS], convert_to_tensor=True).tolist() for q in QUERIES]


def write(name, value):
    with open(os.path.join(HERE, name), "w") as f:
        json.dump(value, f, indent=0)


write("tags.json", {"texts": TEXTS, "spans": {name: tags(name) for name in ["bert_tags", "distilbert_tags"]}})
write("ranks.json", {"queries": QUERIES, "texts": TEXTS,
                     "scores": {name: ranks(name) for name in ["bert_pair", "distilbert_pair"]}})

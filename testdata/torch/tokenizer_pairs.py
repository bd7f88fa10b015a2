"""Encodes texts and pairs of texts with the Rust engine, through its Python package tokenizers.

    tokenizer_pairs.py TOKENIZERS.json TABLE.json

TOKENIZERS is a list of objects with a tokenizer, such as train/text/testdata/tokenizers/wordpiece.json. TABLE is a list
of rows: tokenizer, a number in the list; texts, one or two; max_length, with the template's tokens, or 0; strategy, in
transformers' words. The script adds to each row its answer: ids, type ids, the numbers of the texts (-1 for tokens of
the template) and the offsets in characters, one after another; or an empty list where the engine returns an error. The
exit code is 77 if the package is missing. Made with tokenizers 0.23.3 on Python 3.11.
"""
import json
import sys

try:
    from tokenizers import Tokenizer
except ImportError:
    sys.exit(77)

with open(sys.argv[1]) as f:
    tokenizers = [Tokenizer.from_str(json.dumps(t["tokenizer"])) for t in json.load(f)]
with open(sys.argv[2]) as f:
    rows = json.load(f)
for row in rows:
    tokenizer = tokenizers[row["tokenizer"]]
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if row["max_length"]:
        tokenizer.enable_truncation(row["max_length"], strategy=row["strategy"])
    try:
        e = tokenizer.encode(*row["texts"])
    except Exception:
        row["answer"] = []
        continue
    texts = [-1 if n is None else n for n in e.sequence_ids]
    row["answer"] = [e.ids, e.type_ids, texts, [x for at in e.offsets for x in at]]
with open(sys.argv[2], "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")

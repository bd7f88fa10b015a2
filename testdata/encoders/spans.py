"""Writes spans.json: precision, recall and F1 of spans by seqeval 1.2.2 in its default mode.

    python spans.py spans.json

The first group is the example of seqeval's README. In the others classes are random.
"""
import json
import random
import sys

from seqeval.metrics import f1_score, precision_score, recall_score

random.seed(3)
CLASSES = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
groups = [([["O", "O", "O", "B-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]],
           [["O", "O", "B-MISC", "I-MISC", "I-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]])]
for _ in range(12):
    want = [random.choices(CLASSES, k=random.randint(1, 12)) for _ in range(random.randint(1, 5))]
    groups.append((want, [[c if random.random() < 0.7 else random.choice(CLASSES) for c in row] for row in want]))
groups.append(([["O", "O"]], [["O", "O"]]))
groups.append(([["O", "B-PER"]], [["O", "O"]]))
with open(sys.argv[1], "w") as f:
    json.dump([{"want": want, "got": got, "measures": [float(score(want, got, zero_division=0)) for score in (
        precision_score, recall_score, f1_score)]} for want, got in groups], f)
    f.write("\n")

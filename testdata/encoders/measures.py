"""Writes measures.json: measures of retrieval by sentence-transformers 6.2.0 and rank correlations by scipy 1.17.1.

    python measures.py measures.json
"""
import json
import sys

from scipy.stats import spearmanr
from sentence_transformers.evaluation import InformationRetrievalEvaluator

RANKS = [[1], [2, 11], [1, 3, 10], [40], [10], [1, 2]]
PAIRS = [
    ([1, 2, 3], [-5, 0, 100]),
    ([1, 2, 2, 3, 5], [4, 1, 1, 2, 0.5]),
    ([0, 1, 0, 1, 1], [0.1, 0.7, 0.3, 0.2, 0.9]),
]

corpus = {str(i): "" for i in range(1, 51)}
judge = InformationRetrievalEvaluator(
    queries={str(i): "" for i in range(len(RANKS))}, corpus=corpus,
    relevant_docs={str(i): {str(r) for r in ranks} for i, ranks in enumerate(RANKS)},
    precision_recall_at_k=[1, 10], mrr_at_k=[10])
hits = [[{"corpus_id": str(r), "score": -r} for r in range(1, 51)] for _ in RANKS]
found = judge.compute_metrics(hits)
with open(sys.argv[1], "w") as f:
    json.dump({
        "ranks": RANKS,
        "retrieval": [found["recall@k"][1], found["recall@k"][10], found["mrr@k"][10]],
        "spearman": [{"x": x, "y": y, "want": spearmanr(x, y).statistic} for x, y in PAIRS],
    }, f)
    f.write("\n")

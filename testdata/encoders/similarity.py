"""Losses of embeddings as sentence-transformers computes them: values and gradients.

Writes similarity.safetensors beside itself, in float64. Inputs are float32 numbers. Each case has, as <case>.<entry>:

    kind             int64, the number of the loss in KINDS
    scale, margin    float64, where the case does not have the default
    metric           int64, the number of the distance in METRICS
    in.<i>           the inputs: vectors (B, E), and the scores of CoSENTLoss
    positives, ids   int64, of texts: those that are equal have one number
    out              the loss, or the similarities
    dout             the gradient of similarities
    grad.<i>         of the vectors

sentence-transformers' losses have no equal texts: for these, the similarities of equal texts are masked with -inf.

Made with torch 2.15.0 and sentence-transformers 6.2.0 on Python 3.11: python similarity.py
"""
import os

import torch
from safetensors.torch import save_file
from sentence_transformers.sentence_transformer.losses import CoSENTLoss, MultipleNegativesRankingLoss, TripletLoss
from sentence_transformers.sentence_transformer.losses.triplet import TripletDistanceMetric
from sentence_transformers.util import cos_sim, pairwise_cos_sim

KINDS = ["cos_sim", "pairwise_cos_sim", "ranking", "cosent", "triplet"]
METRICS = {"euclidean": TripletDistanceMetric.EUCLIDEAN, "cosine": TripletDistanceMetric.COSINE,
           "manhattan": TripletDistanceMetric.MANHATTAN}
torch.set_num_threads(1)
torch.manual_seed(5)
entries = {}


def vectors(*shape):
    return torch.randn(*shape).double()


def case(name, kind, *inputs, scale=None, margin=None, metric="euclidean", positives=None, ids=None):
    x = [v.clone().requires_grad_(kind != "cosent" or i < 2) for i, v in enumerate(inputs)]
    scaled = {} if scale is None else {"scale": scale}
    if kind == "cos_sim":
        out = cos_sim(*x)
    elif kind == "pairwise_cos_sim":
        out = pairwise_cos_sim(*x)
    elif kind == "ranking" and ids is None:
        loss = MultipleNegativesRankingLoss(None, **scaled)
        out = loss.compute_loss_from_embeddings([x[0], *x[1].split(len(x[0]))], None)
    elif kind == "ranking":
        positives, ids = torch.tensor(positives), torch.tensor(ids)
        equal = positives[:, None] == ids
        equal.fill_diagonal_(False)
        logits = (cos_sim(*x) * (scale or 20)).masked_fill(equal, -torch.inf)
        out = torch.nn.functional.cross_entropy(logits, torch.arange(len(logits)))
        entries.update({name + ".positives": positives, name + ".ids": ids})
    elif kind == "cosent":
        out = CoSENTLoss(None, **scaled).compute_loss_from_embeddings(x[:2], x[2])
    else:
        margins = {} if margin is None else {"triplet_margin": margin}
        out = TripletLoss(None, METRICS[metric], **margins).compute_loss_from_embeddings(x, None)
        entries[name + ".metric"] = torch.tensor(list(METRICS).index(metric))
    dout = torch.ones_like(out) if out.dim() == 0 else vectors(*out.shape)
    out.backward(dout)
    entries.update({name + ".kind": torch.tensor(KINDS.index(kind)), name + ".out": out.detach(), name + ".dout": dout})
    for key, v in {"scale": scale, "margin": margin}.items():
        if v is not None:
            entries[f"{name}.{key}"] = torch.tensor(v, dtype=torch.float64)
    for i, v in enumerate(x):
        entries[f"{name}.in.{i}"] = v.detach()
        if v.requires_grad:
            entries[f"{name}.grad.{i}"] = v.grad


a, b, c = vectors(3, 5), vectors(3, 5), vectors(3, 5)
more = torch.cat([b, c])
zero = a.clone()
zero[1] = 0
short = a * 2.0**-60
case("cos_sim", "cos_sim", a, vectors(7, 5))
case("cos_sim, zeros and short", "cos_sim", zero, torch.cat([short, zero]))
case("cos_sim, one", "cos_sim", a[:1, :1], b[:1, :1])
case("pairwise", "pairwise_cos_sim", a, b)
case("pairwise, zeros", "pairwise_cos_sim", zero, zero)
case("ranking", "ranking", a, b)
case("ranking, hard negatives", "ranking", a, more)
case("ranking, scale 1", "ranking", a, more, scale=1.0)
case("ranking, huge scale", "ranking", a, b, scale=1e20)
case("ranking, one pair", "ranking", a[:1], b[:1])
case("ranking, one pair and a hard negative", "ranking", a[:1], more[2:4])
case("ranking, equal vectors", "ranking", a, a)
case("ranking, zeros", "ranking", zero, b)
case("ranking, equal texts", "ranking", a, b, positives=[7, 8, 7], ids=[7, 8, 7])
case("ranking, all texts equal", "ranking", a, more, positives=[1, 1, 1], ids=[1] * 6)
case("ranking, equal hard negatives", "ranking", a, more, scale=3.0, positives=[1, 2, 3], ids=[1, 2, 3, 2, 2, 4])
p, q = vectors(7, 5), vectors(7, 5)
ties = torch.tensor([0.5, 1, 0.5, -2, 0.25, 1, 0.75]).double()
case("cosent", "cosent", p, q, torch.rand(7).double())
case("cosent, ties", "cosent", p, q, ties, scale=3.0)
case("cosent, no order", "cosent", p, q, torch.ones(7).double())
case("cosent, one pair", "cosent", p[:1], q[:1], ties[:1])
case("cosent, huge scale", "cosent", p, q, ties, scale=1e20)
case("cosent, in order", "cosent", a[[0, 0]], torch.stack([a[0], -a[0]]), torch.tensor([1, 0]).double())
case("cosent, equal vectors", "cosent", p, p, ties)
case("cosent, zeros", "cosent", zero, b, ties[:3])
case("cosent, scores close to each other", "cosent", p[:2], q[:2], torch.tensor([1, 1 + 2.0**-23]).double())
for name in METRICS:
    case(name, "triplet", a, b, c, metric=name)
    case(name + ", margin 1", "triplet", a, b, c, metric=name, margin=1.0)
    case(name + ", equal vectors", "triplet", a, a, c, metric=name)
    case(name + ", far negatives", "triplet", a, b, c + 100, metric=name, margin=0.25)
    case(name + ", zeros", "triplet", zero, zero * 0.5, c, metric=name)
    case(name + ", one", "triplet", a[:1], b[:1], c[:1], metric=name)
case("euclidean, short", "triplet", a * 2.0**-60, b * 2.0**-60, c * 2.0**-60)

here = os.path.dirname(os.path.abspath(__file__))
save_file({k: v.contiguous() for k, v in entries.items()}, os.path.join(here, "similarity.safetensors"),
          metadata={"torch": torch.__version__.split("+")[0]})
for k, v in entries.items():
    if k.endswith(".out") and v.dim() == 0:
        print(k, v.item())

"""Arithmetic, reductions and losses in PyTorch: values and gradients.

Writes elements.safetensors beside itself, as ops.py writes ops.safetensors: see
there for the names of the entries. Made with torch 2.15.0 on Python 3.11; the
file's metadata repeats the version. At a limit, clamp passes no gradient in torch 2.15, and passed one in 1.13.

Weights that have no gradient in Go are detached.
"""
import os

import torch
from torch.nn import functional as F

import golden

IGNORE = -100
inf, nan = torch.inf, torch.nan
i = torch.tensor


def n(*shape):
    return torch.randn(shape)


def t(*values):
    return torch.tensor([float(v) for v in values])


def positive(*shape):
    return torch.rand(shape) + 0.5


def arithmetic():
    shapes = {
        "": [(2, 3, 5), (2, 3, 5)], "_bias": [(2, 3, 5), (5,)], "_positions": [(2, 3, 5), (3, 5)],
        "_columns": [(2, 3, 5), (3, 1)], "_first": [(5,), (2, 3, 5)], "_both": [(3, 1, 7), (2, 1, 5, 1)],
        "_scalar": [(2, 3), ()], "_of_scalar": [(), (2, 3)],
    }
    for name in ["add", "sub", "mul", "div"]:
        for suffix, (x, y) in shapes.items():
            second = positive if name == "div" else n
            yield name + suffix, getattr(torch, name), lambda x=x, y=y, f=second: [n(*x), f(*y)]


def reductions():
    ops = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax}
    settings = {
        "": ((2, 3, 5), {"dim": ()}), "_last": ((2, 3, 5), {"dim": (-1,)}),
        "_kept": ((2, 3, 5), {"dim": (0, 1, 2), "keepdim": True}),
        "_middle": ((2, 3, 5), {"dim": (1,), "keepdim": True}),
        "_apart": ((2, 3, 5, 7), {"dim": (2, 0)}), "_apart_kept": ((2, 3, 5, 7), {"dim": (1, -1), "keepdim": True}),
    }
    for name, op in ops.items():
        for suffix, (shape, c) in settings.items():
            yield name + suffix, lambda x, op=op, c=c: op(x, **c), lambda shape=shape: [n(*shape)]
    yield "max_equals", lambda x: x.amax(1), lambda: [i([[2., 7, 7, 7], [1, 1, 1, 1], [inf, 3, inf, 1]])]
    yield "max_equals_whole", lambda x: x.amax(), lambda: [i([[2., 7, 7], [1, 7, 1]])]
    yield "topk", lambda x: x.topk(3).values, lambda: [n(2, 3, 7)]
    yield "topk_one", lambda x: x.topk(1).values, lambda: [n(2, 3, 7)]
    yield "topk_all", lambda x: x.topk(7).values, lambda: [n(7)]


def choices():
    def where(c, x, y):
        return torch.where(c.bool(), x, y)

    def masked_max(x, keep):
        return x.masked_fill(keep.flatten(1).unsqueeze(-1) == 0, -inf).amax(1)

    yield "where", where, lambda: [i([[1, 0, 0], [1, 1, 0]]), n(2, 3), n(2, 3)]
    yield "where_rows", where, lambda: [i([[1], [0], [1]]), n(2, 1, 5), n(3, 5)]
    yield "where_scalar", where, lambda: [i([1, 0, 1]), n(2, 3), n()]
    yield "clamp", lambda x: x.clamp(-0.3, 0.8), lambda: [n(2, 3, 5)]
    yield "clamp_low", lambda x: x.clamp(0.1), lambda: [n(2, 3, 5)]
    yield "clamp_limits", lambda x: x.clamp(-0.3, 0.8), lambda: [t(-inf, -0.3, 0, 0.8, 0.9, inf, nan)]
    yield "log_softmax", lambda x: x.log_softmax(-1), lambda: [n(2, 3, 5)]
    yield "log_softmax_far", lambda x: x.log_softmax(-1), lambda: [i([[1e4, -1e4, 0], [1e30, -1e30, 1e30], [-inf, 5, 4]])]
    yield "masked_max", masked_max, lambda: [n(3, 5, 7), i([[1, 0, 0, 1, 1], [0, 0, 1, 0, 0], [1, 1, 1, 1, 1]])[:, None, None]]


def losses():
    def detached(f):
        return lambda x, y, w=None: f(x, y, None if w is None else w.detach())

    def probability(*shape):
        return torch.rand(shape)

    ops = {
        "mse": (F.mse_loss, n), "l1": (F.l1_loss, n),
        "huber": (lambda x, y, reduction: F.huber_loss(x, y, reduction, 0.7), n),
        "smooth_l1": (lambda x, y, reduction: F.smooth_l1_loss(x, y, reduction=reduction, beta=0.7), n),
        "bce": (F.binary_cross_entropy_with_logits, probability),
        "kl_div": (F.kl_div, positive),
        "kl_div_logs": (lambda x, y, reduction: F.kl_div(x, y, reduction=reduction, log_target=True), n),
    }
    for name, (op, target) in ops.items():
        for reduction in ["mean", "sum", "none"]:
            yield (f"{name}_{reduction}", lambda x, y, op=op, r=reduction: op(x, y, reduction=r),
                   lambda f=target: [n(2, 3, 5), f(2, 3, 5)])
    yield "kl_div_batch", lambda x, y: F.kl_div(x, y, reduction="batchmean", log_target=True), lambda: [n(3, 5), n(3, 5)]
    yield ("bce_weighted", detached(lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w)),
           lambda: [n(2, 3, 5), probability(2, 3, 5), positive(3, 1)])
    yield "l1_equals", F.l1_loss, lambda: [t(1, 2, 3), t(1, 1, 4)]
    yield "huber_ends", lambda x, y: F.huber_loss(x, y, delta=0.7), lambda: [t(0.7, -0.7, 1e4, 0), t(0, 0, 0, 0)]
    yield "bce_far", F.binary_cross_entropy_with_logits, lambda: [t(20, -20, 1e4, -1e4, 40), t(1, 0, 0, 1, 0.5)]

    def entropy(**c):
        def of(x, target, w=None):
            target = torch.where(target == c["ignored"], IGNORE, target) if "ignored" in c else target
            rest = {k: v for k, v in c.items() if k != "ignored"}
            y = F.cross_entropy(x.flatten(0, -2), target.flatten(), None if w is None else w.detach(), **rest)
            return y.reshape(target.shape) if c.get("reduction") == "none" else y
        return of

    def data(weighted):
        rows = [n(2, 3, 7), i([[6, 0, IGNORE], [1, IGNORE, 1]])]
        return rows + [i([1, 2, 0.5, 3, 0, 0.25, 1.5])] if weighted else rows

    for suffix, c in {"": {}, "_smooth": {"label_smoothing": 0.1}, "_spread": {"label_smoothing": 1.0},
                      "_ignore": {"ignored": 0}}.items():
        for reduction in ["mean", "sum", "none"]:
            for weighted in [False, True]:
                name = "cross_entropy" + suffix + ("" if reduction == "mean" else "_" + reduction)
                yield name + "_weighted" * weighted, entropy(reduction=reduction, **c), lambda w=weighted: data(w)


def linear_losses():
    def linear(x, w, target, weight=None, **c):
        return F.cross_entropy((x @ w.T).flatten(0, -2), target.flatten(), weight, **c)

    for suffix, c in {"": {}, "_smooth": {"label_smoothing": 0.1}, "_sum": {"reduction": "sum"}}.items():
        for weighted in [False, True]:
            # Scaled so that the logits are about as large as those of the other cases.
            def data(weighted=weighted):
                rows = [n(2, 3, 5) / 2, n(7, 5), i([[6, 0, IGNORE], [1, IGNORE, 1]])]
                return rows + [i([1, 2, 0.5, 3, 0, 0.25, 1.5])] if weighted else rows

            def op(x, w, target, weight=None, c=c):
                return linear(x, w, target, None if weight is None else weight.detach(), **c)
            yield "linear_cross_entropy" + suffix + "_weighted" * weighted, op, data


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(20240229)
    out = {}
    for group in [arithmetic, reductions, choices, losses, linear_losses]:
        for case, op, make in group():
            inputs = make()
            for x in inputs:
                x.requires_grad_(x.is_floating_point())
            y = op(*inputs)
            dy = torch.randn(y.shape)
            y.backward(dy)
            out[f"{case}.out"], out[f"{case}.dout"] = y, dy
            for k, x in enumerate(inputs):
                out[f"{case}.in.{k}"] = x
                if x.grad is not None:
                    out[f"{case}.din.{k}"] = x.grad
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "elements.safetensors")
    golden.save(path, out, {"torch": torch.__version__})
    print(sum(name.endswith(".out") for name in out), "cases")


main()

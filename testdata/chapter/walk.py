#!/usr/bin/env python3
"""Writes walk.txt and walk_float64.txt: what `attention chapter` prints, computed with PyTorch.

Run beside the files:  python3 walk.py
Last run with torch 2.15.0 on a CPU; with 1.13.1 only the last digits of four sums differ. walk.txt has the float32
values that no notebook prints. walk_float64.txt has every value of --dtype float64. This program computes them after
torch.set_default_dtype(torch.float64), by which PyTorch draws other random numbers.

The lengths of gradients are not torch.linalg.norm's: in float32 it is wrong in the sixth digit here.
"""
import math
import pathlib

import torch
from torch import nn

here = pathlib.Path(__file__).parent
values = {}  # id to tensor, size or number
TOKENS = [[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64],
          [0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]]


def linear(d_in, d_out, bias=False):
    return nn.Linear(d_in, d_out, bias=bias)


def qkv(d_in, d_out):
    return [linear(d_in, d_out) for _ in range(3)]


def attention(q, k, v, causal=False):
    scores = q @ k.transpose(-2, -1)
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
    weights = torch.softmax(scores / k.shape[-1] ** 0.5, dim=-1)
    return scores, weights, weights @ v


def layer(x, maps, causal=False):
    return attention(*(m(x) for m in maps), causal=causal)


def multihead(x, maps, out, heads):
    return out(joined(x, maps, heads)[2])


def joined(x, maps, heads):
    b, t, _ = x.shape
    split = (m(x).view(b, t, heads, -1).transpose(1, 2) for m in maps)
    scores, weights, context = attention(*split, causal=True)
    return scores, weights, context.transpose(1, 2).reshape(b, t, -1)


def next_word():
    """The next 32 bits of PyTorch's stream. random_ takes two words, the first as the high half: one is put back."""
    state = torch.get_rng_state()
    two = int(torch.empty(1, dtype=torch.int64).random_(-2**63, None)) % 2**64
    torch.set_rng_state(state)
    torch.randint(2, (1,))
    return two >> 32


def keep_mask(p, *shape):
    """Dropout's mask as a PyTorch 1.13 built with MKL draws it; README.md has the formula."""
    modulus = 2**31 - 1
    s = next_word() % modulus or 1
    mask = torch.zeros(math.prod(shape))
    for i in range(len(mask)):
        mask[i] = s / modulus < 1 - p
        s = s * 1132489760 % modulus
    return mask.view(shape)


def simple(x):
    values["walk/inputs"] = x
    scores = x @ x[1]
    values["002/2 attention_scores"] = scores
    plain, naive, proper = scores / scores.sum(), scores.exp() / scores.exp().sum(), scores.softmax(0)
    for weights, name in ((plain, "002/3 attention_scores_normed"), (naive, "002/4 attention_scores_softmax"),
                          (proper, "002/5 torch_softmax_attn_scores")):
        values[name] = weights
        values[name + ".sum()"] = weights.sum()
    values["002/6 context_vector"] = proper @ x
    scores, weights = x @ x.T, (x @ x.T).softmax(-1)
    values["002/7 attention_scores"] = scores
    values["walk/simple weights"] = weights
    values["002/9 attention_weights.sum(dim=-1)"] = weights.sum(-1)
    values["002/10 context_vectors"] = weights @ x


def trainable(x):
    torch.manual_seed(123)
    wq, wk, wv = (torch.rand(3, 2) for _ in range(3))
    s, w, c = attention(x @ wq, x @ wk, x @ wv)
    values["walk/W_query"] = wq
    values["002/11 query_2"] = x[1] @ wq
    values["002/12 keys.shape"] = (x @ wk).shape
    values["002/12 values.shape"] = (x @ wv).shape
    values["002/13 attn_score_22"] = s[1, 1]
    values["002/14 attn_scores_2"] = s[1]
    values["002/15 attn_weights_2"] = w[1]
    values["002/16 context_vec_2"] = c[1]
    values["002/18 sa_v1(inputs)"] = c
    values["walk/v1 scores"], values["walk/v1 weights"] = s, w

    five = torch.cat((x[:4], torch.tensor([[0.02, 0.81, 0.52]])))
    s, w, c = attention(five @ wq, five @ wk, five @ wv)
    values["walk/five inputs"] = five
    values["walk/five keys.shape"] = (five @ wk).shape
    values["004/11 attn_scores_2"] = s[1]
    values["004/12 attn_weights_2"] = w[1]
    values["004/12 attn_weights_2.sum()"] = w[1].sum()
    values["004/13 context_vec_2"] = c[1]

    torch.manual_seed(789)
    s, w, c = layer(x, qkv(3, 2))
    values["002/20 sa_v2(inputs)"] = c
    values["walk/v2 scores"], values["walk/v2 weights"] = s, w
    values["003/8 query.weight"] = [linear(3, 2) for _ in range(5)][-1].weight

    torch.manual_seed(123)
    v2 = layer(x, qkv(3, 2))[2]
    v1 = attention(*(x @ torch.rand(3, 2) for _ in range(3)))[2]
    values["002/22 sa_v2_v1_cv"] = values["walk/v1 with the weights of v2"] = v2
    values["002/23 sa_v1_v2_cv"] = values["002/24 sa_v2_v1(inputs)"] = v1


def causal(x):
    torch.manual_seed(789)
    maps = qkv(3, 2)
    scores, weights, _ = layer(x, maps)
    values["walk/scores"] = scores
    values["002/25 attn_weights"] = weights
    values["002/26 mask_simple"] = torch.ones(6, 6).tril()
    values["002/27 masked_simple"] = weights.tril()
    values["002/28 masked_simple_norm"] = weights.tril() / weights.tril().sum(-1, keepdim=True)
    scores, weights, _ = layer(x, maps, causal=True)
    values["002/29 masked"] = scores
    values["002/30 attn_weights"] = weights
    torch.manual_seed(123)
    keep = keep_mask(0.5, 6, 6)
    values["002/31 dropout(example)"] = keep / 0.5
    values["002/32 dropout(attn_weights)"] = weights * keep / 0.5
    values["walk/dropped context"] = (weights * keep / 0.5) @ maps[2](x)
    after = torch.get_rng_state()  # the layers below are drawn after one mask, as in the notebook
    values["walk/context dropped"] = (weights @ maps[2](x)) * keep_mask(0.5, 6, 2) / 0.5
    torch.set_rng_state(after)
    values["walk/dropout masked"], values["walk/dropout weights"] = scores, weights
    batch = torch.stack((x, x))
    values["002/34 batch"] = batch
    values["002/33 batch.shape"] = batch.shape
    scores, weights, context = layer(batch, qkv(3, 2), causal=True)
    values["walk/causal masked"], values["walk/causal weights"] = scores[0], weights[0]
    values["002/36 context_vecs"] = context
    values["002/36 context_vecs.shape"] = context.shape
    heads = [layer(batch, maps, causal=True) for maps in (qkv(3, 2), qkv(3, 2))]
    values["walk/wrapper weights"] = torch.stack([weights[0] for _, weights, _ in heads])
    context = torch.cat([context for _, _, context in heads], -1)
    values["002/38 context_vecs"] = context
    values["002/39 context_vecs.shape"] = context.shape


def heads(x):
    batch = torch.stack((x, x))
    torch.manual_seed(123)
    queries = linear(3, 2)(batch)
    values["002/41 queries"] = queries
    values["002/41 queries.shape"] = queries.shape
    values["002/42 viewed_queries.shape"] = queries.view(2, 6, 2, 1).shape
    values["002/42 viewed_queries[0].shape"] = queries.view(2, 6, 2, 1)[0].shape
    values["walk/split queries.shape"] = queries.view(2, 6, 2, 1).transpose(1, 2).shape
    torch.manual_seed(123)
    maps, out = qkv(3, 2), linear(2, 2, bias=True)
    scores, weights, context = joined(batch, maps, 2)
    values["walk/mha masked"], values["walk/mha weights"], values["walk/mha joined"] = scores[0], weights[0], context[0]
    context = out(context)
    values["002/43 context_vecs"] = context
    values["002/43 context_vecs.shape"] = context.shape

    doc = torch.randn(1024, 768)
    batch = torch.stack((doc, doc))
    values["002/45 doc"] = doc
    values["002/45 doc.shape"] = doc.shape
    values["002/46 gpt_batch"] = batch
    values["002/46 gpt_batch.shape"] = batch.shape
    maps, out = qkv(768, 768), linear(768, 768, bias=True)
    context = multihead(batch, maps, out, 12)
    values["002/47 context_vecs[0]"] = context[0]
    values["002/47 context_vecs.shape"] = context.shape
    named = dict(zip(("W_query.weight", "W_key.weight", "W_value.weight"), (m.weight for m in maps)))
    named.update({"out_proj.weight": out.weight, "out_proj.bias": out.bias})
    values["walk/parameters"] = sum(p.numel() for p in named.values())
    (context.square().sum() / 2).backward()
    values["walk/W_query.weight.grad"] = named["W_query.weight"].grad
    for name, p in named.items():
        values[f"walk/length of {name}.grad"] = p.grad.square().sum().sqrt()


def additive(x):
    torch.manual_seed(123)
    query, key, v = linear(2, 4), linear(3, 4), linear(4, 1)
    states = torch.tensor([[0.3, 0.9], [0.8, 0.1]])
    scores = v(torch.tanh(query(states)[:, None] + key(x)[None])).squeeze(-1)
    weights = scores.softmax(-1)
    values["walk/decoder states"] = states
    values["walk/additive weights"] = weights
    values["walk/additive context"] = weights @ x


def experiment(_):
    torch.manual_seed(123)
    entropy, largest, gradient = ([[], []] for _ in range(3))
    for d in 2, 8, 32, 128, 512:
        q, k, g = torch.randn(64, d), torch.randn(8, d), torch.randn(64, 8)
        for i, scores in enumerate((q @ k.T, q @ k.T / d ** 0.5)):
            scores.requires_grad_()
            weights = scores.softmax(-1)
            weights.backward(g)
            entropy[i].append(-(weights * scores.log_softmax(-1)).sum(-1).mean())
            largest[i].append(weights.max(-1).values.mean())
            gradient[i].append(scores.grad.square().sum(-1).sqrt().mean())
    values["walk/experiment entropy"] = torch.tensor(entropy)
    values["walk/experiment largest"] = torch.tensor(largest)
    values["walk/experiment gradient"] = torch.tensor(gradient)


def exercises(x):
    torch.manual_seed(123)
    v1 = attention(*(x @ torch.rand(3, 2) for _ in range(3)))[2]
    torch.manual_seed(789)
    maps = qkv(3, 2)
    values["walk/3.1 v1"], values["walk/3.1 v2"] = v1, layer(x, maps)[2]
    values["walk/3.1 W_query.weight"], values["walk/3.1 W_query"] = maps[0].weight, maps[0].weight.T
    values["walk/3.1 moved"] = attention(*(x @ m.weight.T for m in maps))[2]
    torch.manual_seed(123)
    batch = torch.stack((x, x))
    context = torch.cat([layer(batch, maps, causal=True)[2] for maps in (qkv(3, 1), qkv(3, 1))], -1)
    values["walk/3.2 context"], values["walk/3.2 context.shape"] = context, context.shape
    torch.manual_seed(123)
    maps, out = qkv(768, 768), linear(768, 768, bias=True)
    values["walk/3.3 head_dim"] = 768 // 12
    values["walk/3.3 W_query.weight.shape"] = maps[0].weight.shape
    values["walk/3.3 parameters"] = sum(p.numel() for m in (*maps, out) for p in m.parameters())
    values["walk/3.3 W_query.weight"] = maps[0].weight
    values["walk/3.3 context.shape"] = multihead(torch.randn(1, 5, 768), maps, out, 12)[0].shape


def after(x):
    torch.manual_seed(123)
    query, key, value = linear(3, 4), linear(3, 2), linear(3, 2)
    q, k, v = query(x).view(6, 2, 2).transpose(0, 1), key(x), value(x)
    _, weights, context = attention(q, k, v, causal=True)
    values["walk/grouped q"], values["walk/grouped k"], values["walk/grouped weights"] = q, k, weights
    values["walk/grouped context"] = context.transpose(0, 1).reshape(6, 4)
    values["walk/grouped kept by two heads"], values["walk/grouped kept by one"] = 8, 4

    torch.manual_seed(789)
    q, k, v = (m(x) for m in qkv(3, 2))
    window = torch.ones(6, 6).tril().triu(-1)
    scores = (q @ k.T / 2 ** 0.5).masked_fill(window == 0, -math.inf)
    values["walk/window"], values["walk/window weights"] = window, scores.softmax(-1)
    values["walk/window context"] = scores.softmax(-1) @ v
    values["walk/window twice"] = window @ window

    fq, fk = q.exp(), k.exp()
    weights = (fq @ fk.T).tril()
    weights = weights / weights.sum(-1, keepdim=True)
    values["walk/linear fq"], values["walk/linear fk"], values["walk/linear weights"] = fq, fk, weights
    values["walk/linear context"] = weights @ v
    state, total = torch.zeros(2, 2), torch.zeros(2)
    for t in range(6):
        state, total = state + torch.outer(fk[t], v[t]), total + fk[t]
    values["walk/linear state"], values["walk/linear sum"] = state, total
    values["walk/linear read"] = fq[5] @ state / (fq[5] @ total)

    key, other = torch.tensor([[0.5, 0.5, 0.5, 0.5]]), torch.tensor([[0.5, -0.5, 0.5, -0.5]])
    old, kept, new = torch.tensor([[1., 0.]]), torch.tensor([[3., 3.]]), torch.tensor([[0., 2.]])
    memory = key.T @ old + other.T @ kept
    state = memory + key.T @ (new - key @ memory)
    for name, value in dict(key=key, other=other, old=old, kept=kept, new=new, memory=memory, found=key @ memory,
                            both=key @ (memory + key.T @ new), wrong=new - key @ memory, state=state,
                            read=key @ state, still=other @ state).items():
        values["walk/delta " + name] = value

    torch.manual_seed(123)
    query, down, up = linear(3, 2), linear(3, 1), linear(1, 2)
    q, c = query(x), down(x)
    values["walk/latent c"], values["walk/latent k"], values["walk/latent scores"] = c, up(c), q @ up(c).T
    values["walk/latent asked"], values["walk/latent same"] = q @ up.weight, (q @ up.weight) @ c.T
    values["walk/latent kept as keys and values"], values["walk/latent kept as latents"] = 4, 1

    torch.manual_seed(123)
    query, key, value = linear(3, 4), linear(3, 4), linear(3, 2)
    q, k = (m(x).view(6, 2, 2).transpose(0, 1) for m in (query, key))
    first, second = attention(q, k, value(x), causal=True)[1]
    values["walk/difference first"], values["walk/difference second"] = first, second
    values["walk/difference weights"] = first - second / 2
    values["walk/difference context"] = (first - second / 2) @ value(x)


def after_weights(x):
    torch.manual_seed(789)
    q, k, v = (m(x) for m in qkv(3, 2))
    gate = linear(3, 1)(x)[:, 0]
    scores, hidden = q @ k.T / 2 ** 0.5, torch.ones(6, 6).triu(1) > 0

    shifted = scores - math.log(6)
    weights = shifted.sigmoid().tril()
    for name, value in dict(shift=torch.tensor([-math.log(6)]), shifted=shifted, weights=weights, sums=weights.sum(-1),
                            context=weights @ v).items():
        values["walk/sigmoid " + name] = value

    until = torch.nn.functional.logsigmoid(gate).cumsum(0)
    left = torch.eye(6)
    for t in range(6):
        for s in range(t):
            left[t, s] = gate.sigmoid()[s + 1:t + 1].prod()
    weights = (scores + until[:, None] - until).masked_fill(hidden, -math.inf).softmax(-1)
    for name, value in dict(gate=gate.sigmoid(), until=until, bias=until[:, None] - until, left=left, weights=weights,
                            context=weights @ v).items():
        values["walk/forgetting " + name] = value

    means = torch.stack([k[i:i + 2].mean(0) for i in (0, 2, 4)])
    likes, chosen, seen = (q @ means.T).exp(), torch.zeros(6, 3), torch.zeros(6, 6)
    for t in range(6):
        likes[t, t // 2:] = 0
        seen[t, t // 2 * 2:t + 1] = 1
        if t >= 2:
            best = int(likes[t].argmax())
            chosen[t, best] = 1
            seen[t, 2 * best:2 * best + 2] = 1
    weights = scores.masked_fill(seen == 0, -math.inf).softmax(-1)
    for name, value in dict(means=means, likes=likes, chosen=chosen, seen=seen, weights=weights,
                            context=weights @ v).items():
        values["walk/blocks " + name] = value


def entry(name, value):
    if isinstance(value, torch.Tensor):
        return f"== tensor {name}\n{str(value.detach())}\n"
    return f"== {'size' if isinstance(value, torch.Size) else 'number'} {name}\n{value}\n"


for dtype, file, remark in ((torch.float32, "walk.txt", "What `attention chapter` prints and no notebook does"),
                            (torch.float64, "walk_float64.txt", "What `attention chapter --dtype float64` prints")):
    torch.set_default_dtype(dtype)
    values.clear()
    x = torch.tensor(TOKENS)
    for part in (simple, trainable, causal, heads, additive, experiment, exercises, after, after_weights):
        part(x)
    shown = {name: v for name, v in values.items() if dtype == torch.float64 or name.startswith("walk/")}
    text = [f"# {remark}, computed by walk.py with torch {torch.__version__}.\n"]
    text += [entry(name, value) for name, value in shown.items()]
    (here / file).write_text("\n".join(text))

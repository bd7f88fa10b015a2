"""An encoder-decoder of GRUs with and without Bahdanau's attention, in PyTorch.

Writes rnnseq2seq.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case and dtype (f32, f64), named <case>.<dtype>.<entry>:

    param.<name>      each parameter's initial value: all cases are made one after the
                      other after torch.manual_seed(123)
    logits            (2, 3, 11), of the ids below
    state             (2, 5), the decoder's last
    weights           (2, 1, 3, 4), of the attention, if there is one
    loss              the mean cross entropy of the logits
    grad.<name>       its gradient by each parameter
"""
import os

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import golden

SOURCE = torch.tensor([[1, 6, 6, 0], [5, 2, 0, 0]])
LENGTHS = torch.tensor([4, 2])
TARGET = torch.tensor([[10, 6, 2], [10, 1, 0]])
TARGETS = torch.tensor([[6, 2, 0], [1, 0, -1]])  # -1 does not count
S, T, N = 4, 3, 5


class Attention(nn.Module):
    """score = v·tanh(W_query·query + W_key·key), over the keys before the padding."""

    def __init__(self, d_query, d_key, d_attn):
        super().__init__()
        self.W_query = nn.Linear(d_query, d_attn, bias=False)
        self.W_key = nn.Linear(d_key, d_attn, bias=False)
        self.v = nn.Linear(d_attn, 1, bias=False)

    def forward(self, query, keys, padding):  # (B, N), (B, S, 2N), (B, S)
        scores = self.v(torch.tanh(self.W_query(query)[:, None] + self.W_key(keys))).squeeze(-1)
        return scores.masked_fill(padding, -torch.inf).softmax(-1)  # (B, S)


class RNNSeq2Seq(nn.Module):
    def __init__(self, d_attn):
        super().__init__()
        context = 2 * N if d_attn else 0
        self.source = nn.Embedding(7, 3)
        self.encoder = nn.GRU(3, N, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * N, N)
        self.target = nn.Embedding(11, 3)
        self.attention = Attention(N, 2 * N, d_attn) if d_attn else None
        self.decoder = nn.GRU(3 + context, N, batch_first=True)
        self.output = nn.Linear(N + context, 11)

    def forward(self, source, target, lengths):
        packed = pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        packed, ends = self.encoder(packed)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=S)
        state = torch.tanh(self.bridge(torch.cat([ends[0], ends[1]], -1)))[None]  # (1, B, N)
        x = self.target(target)
        if self.attention is None:
            out, state = self.decoder(x, state)
            return self.output(out), state[0], None
        padding = torch.arange(S)[None] >= lengths[:, None]
        outs, weights = [], []
        for t in range(T):
            w = self.attention(state[0], states, padding)
            context = (w[:, None] @ states)[:, 0]
            out, state = self.decoder(torch.cat([x[:, t], context], -1)[:, None], state)
            outs.append(torch.cat([out[:, 0], context], -1))
            weights.append(w)
        return self.output(torch.stack(outs, 1)), state[0], torch.stack(weights, 1)[:, None]


def main():
    out = {}
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        for case, d_attn in (("plain", 0), ("attention", 13)):
            model = RNNSeq2Seq(d_attn)
            logits, state, weights = model(SOURCE, TARGET, LENGTHS)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), TARGETS.flatten(), ignore_index=-1)
            loss.backward()
            got = {f"param.{n}": p for n, p in model.state_dict().items()}
            got.update({f"grad.{n}": p.grad for n, p in model.named_parameters()})
            got.update({"logits": logits, "state": state, "loss": loss[None]})
            if weights is not None:
                got["weights"] = weights
            for entry, t in got.items():
                out[f"{case}.{label}.{entry}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rnnseq2seq.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

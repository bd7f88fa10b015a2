"""A transformer of pictures, in PyTorch: a convolution whose stride is its size cuts the patches.

Writes vit.safetensors beside itself. Made with torch 1.13.0a0 (Debian's
python3-torch 1.13.1) on Python 3.11; the file's metadata repeats the version.

For every case and dtype (f32, f64), named <case>.<dtype>.<entry>:

    param.<name>      each parameter's initial value: all cases are made one after the
                      other after torch.manual_seed(123); those of the convolution
                      as patch.weight (E, P*P*C), by rows, columns and channels of pixels
    picture           (2, 6, 4, 3): height, width, channels
    logits            (2, 6, 5), of 3 * 2 patches of 2 * 2 pixels
    loss              the mean cross entropy of the logits for the classes below
    grad.<name>       its gradient by each parameter
    dpicture          its gradient by the picture

The case own is of patches that see themselves alone.
"""
import os

import torch
from torch import nn

import golden

H, W, C, P, E, V = 6, 4, 3, 2, 8, 5
ROWS, COLUMNS = H // P, W // P
TARGETS = torch.tensor([[4, 0, -1, 1, 1, 2], [-1, -1, 3, 0, 2, -1]])  # -1 does not count


class Encoder(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(E, 2, 7, dropout=0, activation="gelu", norm_first=True, batch_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(E)

    def forward(self, x, mask):
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.norm(x)


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Linear(P * P * C, E)
        self.rows, self.columns = (nn.Parameter(torch.empty(n, E).normal_(0, 1 / E**0.5)) for n in (ROWS, COLUMNS))
        self.encoder = Encoder(2)
        self.output = nn.Linear(E, V)

    def forward(self, picture, mask):
        kernel = self.patch.weight.view(E, P, P, C).permute(0, 3, 1, 2)  # as nn.Conv2d's
        x = nn.functional.conv2d(picture.permute(0, 3, 1, 2), kernel, self.patch.bias, stride=P)  # (B, E, R, C)
        x = x.permute(0, 2, 3, 1) + self.rows[:, None] + self.columns
        return self.output(self.encoder(x.flatten(1, 2), mask))


def main():
    out = {}
    for label, dtype in (("f32", torch.float32), ("f64", torch.float64)):
        torch.set_default_dtype(dtype)
        torch.manual_seed(123)
        for case, mask in (("all", None), ("own", ~torch.eye(ROWS * COLUMNS, dtype=torch.bool))):
            model = ViT()
            picture = torch.randn(2, H, W, C, requires_grad=True)
            logits = model(picture, mask)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), TARGETS.flatten(), ignore_index=-1)
            loss.backward()
            names = {n: n + ".weight" if n in ("rows", "columns") else n for n, _ in model.named_parameters()}
            got = {f"param.{names[n]}": p for n, p in model.named_parameters()}
            got.update({f"grad.{names[n]}": p.grad for n, p in model.named_parameters()})
            got.update({"picture": picture, "dpicture": picture.grad, "logits": logits, "loss": loss[None]})
            for entry, t in got.items():
                out[f"{case}.{label}.{entry}"] = t
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vit.safetensors")
    golden.save(path, out, {"torch": torch.__version__})


main()

"""The public names of torch.nn, torch.nn.attention and torch.optim, and of their parts that belong to them.

Writes names.txt beside itself: a module and one of its classes or functions in each line. layers/names.md has a row
for each. Made with torch 2.15.0.
"""
import importlib
import inspect
import os

MODULES = ["torch.nn", "torch.nn.attention", "torch.nn.attention.bias", "torch.nn.attention.flex_attention",
           "torch.nn.attention.varlen", "torch.optim", "torch.optim.lr_scheduler"]


def names(module):
    """Yields the names in dir(module) of classes and functions of its own package."""
    part = importlib.import_module(module)
    package = "torch.nn" if module == "torch.nn" else module
    for name in dir(part):
        x = getattr(part, name)
        if name.startswith("_") or not (inspect.isclass(x) or inspect.isfunction(x)):
            continue
        if name in getattr(part, "__all__", []) or x.__module__.startswith(package):
            yield name


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "names.txt"), "w") as f:
    for module in MODULES:
        for name in names(module):
            f.write(f"{module} {name}\n")
    f.write("torch.nn.functional linear_cross_entropy\n")

"""Runs PyTorch's form of the whole programs and compares what it prints.

The form is the indented part of an example's doc comment in train/example_*_test.go, the
output the example's own, which Go's tests compare with what the Go program prints.

    python3 testdata/torch/examples.py
"""
import contextlib
import glob
import io
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def main():
    wrong = 0
    for path in sorted(glob.glob(os.path.join(ROOT, "train", "example_*_test.go"))):
        with open(path, encoding="utf-8") as f:
            source = f.read()
        lines = re.findall(r"^//(?:$|\t(.*))", source, re.M)
        if not any(lines):
            continue
        want = re.findall(r"^\t// (.*)", source.split("\t// Output:\n")[1], re.M)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec("\n".join(lines).replace("\t", "    "), {})
        same = printed.getvalue().splitlines() == want
        print(os.path.basename(path), "prints the same" if same else f"prints\n{printed.getvalue()}")
        wrong += not same
    sys.exit(wrong > 0)


main()

#!/bin/sh
# Trains the models that attention why --view shows, in a minute on two cores. The bytes are the same on processors
# with the same vectors.
set -e
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
go run attention/cmd/attention why --task reverse --seeds 1 --out "$out/why"
cp "$out/why/reverse.safetensors" kept.safetensors

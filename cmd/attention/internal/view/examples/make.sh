#!/bin/sh
# Trains the two models that attention view shows without a model, in some minutes on two cores. The bytes are the same
# on processors with the same vectors. names.json gives the first layer a window of two tokens, so that a name that
# comes back has to look at what followed it.
set -e
here=$(pwd)
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
go build -o "$out/attention" attention/cmd/attention
go run stories.go > "$out/stories.txt"
cp names.json "$out"
cd "$out"
./attention translate --out date
./attention tokenize --train --text-file stories.txt --vocab 360 --out words.json
./attention train --config names.json --text stories.txt --tokenizer words.json --context 37 --batch 32 --steps 2000 \
    --solver muon --lr 0.01 --warmup 100 --eval-every 250 --eval-batches 20 --sample 0 --seed 1 --out names
for model in date names; do
	mkdir -p "$here/$model"
	cp $model/config.json $model/model.safetensors "$here/$model"
done
cp names/tokenizer.json "$here/names"

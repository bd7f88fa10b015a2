#!/bin/sh
# make.sh writes the run folders beside it and what must come of them, with a program built at commit 900aa4f:
#
#	git worktree add ../attention-900aa4f 900aa4f
#	(cd ../attention-900aa4f && go build ./cmd/attention)
#	sh testdata/runs/make.sh ../attention-900aa4f/attention
#
# What comes of a folder is recorded for the kernels of AVX-512, of AVX2 and of plain Go. On a processor without AVX-512
# the sums of its kernels that do not depend on the folder's weights, those of the run again, stay from another one.
#
# form.go gives the folders the form of today: the format number, and the identity of the model and the checkpoints.
set -eu
attention=$(realpath "$1")
cd "$(dirname "$0")"
here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd ../.. && go build -o "$work/form" testdata/runs/form.go)
native=avx2
if grep -q avx512f /proc/cpuinfo; then native=avx512; fi
export LC_ALL=C

# The flags of every run but those of presets; all take 20 steps.
small="--text text.txt --width 8 --heads 2 --context 6 --batch 3 --eval-every 7 --sample 0"

# begin NAME makes a folder with the files that runs read and makes it the working directory.
begin() {
	mkdir -p "$work/$1"
	cp "$here/$1/avx512.sha256" "$work/$1/before.sha256" 2>/dev/null || true # there is none of a new folder
	rm -rf "${here:?}/$1"
	mkdir "$here/$1"
	cp "$here/text.txt" "$here/start.safetensors" "$work/$1"
	cd "$work/$1"
}

# until_signalled SIGNAL FLAGS… trains and sends a signal after the first step, again until it comes before the last.
until_signalled() {
	signal=$1
	shift
	while :; do
		rm -rf run
		"$attention" train "$@" --out run >log 2>&1 &
		child=$!
		while ! [ -s run/metrics.jsonl ] && kill -0 $child 2>/dev/null; do :; done
		kill "-$signal" $child 2>/dev/null || true
		wait $child || true
		if [ "$(grep -c grad_norm run/metrics.jsonl)" -lt 20 ] && ! grep -q '"step":20,' run/metrics.jsonl; then
			return
		fi
	done
}

# finish NAME keeps the run folder without its pictures and its lock, and the outcome of commands on copies of it.
finish() {
	rm -f run/*.png run/checkpoints/lock
	rmdir run/checkpoints 2>/dev/null || true # which git would not keep
	cp -r run "$here/$1/run"
	{
		if [ -f run/model.safetensors ]; then
			echo "generate --model run --prompt jumpsover --tokens 30 --seed 3"
		fi
		echo "train --resume run --steps 20"
		echo "generate --model run --prompt jumpsover --tokens 30 --seed 4 --temperature 1.2 --top-k 9"
		echo "train --config run/config.json --out again"
		echo "train --config run/config.json --init run/model.safetensors --seed 7 --out begun"
		if grep -q n_embd run/config.json; then
			grep -q n_kv_head run/config.json || echo "export --model run --format huggingface --out huggingface"
			echo "export --model run --format torch --out torch"
		fi
	} >"$here/$1/commands"
	if [ $native = avx512 ]; then
		outcome "$1" avx512 ""
	else
		grep ' again/' before.sha256 >"$here/$1/avx512.sha256"
	fi
	outcome "$1" avx2 cpu.avx512f=off
	outcome "$1" go cpu.avx2=off
	mkdir "$here/$1/near"
	for run in run again; do # of plain Go
		cp "go/$run/metrics.jsonl" "$here/$1/near/$run.jsonl"
		if [ "$(wc -c <"go/$run/model.safetensors")" -lt 100000 ]; then
			cp "go/$run/model.safetensors" "$here/$1/near/$run.safetensors"
		fi
	done
	"$work/form" "$here/$1/run"
}

# outcome NAME PATH GODEBUG runs the commands in a copy of the folder and writes the sums of what they print and write.
outcome() {
	cp -r "$here/$1" "$2"
	cp "$here/text.txt" "$here/start.safetensors" "$2"
	(
		cd "$2"
		n=0
		while read -r line; do
			n=$((n + 1))
			GODEBUG=$3 "$attention" $line >"$n.txt" 2>log </dev/null || { cat log; exit 1; }
			case $line in generate*) ;; *) rm "$n.txt" ;; esac
		done <commands
		"$work/form" -bare ./*/model.safetensors
		sed -i 's/,"tokens_per_second":[^}]*//' ./*/metrics.jsonl
		find . -name '*.txt' ! -name text.txt -o -path './*/model.safetensors' -o -path './*/metrics.jsonl' \
			-o -path './huggingface/*' -o -path './torch/*' | sed 's|^\./||' | sort | xargs sha256sum >"$here/$1/$2.sha256"
	)
}

stopped() {
	name=$1
	shift
	begin "$name"
	until_signalled TERM "$@"
	finish "$name"
	if ! cmp -s $native/run/model.safetensors $native/again/model.safetensors; then
		echo "$name: resumed and uninterrupted differ" >&2
		exit 1
	fi
}

yes 'the quick brown fox jumps over a lazy dog
and goes on' | head -n 32 >text.txt
if ! [ -f start.safetensors ]; then # a model as of another program, without a word on what it is about
	"$attention" train $small --model gpt --layers 2 --steps 1 --out "$work/start" >/dev/null
	mv "$work/start/model.safetensors" start.safetensors
	"$work/form" -bare start.safetensors
fi

stopped simple $small --layer simple --steps 20 --solver sgd --momentum 0.9
stopped self_v1 $small --layer self_v1 --steps 20 --solver adam --beta1 0.8
stopped self_v2 $small --layer self_v2 --steps 20 --qkv-bias --order sequential
stopped causal $small --layer causal --steps 20 --dropout 0.2 --dtype float64
stopped multi_head_wrapper $small --layer multi_head_wrapper --steps 20 --qkv-bias --accumulate 2
stopped multi_head $small --layer multi_head --steps 20 --dropout 0.1 --weight-decay 0.1 --vocab 30
stopped additive $small --layer additive --steps 20 --solver sgd --clip 0.5
stopped gpt $small --model gpt --layers 2 --kv-heads 1 --hidden 12 --activation silu --tie=false --dropout 0.1 \
	--steps 20 --save-every 2 --keep 3
stopped initialised $small --model gpt --layers 2 --init start.safetensors --steps 20 --residual-dropout 0.2 --lr 0.01
stopped tiny --preset tiny --width 16 --context 16 --batch 8 --lr 0.01 --steps 20 --eval-every 7 --sample 5
stopped nano-char --preset nano-char --text text.txt --layers 1 --heads 2 --width 8 --context 6 --steps 20 \
	--eval-every 7 --eval-batches 2
stopped gpt2 --preset gpt2 --tokenizer bytes --text text.txt --layers 1 --heads 2 --width 8 --context 6 --steps 20 \
	--eval-every 7 --eval-batches 2 --save-every 2

begin gpt2_killed # before its first checkpoint, so that it begins again
until_signalled KILL --preset gpt2 --text text.txt --layers 1 --heads 2 --width 4 --context 6 --steps 20 \
	--eval-every 0 --eval-batches 2 --sample 5
finish gpt2_killed

begin finished_layer
"$attention" train $small --steps 12 --decay-steps 20 --out run >log
finish finished_layer

begin finished_gpt
"$attention" train $small --model gpt --layers 1 --bias=false --activation gelu --steps 12 --decay-steps 20 --out run >log
finish finished_gpt

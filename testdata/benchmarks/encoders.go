//go:build ignore

// Encoders runs an encoder's works for encoders.py: for each line of its input, a work, it runs the work once and prints
// its seconds, and those of all processors.
//
//	go run testdata/benchmarks/encoders.go MODEL
//
// "embed B T" makes the vectors of B texts of T tokens, and "step B T M" trains all weights on B triplets of texts of T
// tokens, in mini-batches of M, or whole if M is 0. "memory" prints the most memory of the process instead, in bytes.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"attention/layers"
	"attention/train"
	"attention/train/pretrained"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var names = []string{"anchor", "positive", "negative"}

func main() {
	log.SetFlags(0)
	encoder := must(pretrained.OpenEncoder(os.Args[1]))
	works := map[string]func(){}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "memory" {
			fmt.Println(usage().Maxrss * 1024)
			continue
		}
		work := works[lines.Text()]
		if work == nil {
			work = workOf(encoder, lines.Text())
			works[lines.Text()] = work
		}
		before, begin := usage(), time.Now()
		work()
		took, after := time.Since(begin), usage()
		fmt.Println(took.Seconds(), seconds(after.Utime, after.Stime)-seconds(before.Utime, before.Stime))
	}
}

// workOf returns the function of a work.
func workOf(e *pretrained.Encoder, line string) func() {
	var rows, length, mini int
	embedding := func(b *layers.Build, in layers.Inputs, name string) *G.Node {
		return b.Cached(e.Model.Embedding(b, layers.EncoderInput{IDs: in[name], Lengths: in["lengths"]},
			e.Sentence.Pooling, e.Sentence.Normalize))
	}
	if n, _ := fmt.Sscanf(line, "embed %d %d", &rows, &length); n == 2 {
		f := must(layers.NewFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
			return []*G.Node{embedding(b, in, "anchor")}
		}, layers.FuncConfig{}))
		v := layers.Values{"anchor": ids(e, rows, length), "lengths": lengths(rows, length)}
		out := must(f.Call(context.Background(), v))
		return func() { out = must(f.CallInto(context.Background(), out, v)) }
	}
	must(fmt.Sscanf(line, "step %d %d %d", &rows, &length, &mini))
	step := must(train.NewStepFunc(e.Params, func(b *layers.Build, in layers.Inputs) []*G.Node {
		var all []*G.Node
		for _, name := range names {
			all = append(all, embedding(b, in, name))
		}
		candidates := b.Of(G.Concat(0, all[1], all[2]))
		return b.Nodes(layers.MultipleNegativesRankingLoss{}.Forward(b, all[0], candidates, nil))
	}, train.StepConfig{Schedule: train.ConstantRate(2e-5), MiniBatchSize: mini}))
	v := train.Values{"lengths": lengths(rows, length)}
	for _, name := range names {
		v[name] = ids(e, rows, length)
	}
	return func() { must(step.Run(v)) }
}

// ids returns the ids (rows, length) of random tokens.
func ids(e *pretrained.Encoder, rows, length int) *tensor.Dense {
	all := make([]int, rows*length)
	for i := range all {
		all[i] = 1000 + rand.IntN(e.Model.Config().VocabSize-1000)
	}
	return tensor.New(tensor.WithShape(rows, length), tensor.WithBacking(all))
}

func lengths(rows, length int) *tensor.Dense {
	all := make([]int, rows)
	for i := range all {
		all[i] = length
	}
	return tensor.New(tensor.WithShape(rows), tensor.WithBacking(all))
}

func usage() (u syscall.Rusage) {
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return u
}

func seconds(user, system syscall.Timeval) float64 {
	return time.Duration(user.Nano() + system.Nano()).Seconds()
}

func must[V any](v V, err error) V {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

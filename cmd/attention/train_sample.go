package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// printSample continues the prompt with characters drawn from the model.
func (r *trainRun) printSample(w io.Writer) error {
	if r.options.sample == 0 {
		return nil
	}
	text, err := r.sample(r.prompt)
	if err != nil {
		return err
	}
	given, err := r.corpus.vocabulary.Decode(r.prompt)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\nThe model continues %q:\n\n%s\n\n", given, text)
	return err
}

func (r *trainRun) sample(prompt []int) (string, error) {
	random := rand.New(rand.NewPCG(uint64(r.options.seed), 1))
	ids := append([]int{}, prompt...)
	forwards := map[int]*forward{} // by length, up to the context
	for range r.options.sample {
		seen := ids[max(0, len(ids)-r.config.Context):]
		f := forwards[len(seen)]
		if f == nil {
			var err error
			if f, err = r.newForward(len(seen)); err != nil {
				return "", err
			}
			forwards[len(seen)] = f
		}
		if err := f.run(seen); err != nil {
			return "", err
		}
		logits := float64s(f.logits.Value().(*tensor.Dense))
		ids = append(ids, pick(random, logits[len(logits)-r.config.Vocab:]))
	}
	return r.corpus.vocabulary.Decode(ids[len(prompt):])
}

// pick draws an index with probability softmax(logits).
func pick(random *rand.Rand, logits []float64) int {
	top := math.Inf(-1)
	for _, v := range logits {
		top = math.Max(top, v)
	}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(v - top)
	}
	left := random.Float64() * sum
	for i, v := range logits {
		if left -= math.Exp(v - top); left < 0 {
			return i
		}
	}
	return len(logits) - 1
}

// forward runs the model on sequences of one length, without dropout.
type forward struct {
	ids             *G.Node // (T)
	logits, weights *G.Node // (T, V), ([H,] T, T)
	machine         *machine.Machine
}

func (r *trainRun) newForward(length int) (*forward, error) {
	b := layers.NewBuild(r.params, layers.Eval)
	ids, err := b.Input("ids", tensor.Int, length)
	if err != nil {
		return nil, err
	}
	f := &forward{ids: ids}
	if f.logits, f.weights, err = r.model.ForwardWithWeights(b, ids); err != nil {
		return nil, err
	}
	f.machine, err = machine.New(f.logits, f.weights)
	return f, err
}

func (f *forward) run(ids []int) error {
	if err := G.Let(f.ids, tensor.New(tensor.WithShape(len(ids)), tensor.WithBacking(append([]int{}, ids...)))); err != nil {
		return err
	}
	return f.machine.RunAll()
}

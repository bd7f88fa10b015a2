package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode"

	"attention/graph/machine"
	"attention/layers"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// promptIDs is what the sample continues: --prompt, or a window of the validation
// split.
func (r *trainRun) promptIDs(prompt string) ([]int, error) {
	if prompt == "" {
		return r.corpus.validation[:r.model.context()], nil
	}
	for i, c := range []rune(prompt) {
		if !strings.ContainsRune(r.corpus.vocabulary.Characters(), c) {
			return nil, fmt.Errorf("--prompt: got %q at position %d, want characters of the text", c, i)
		}
	}
	ids, err := r.corpus.vocabulary.Encode(prompt)
	if err != nil {
		return nil, fmt.Errorf("--prompt: %w", err)
	}
	if !r.model.causal() && len(ids) < r.model.context() {
		return nil, fmt.Errorf("--prompt: got %d characters, want at least --context %d: layer %s continues whole windows only",
			len(ids), r.model.context(), r.model.title())
	}
	return ids, nil
}

// printSample continues the prompt with characters drawn from the model.
func (r *trainRun) printSample(ctx context.Context) error {
	if r.length == 0 {
		return nil
	}
	ids, err := r.sample(ctx)
	if err != nil {
		err = fmt.Errorf("train: sample: %w; %s holds the model", err, r.folder.path)
		if ctx.Err() != nil {
			err = interrupted{err}
		}
		return err
	}
	given, err := r.corpus.vocabulary.Decode(r.prompt)
	if err != nil {
		return err
	}
	text, err := r.corpus.vocabulary.Decode(ids)
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "\nGiven this text:\n\n%s\n\nthe model goes on:\n\n%s\n", printable(given), printable(text))
	return nil
}

// sample draws as many characters as were asked for.
func (r *trainRun) sample(ctx context.Context) ([]int, error) {
	f, err := r.newForward()
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(uint64(r.config.Training.Seed), 1))
	ids := append([]int{}, r.prompt...)
	for range r.length {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		seen := ids[max(0, len(ids)-r.model.context()):]
		if err := f.run(seen); err != nil {
			return nil, err
		}
		logits := float64s(f.logits.Value().(*tensor.Dense))[(len(seen)-1)*r.model.vocab():]
		ids = append(ids, pick(random, logits[:r.model.vocab()]))
	}
	return ids[len(r.prompt):], nil
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

// printable writes line ends in one way and escapes what a terminal would obey.
func printable(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// forward runs the model on one window, without dropout.
type forward struct {
	ids             *G.Node // (T)
	logits, weights *G.Node // (T, V), ([H,] T, T)
	machine         *machine.Machine
}

func (r *trainRun) newForward() (*forward, error) {
	b := layers.NewBuild(r.params, layers.Eval)
	ids, err := b.Input("ids", tensor.Int, r.model.context())
	if err != nil {
		return nil, err
	}
	f := &forward{ids: ids}
	if f.logits, f.weights, err = r.model.forwardWithWeights(b, ids); err != nil {
		return nil, err
	}
	f.machine, err = machine.New(f.logits, f.weights)
	return f, err
}

// run computes logits and weights of a window. Fewer ids are filled up with 0,
// which in a causal layer no earlier position sees.
func (f *forward) run(ids []int) error {
	window := make([]int, f.ids.Shape()[0])
	copy(window, ids)
	if err := G.Let(f.ids, tensor.New(tensor.WithShape(len(window)), tensor.WithBacking(window))); err != nil {
		return err
	}
	return f.machine.RunAll()
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"

	"attention/graph"
	"attention/layers"
	"attention/train"
	"attention/train/text"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func mustDtype(t *testing.T, name string) tensor.Dtype {
	dt, err := dtypeOf(name)
	require.NoError(t, err)
	return dt
}

// tinyOptions pass for flags.
func tinyOptions(layer, solver string) trainOptions {
	return trainOptions{model: layerName, layer: layer, tokenizer: text.Characters, activation: "gelu", solver: solver, dtype: "float32",
		order: randomOrder, width: 4, heads: 2, layers: 1, steps: 2000, accumulate: 1, keep: 1, beta1: 0.9, beta2: 0.999, eps: 1e-8, normEps: 1e-5}
}

// TestTrainDefaults: some depend on layer, solver and steps, unless they are given.
func TestTrainDefaults(t *testing.T) {
	for _, c := range []struct {
		layer, solver  string
		context, batch int
		rate           float64
	}{
		{layers.MultiHead, train.AdamW, causalContext, causalBatch, adamRate},
		{layers.Causal, train.Adam, causalContext, causalBatch, adamRate},
		{layers.MultiHeadWrapper, train.SGD, causalContext, causalBatch, sgdRate},
		{layers.Simple, train.AdamW, wholeContext, wholeBatch, adamRate},
		{layers.Additive, train.SGD, wholeContext, wholeBatch, sgdRate},
	} {
		o := tinyOptions(c.layer, c.solver)
		given := o
		require.NoError(t, o.settle(func(string) bool { return false }))
		require.Equal(t, []any{c.context, c.batch, c.rate}, []any{o.context, o.batch, o.rate})
		require.Equal(t, []any{100, 2000, c.rate / 10}, []any{o.warmup, o.decaySteps, o.floor})
		given.context, given.batch, given.rate, given.text, given.out, given.prompt = 5, 6, 7, "a", "b", "c"
		given.warmup, given.decaySteps, given.floor, given.init, given.resume = 8, 9, 3, "d", "e"
		want := given
		names := []string{"context", "batch", "lr", "warmup", "decay-steps", "min-lr", "text", "out", "prompt", "init", "resume"}
		require.NoError(t, given.settle(func(flag string) bool { return slices.Contains(names, flag) }))
		require.Equal(t, want, given)
	}
}

// TestTrainScheduleIsNanoGPTs: --lr 1e-3 over 2000 steps warms up over 100 of them and
// goes down to 1e-4, by the formula of nanoGPT's get_lr.
func TestTrainScheduleIsNanoGPTs(t *testing.T) {
	o := tinyOptions(layers.MultiHead, train.AdamW)
	o.rate = 1e-3
	require.NoError(t, o.settle(func(flag string) bool { return flag == "lr" }))
	s, err := o.loopConfig().Schedule.New()
	require.NoError(t, err)
	const most, least, warmup, decay = 1e-3, 1e-4, 100, 2000
	for it := range 2100 {
		want := least
		switch {
		case it < warmup:
			want = most * float64(it+1) / (warmup + 1)
		case it <= decay:
			want = least + 0.5*(1+math.Cos(math.Pi*float64(it-warmup)/(decay-warmup)))*(most-least)
		}
		require.InEpsilon(t, want, s.At(it), 1e-14, "step %d", it)
	}
	require.Equal(t, 1e-3, s.At(100))
	require.Equal(t, 1e-4, s.At(2000))
}

// TestSources: a validation asks for every character that has a window before it,
// once, or for each after every eighth of long windows that are seen as a whole.
func TestSources(t *testing.T) {
	ids := make([]int, 101)
	for i := range ids {
		ids[i] = i
	}
	c := &corpus{training: ids, validation: ids}
	for _, s := range []struct {
		context  int
		lastOnly bool
		targets  int // how many
		first    int
	}{
		{7, false, 100, 1}, {7, true, 94, 7}, {1, true, 100, 1}, {8, true, 93, 8},
		{100, true, 1, 100}, {90, true, 8, 90}, {20, true, 5 + 4*7, 20},
	} {
		var r runConfig
		r.Batch, r.Order = 3, randomOrder
		r.Model.layer = &layers.LanguageModelConfig{Context: s.context}
		training, validation, err := c.sources(r, s.lastOnly)
		require.NoError(t, err)
		for range 2 { // the second validation is like the first
			asked := drain(t, validation)
			require.Len(t, asked, s.targets, "%+v", s)
			for target, times := range asked {
				require.Equal(t, 1, times, "%+v: %d", s, target)
				require.GreaterOrEqual(t, target, s.first)
			}
		}
		b, err := training.Next()
		require.NoError(t, err)
		require.Equal(t, map[bool]int{true: 3, false: 3 * s.context}[s.lastOnly], b.Tokens)

		r.Order = sequentialOrder
		training, _, err = c.sources(r, s.lastOnly)
		require.NoError(t, err)
		for i := range 2 {
			b, err = training.Next()
			require.NoError(t, err)
			require.Equal(t, 3*i*s.context%len(ids), b.Inputs[text.Inputs].Ints()[0])
			require.Equal(t, map[bool]int{true: 3, false: 3 * s.context}[s.lastOnly], b.Tokens)
		}
	}
}

// drain counts the targets up to the end of a source, and checks that each follows
// its input.
func drain(t *testing.T, s train.Source) map[int]int {
	asked := map[int]int{}
	for {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			return asked
		}
		require.NoError(t, err)
		inputs, targets := b.Inputs[text.Inputs].Ints(), b.Inputs[text.Targets].Ints()
		for i, target := range targets {
			if target != graph.IgnoreTarget {
				require.Equal(t, inputs[i]+1, target)
				asked[target]++
			}
		}
	}
}

func TestPrintable(t *testing.T) {
	require.Equal(t, "a\n\tb\\r\\x1b[31m\\x00 é😀'\n", printable("a\r\n\tb\r\x1b[31m\x00 é😀'\n"))
}

// TestNoBarInAFile: a bar is for terminals.
func TestNoBarInAFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	p := newProgress(f, 10)
	require.Nil(t, p.bar)
	p.step(train.Step{Loss: 1})
	p.clear()
	at, err := f.Seek(0, io.SeekCurrent)
	require.NoError(t, err)
	require.Zero(t, at)
	require.NoError(t, f.Close())
}

// TestOutputKeepsTheFirstError.
func TestOutputKeepsTheFirstError(t *testing.T) {
	out := &output{Writer: full{}}
	fmt.Fprint(out, "a")
	first := out.err
	fmt.Fprint(out, "b")
	require.EqualError(t, first, "train: printing: no space left")
	require.Same(t, first, out.err)
}

// TestTrainTexts of other kinds than prose.
func TestTrainTexts(t *testing.T) {
	for name, text := range map[string]string{
		"line ends of two characters": "The cat sat.\r\nThe dog ran.\r\n",
		"emoji":                       "Hello 😀 wörld 日本語 x ≤ y\n",
		"byte order mark":             "\ufeffabc def\n",
		"terminal codes":              "\x1b[31mred\x1b[0m\x00",
	} {
		t.Run(name, func(t *testing.T) { runText(t, text) })
	}
	t.Run("one character", func(t *testing.T) { runText(t, "a") })
}

// runText trains on a text repeated to more than 200 characters.
func runText(t *testing.T, text string) {
	dir := t.TempDir()
	path := dir + "/text"
	for len([]rune(text)) < 200 {
		text += text
	}
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	var printed bytes.Buffer
	require.NoError(t, trainTo(t.Context(), &printed, append(tinyFlags(path, dir+"/run"), "--sample", "60")...))
	require.NotContains(t, sampled(t, printed.String()), "\x1b")
	require.NotContains(t, sampled(t, printed.String()), "\r")
	requirePicture(t, dir+"/run/attention.png", weightColors)
}

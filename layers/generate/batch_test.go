package generate_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// The texts of a batch equal those of generators, with prompts of different lengths, prompts after drawn tokens, texts
// that end and texts that slide.
func TestBatchEqualsGenerators(t *testing.T) {
	for _, row := range []struct {
		lengths  []int
		capacity int
	}{
		{lengths: []int{5}}, {lengths: []int{3, 9, 1, 9}}, {lengths: []int{300, 2}},
		{lengths: []int{10, 4}, capacity: 10}, {lengths: []int{25, 4, 11}, capacity: 11},
	} {
		_, m := small(t, tensor.Float64, config)
		c := generate.Config{Temperature: 1, Seed: 7, Capacity: row.capacity, Slide: row.capacity > 0}
		batch := must(generate.NewBatch(m, len(row.lengths), c))
		var single []*generate.Generator
		prompts := make([][]int, len(row.lengths))
		for i, n := range row.lengths {
			g := must(generate.New(m, c))
			c.Seed++
			single, prompts[i] = append(single, g), ids(n, 13-i)
		}
		for round := range 2 { // the second time after Reset
			ended := 1 // text
			prompt := func(prompts [][]int) {
				require.NoError(t, batch.Prompt(ctx, prompts))
				for i, g := range single {
					if len(prompts[i]) > 0 {
						require.NoError(t, g.Prompt(ctx, prompts[i]))
						require.InDeltaSlice(t, g.Logits(), batch.Logits(i), 1e-12)
					}
				}
			}
			draw := func(n int, stopped int) {
				for range n {
					got := must(batch.Next(ctx))
					for i, g := range single {
						if i == stopped {
							require.Equal(t, -1, got[i])
							continue
						}
						require.Equal(t, must(g.Next(ctx)), got[i], "%+v, round %d, text %d", row, round, i)
						require.InDeltaSlice(t, g.Logits(), batch.Logits(i), 1e-12)
					}
				}
			}
			prompt(prompts)
			draw(6, -1)
			more := make([][]int, len(prompts))
			more[0] = ids(3, 7)
			prompt(more)
			draw(3, -1)
			batch.Stop(ended)
			draw(9, ended)
			batch.Reset()
			for _, g := range single {
				g.Reset()
			}
		}
	}
}

// A failed call changes nothing, with one text and with several, also when a text slides.
func TestReadingFails(t *testing.T) {
	_, m := small(t, tensor.Float64, config)
	c := generate.Config{Capacity: 10, Slide: true, Temperature: 1}
	for _, prompts := range [][][]int{{ids(3, 13)}, {ids(3, 13), ids(8, 13), ids(2, 5)}} {
		g := must(generate.NewBatch(m, len(prompts), c))
		texts := func(fail func()) (all [][]int) {
			g.Reset()
			require.NoError(t, g.Prompt(ctx, prompts))
			for i := range 20 {
				if i > 0 { // the first tokens are drawn without reading
					fail()
				}
				all = append(all, must(g.Next(ctx)))
			}
			return all
		}
		want := texts(func() {})
		more := make([][]int, len(prompts))
		more[0] = ids(30, 13)
		more[len(more)/2] = ids(40, 13)
		for left := 5; left < 60; left += 10 {
			require.Equal(t, want, texts(func() {
				fail := func() context.Context { return &countdown{Context: ctx, left: left} }
				require.ErrorIs(t, failed(g.Next(fail())), context.DeadlineExceeded)
				require.ErrorIs(t, g.Prompt(fail(), more), context.DeadlineExceeded)
			}))
		}
	}
}

// The most likely tokens under a repetition penalty follow its definition, applied to the scores of the whole text
// (prompt and drawn tokens), in each text of a batch, and again after Reset.
func TestRepetitionPenalty(t *testing.T) {
	p, m := small(t, tensor.Float64, config)
	c := generate.Config{RepetitionPenalty: 1.9}
	naive := func(text []int) []int {
		for range 12 {
			row := scores(t, p, m, text)[len(text)-1]
			best := 0
			for id := range row {
				if slices.Contains(text, id) {
					row[id] = min(row[id]*1.9, row[id]/1.9)
				}
				if row[id] > row[best] {
					best = id
				}
			}
			text = append(text, best)
		}
		return text
	}
	first, second := naive(ids(4, 13)), naive(ids(3, 5))
	g := must(generate.New(m, c))
	several := must(generate.NewBatch(m, 2, c))
	for range 2 {
		require.NoError(t, g.Prompt(ctx, first[:4]))
		require.ErrorContains(t, g.Prompt(ctx, []int{5, 99}), "got id 99") // changes nothing
		require.Equal(t, first[4:], draw(t, g, 12))
		require.NoError(t, several.Prompt(ctx, [][]int{first[:4], second[:3]}))
		for i := range 12 {
			require.Equal(t, []int{first[4+i], second[3+i]}, must(several.Next(ctx)))
		}
		g.Reset()
		several.Reset()
	}
	plain := must(generate.New(m, generate.Config{}))
	require.NoError(t, plain.Prompt(ctx, first[:4]))
	require.NotEqual(t, first[4:], draw(t, plain, 12))
}

func TestBatchRefuses(t *testing.T) {
	_, m := small(t, tensor.Float32, config)
	g := must(generate.NewBatch(m, 2, generate.Config{Capacity: 4}))
	_, err := g.Next(ctx)
	require.EqualError(t, err, "generate: got no prompt, want at least one token")
	for _, row := range []struct {
		prompts [][]int
		wantErr string
	}{
		{prompts: [][]int{{1}}, wantErr: "generate: prompts: got 1, want 2, one for each text"},
		{prompts: [][]int{{1}, {}}, wantErr: "generate: text 1: prompt: got no token, want at least one"},
		{prompts: [][]int{{1}, {2, -1}}, wantErr: "generate: text 1: prompt: got id -1 at position 1, want 0 to "},
		{prompts: [][]int{{1}, ids(5, 13)}, wantErr: "text 1: the context is full: got 5 tokens, want at most 4"},
	} {
		require.ErrorContains(t, g.Prompt(ctx, row.prompts), row.wantErr)
	}
	require.Nil(t, g.Logits(2))
	require.NoError(t, g.Prompt(ctx, [][]int{{1, 2, 3}, {4}}))
	for range 2 {
		must(g.Next(ctx))
	}
	_, err = g.Next(ctx)
	require.ErrorIs(t, err, generate.ErrFull)
	require.Positive(t, g.Memory().Cache)
}

// A generator's text is a batch of one, with a cache and without: it draws the same tokens until it is stopped.
func TestBatchOfAGenerator(t *testing.T) {
	_, m := small(t, tensor.Float32, config)
	c := generate.Config{Temperature: 1, Seed: 3}
	generators := func() []*generate.Generator {
		return []*generate.Generator{must(generate.New(m, c)), must(generate.NewWithoutCache(m, 13, c))}
	}
	for i, g := range generators() {
		require.NoError(t, g.Prompt(ctx, []int{1, 2}))
		b := generators()[i].Batch()
		require.EqualError(t, b.Prompt(ctx, nil), "generate: prompts: got 0, want 1, one for each text")
		require.NoError(t, b.Prompt(ctx, [][]int{{1, 2}}))
		for _, id := range draw(t, g, 3) {
			require.Equal(t, []int{id}, must(b.Next(ctx)))
		}
		b.Stop(0)
		require.Equal(t, []int{-1}, must(b.Next(ctx)))
		require.Equal(t, g.Memory(), b.Memory())
	}
}

// BenchmarkBatch times a token of each of several texts of GPT-2 small, in turns with a sweep that reads as much memory
// as there are weights: one more text costs little.
func BenchmarkBatch(b *testing.B) {
	m := benchGPT2(b)
	memory := benchNumbers(m.Params().Count())
	for _, n := range []int{1, 2, 4, 8, 16} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			g := must(generate.NewBatch(m, n, generate.Config{Capacity: 128}))
			prompts := make([][]int, n)
			for i := range prompts {
				prompts[i] = ids(10, 50257)
			}
			var steps, sweeps []float64
			for b.Loop() {
				g.Reset()
				require.NoError(b, g.Prompt(ctx, prompts))
				must(g.Next(ctx))
				for range 20 {
					steps = append(steps, seconds(func() { must(g.Next(ctx)) }))
					sweeps = append(sweeps, seconds(func() { readAll(memory) }))
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(1e3*median(steps), "ms/step")
			b.ReportMetric(float64(n)/median(steps), "tokens/s")
			b.ReportMetric(median(sweeps)/median(steps), "of-reading")
		})
	}
}

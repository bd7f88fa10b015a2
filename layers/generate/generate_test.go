package generate_test

import (
	"context"
	"math"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/layers"
	"attention/layers/generate"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

var ctx = context.Background()

// small is a GPT whose scores depend on all earlier tokens.
func small(t testing.TB, dt tensor.Dtype, c layers.GPTConfig) (*layers.Params, *layers.Decoder) {
	p := layers.NewParams(dt, 11)
	m := must(layers.NewGPT(p.Scope(""), c))
	for _, v := range p.All() {
		require.NoError(t, tensor.Copy(v, must(v.MulScalar(scalar(dt, 6), true))))
	}
	return p, m
}

func scalar(dt tensor.Dtype, v float64) any {
	if dt == tensor.Float32 {
		return float32(v)
	}
	return v
}

// failed is the error of a call.
func failed[V any](_ V, err error) error { return err }

// must checks the error of a call that a test needs but does not test.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

var config = layers.GPTConfig{VocabSize: 13, ContextLength: 601, EmbedDim: 12, NumLayers: 2, NumHeads: 3,
	Activation: "gelu_new", TieWordEmbeddings: true, Bias: true}

// scores are the logits (T, V) of a whole text at once.
func scores(t testing.TB, p *layers.Params, m *layers.Decoder, text []int) [][]float64 {
	return scoresIn(t, graph.FullPrecision, p, m, text)
}

// scoresIn are the logits (T, V) of a whole text at once, in a precision.
func scoresIn(t testing.TB, precision graph.Precision, p *layers.Params, m *layers.Decoder, text []int) [][]float64 {
	b := layers.NewBuild(p, layers.Eval)
	b.SetPrecision(precision)
	ids := b.InputOf(tensor.Int, "ids", len(text))
	require.NoError(t, b.Err())
	logits := must(m.Forward(b, ids))
	vm := must(machine.New(logits))
	require.NoError(t, G.Let(ids, tensor.New(tensor.WithShape(len(text)), tensor.WithBacking(append([]int{}, text...)))))
	require.NoError(t, vm.RunAll())
	rows := make([][]float64, len(text))
	vocab := logits.Shape()[1]
	for i := range rows {
		for j := range vocab {
			v := must(logits.Value().(*tensor.Dense).At(i, j))
			if f, ok := v.(float32); ok {
				v = float64(f)
			}
			rows[i] = append(rows[i], v.(float64))
		}
	}
	return rows
}

// ids is some text of n tokens.
func ids(n, vocab int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i * i % vocab
	}
	return all
}

func draw(t testing.TB, g *generate.Generator, n int) []int {
	var all []int
	for range n {
		all = append(all, must(g.Next(ctx)))
	}
	return all
}

// In chunks and token by token, a generator has the scores of a pass over the whole text.
func TestScoresAreThoseOfTheWholeText(t *testing.T) {
	for dt, tol := range map[tensor.Dtype]float64{tensor.Float64: 1e-12, tensor.Float32: 2e-5} {
		p, m := small(t, dt, config)
		g := must(generate.New(m, generate.Config{Temperature: 1, Seed: 5}))
		text := ids(555, 13) // chunks of 256, 256, 43
		require.NoError(t, g.Prompt(ctx, text))
		type moment struct {
			length int
			logits []float64
		}
		var seen []moment
		look := func() { seen = append(seen, moment{len(text), append([]float64{}, g.Logits()...)}) }
		look()
		for range 5 {
			id := must(g.Next(ctx))
			look()
			text = append(text, id)
		}
		require.NoError(t, g.Prompt(ctx, ids(6, 7))) // after the last drawn one: 7 tokens to read
		text = append(text, ids(6, 7)...)
		look()
		text = append(text, draw(t, g, 1)...)
		look()
		seen = seen[:len(seen)-1] // of no token read since
		whole := scores(t, p, m, text)
		for _, s := range seen {
			require.InDeltaSlice(t, whole[s.length-1], s.logits, tol, "after %d tokens", s.length)
		}
		require.Greater(t, spread(whole), 0.1, "scores that hardly differ prove nothing")
	}
}

// spread returns the smallest distance between two neighbouring rows.
func spread(rows [][]float64) float64 {
	least := math.Inf(1)
	for i := range len(rows) - 1 {
		most := 0.0
		for j, v := range rows[i] {
			most = max(most, math.Abs(v-rows[i+1][j]))
		}
		least = min(least, most)
	}
	return least
}

// Without a cache the same tokens are drawn, and the text may continue further.
func TestWithoutCache(t *testing.T) {
	c := config
	c.ContextLength = 17
	p, m := small(t, tensor.Float64, c)
	sampling := generate.Config{Temperature: 1, Seed: 5}
	cached := must(generate.New(m, sampling))
	g := must(generate.NewWithoutCache(m, c.ContextLength, sampling))
	require.NoError(t, cached.Prompt(ctx, ids(5, 13)))
	require.NoError(t, g.Prompt(ctx, ids(5, 13)))
	text := draw(t, cached, 17-5+1)
	require.Equal(t, text, draw(t, g, len(text)))
	_, err := cached.Next(ctx)
	require.ErrorIs(t, err, generate.ErrFull)

	more := draw(t, g, 3)
	window := append(append(ids(5, 13), text...), more[:2]...)
	require.InDeltaSlice(t, scores(t, p, m, window[len(window)-17:])[16], g.Logits(), 1e-12)
	require.Zero(t, g.Memory().Cache)
	require.Positive(t, g.Memory().Graphs)

	require.NoError(t, g.Prompt(ctx, ids(100, 13)))
	require.InDeltaSlice(t, scores(t, p, m, ids(100, 13)[83:])[16], g.Logits(), 1e-12)
	g.Reset()
	require.NoError(t, g.Prompt(ctx, ids(5, 13)))
	require.Equal(t, text, draw(t, g, len(text)))
}

// For any number of prompts, the graphs need no more memory than the graph for the longest chunk.
func TestGraphsShareMemory(t *testing.T) {
	p, m := small(t, tensor.Float32, config)
	g := must(generate.New(m, generate.Config{}))
	require.NoError(t, g.Prompt(ctx, ids(512, 13)))
	most := g.Memory()
	require.Equal(t, p.Count()*4, most.Weights)
	require.Equal(t, 2*2*601*12*4, most.Cache)
	require.Positive(t, most.Graphs)
	for n := 1; n < 600; n += 23 {
		g.Reset()
		require.NoError(t, g.Prompt(ctx, ids(n, 13)))
		draw(t, g, 2)
	}
	require.Equal(t, most, g.Memory())
}

// Equal seeds give equal texts, whatever was generated before.
func TestSeeds(t *testing.T) {
	_, m := small(t, tensor.Float32, config)
	text := func(seed int64) []int {
		g := must(generate.New(m, generate.Config{Temperature: 1, Seed: seed, Capacity: 60}))
		require.NoError(t, g.Prompt(ctx, ids(7, 13)))
		first := draw(t, g, 40)
		g.Reset()
		require.Nil(t, g.Logits())
		require.NoError(t, g.Prompt(ctx, ids(7, 13)))
		require.Equal(t, first, draw(t, g, 40))
		return first
	}
	require.Equal(t, text(1), text(1))
	require.NotEqual(t, text(1), text(2))
}

// echo is a model whose logits are the ids.
type echo struct{ params *layers.Params }

func (e echo) Params() *layers.Params                                { return e.params }
func (e echo) Forward(_ *layers.Build, ids *G.Node) (*G.Node, error) { return ids, nil }

func TestNewRefuses(t *testing.T) {
	p, m := small(t, tensor.Float32, config)
	for _, row := range []struct {
		err  error
		want string
	}{
		{failed(generate.New(m, generate.Config{Capacity: 602})), "Capacity: got 602, want 0 to ContextLength=601"},
		{failed(generate.New(m, generate.Config{VocabSize: 14})), "VocabSize: got 14, want 0 to the model's 13"},
		{failed(generate.New(nil, generate.Config{})), "model: got nil, want a decoder"},
		{failed(generate.NewWithoutCache(m, 7, generate.Config{Capacity: 3})), "Capacity: got 3, want 0 without a cache"},
		{failed(generate.NewWithoutCache(m, 602, generate.Config{})),
			"layers: func of ids int (602), rows int (1), start int (): " +
				"layers: GPT: ids: shape (602), want ([B,] T <= ContextLength=601)"},
		{failed(generate.NewWithoutCache(m, 0, generate.Config{})), "context: got 0, want at least 1"},
		{failed(generate.NewWithoutCache(echo{p}, 7, generate.Config{})),
			"layers: func of ids int (7), rows int (1), start int (): forward: logits: shape (7), want (T=7, V)"},
		{failed(generate.NewBatch(m, 0, generate.Config{})), "texts: got 0, want at least 1"},
		{failed(generate.NewBatch(nil, 1, generate.Config{})), "model: got nil, want a decoder"},
		{failed(generate.NewBatch(m, 1, generate.Config{Capacity: -1})), "Capacity: got -1, want 0 to ContextLength=601"},
	} {
		require.EqualError(t, row.err, "generate: "+row.want)
	}
}

// Non-finite weights are detected in the scores.
func TestScoresThatAreNoNumbers(t *testing.T) {
	p, m := small(t, tensor.Float32, config)
	bias, ok := p.Get("transformer.ln_f.bias")
	require.True(t, ok)
	bias.Float32s()[0] = float32(math.NaN())
	g := must(generate.New(m, generate.Config{}))
	require.NoError(t, g.Prompt(ctx, []int{1}))
	_, err := g.Next(ctx)
	require.EqualError(t, err, "generate: logits: got NaN for id 0, want numbers: are the weights finite?")
}

// TestPrecision: a model in bfloat16 has the scores of its Forward in bfloat16, with and without a cache; they differ
// from those in float32.
func TestPrecision(t *testing.T) {
	t.Setenv("ATTENTION_BF16", "emulated")
	p, m := small(t, tensor.Float32, config)
	text := ids(9, 13)
	generators := map[string]func(c generate.Config) (*generate.Generator, error){
		"cache":    func(c generate.Config) (*generate.Generator, error) { return generate.New(m, c) },
		"no cache": func(c generate.Config) (*generate.Generator, error) { return generate.NewWithoutCache(m, 9, c) },
	}
	full, want := scores(t, p, m, text)[8], scoresIn(t, graph.BFloat16, p, m, text)[8]
	for name, make := range generators {
		g := must(make(generate.Config{Precision: graph.BFloat16}))
		require.NoError(t, g.Prompt(ctx, text))
		require.Equal(t, want, g.Logits(), name)
		require.NotEqual(t, full, g.Logits(), name)
	}
	_, err := generate.NewBatch(m, 2, generate.Config{Precision: 5})
	require.ErrorContains(t, err, "precision: got Precision(5)")
	_, double := small(t, tensor.Float64, config)
	_, err = generate.New(double, generate.Config{Precision: graph.BFloat16})
	require.ErrorContains(t, err, "precision: got bf16 of float64, want it of float32")
}

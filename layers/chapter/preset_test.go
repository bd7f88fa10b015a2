package chapter_test

import (
	"testing"

	"attention/internal/golden"
	"attention/layers"
	"attention/layers/chapter"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// whole is an Attention of a sequence to itself.
type whole struct{ *layers.Attention }

func (l whole) Weights(b *layers.Build, x *G.Node) (*G.Node, error) {
	return l.Attention.Weights(b, layers.AttentionInput{Query: x})
}

func bothVersions(t *testing.T, p *layers.Params, in, out int, bias bool) (v1, v2 whole) {
	t.Helper()
	l1 := must(layers.NewAttention(p.Scope("v1"), chapter.SelfV1(in, out)))
	c := chapter.SelfV2(in, out)
	c.QKVBias = bias
	return whole{l1}, whole{must(layers.NewAttention(p.Scope("v2"), c))}
}

// state returns the layer's parameters as SelfV2's.
func state(t *testing.T, l whole) map[string]*tensor.Dense {
	t.Helper()
	return must(l.State(layers.Book))
}

// withoutBiases adds biases of zeros to a state.
func withoutBiases(state map[string]*tensor.Dense, out int) map[string]*tensor.Dense {
	for _, name := range []string{"W_query.bias", "W_key.bias", "W_value.bias"} {
		state[name] = tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(out))
	}
	return state
}

// The chapter's exercise 3.1, both ways: with the other's weights, transposed, a
// layer computes the other's output.
func TestWeightsGoFromOneVersionToTheOther(t *testing.T) {
	for _, size := range [][2]int{{3, 2}, {3, 7}, {1, 1}, {1, 3}, {3, 1}, {5, 5}} {
		for _, bias := range []bool{false, true} {
			p := layers.NewParams(tensor.Float64, 1)
			v1, v2 := bothVersions(t, p, size[0], size[1], bias)
			x := golden.Numbers(tensor.Float64, 6, size[0])
			want, _ := apply(t, p, v1, x)
			before, _ := apply(t, p, v2, x)
			require.NotEqual(t, want, before)
			weights := state(t, v1)
			if bias {
				weights = withoutBiases(weights, size[1])
			}
			require.NoError(t, v2.SetState(layers.Book, weights))
			got, _ := apply(t, p, v2, x)
			require.InDeltaSlice(t, want, got, 1e-15, "v1 to v2, %v", size)
			again, _ := apply(t, p, v1, x)
			require.Equal(t, want, again, "v1 is as it was")
		}
		p := layers.NewParams(tensor.Float64, 2)
		v1, v2 := bothVersions(t, p, size[0], size[1], false)
		x := golden.Numbers(tensor.Float64, 6, size[0])
		want, _ := apply(t, p, v2, x)
		require.NoError(t, v1.SetState(layers.Book, state(t, v2)))
		got, _ := apply(t, p, v1, x)
		require.InDeltaSlice(t, want, got, 1e-15, "v2 to v1, %v", size)
	}
}

// The weights are copies: what happens to the one layer later is not seen in the
// other. They may come from another set of parameters.
func TestTransferredWeightsAreCopies(t *testing.T) {
	p, q := layers.NewParams(tensor.Float64, 1), layers.NewParams(tensor.Float64, 2)
	v1, _ := bothVersions(t, p, 3, 2, false)
	_, v2 := bothVersions(t, q, 3, 2, false)
	require.NoError(t, v1.SetState(layers.Book, state(t, v2)))
	x := golden.Numbers(tensor.Float64, 4, 3)
	want, _ := apply(t, p, v1, x)
	for _, v := range q.All() {
		v.Zero()
	}
	got, _ := apply(t, p, v1, x)
	require.Equal(t, want, got)
}

func TestWrongTransfersAreRefusedWhole(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	v1, v2 := bothVersions(t, p, 3, 2, true)
	narrow, _ := bothVersions(t, layers.NewParams(tensor.Float64, 2), 2, 2, false)
	single, _ := bothVersions(t, layers.NewParams(tensor.Float32, 2), 3, 2, false)
	var before [][]float64
	for _, v := range p.All() {
		before = append(before, golden.Floats(t, v))
	}
	for _, c := range []struct {
		name   string
		to     whole
		state  map[string]*tensor.Dense
		naming string
	}{
		{name: "v1 has no biases", to: v1, state: state(t, v2), naming: "unknown W_key.bias"},
		{name: "v2 has biases", to: v2, state: state(t, v1), naming: "missing W_query.bias, W_key.bias, W_value.bias"},
		{name: "other sizes", to: v2, state: withoutBiases(state(t, narrow), 2), naming: "W_key.weight is float64 (2, 2)"},
		{name: "another type", to: v2, state: withoutBiases(state(t, single), 2), naming: "W_key.weight is float32 (2, 3)"},
	} {
		require.ErrorContains(t, c.to.SetState(layers.Book, c.state), c.naming, c.name)
	}
	i := 0
	for name, v := range p.All() {
		require.Equal(t, before[i], golden.Floats(t, v), "%s was changed", name)
		i++
	}
}

// Each class computes the same of one op for each step.
func TestComposed(t *testing.T) {
	for _, s := range chapter.Sections() {
		c := s.Layer()
		if c.Layer == "" || len(s.Words) == 0 {
			continue
		}
		p := layers.NewParams(tensor.Float64, 5)
		l := must(chapter.New(p.Scope(""), c))
		x := p.Draw(layers.Normal(0, 1), 6, 3)
		run := func(patterns ...string) []float64 {
			b := layers.NewBuild(p, layers.Eval)
			b.Compose(patterns...)
			out := b.Of(l.Forward(b, input(t, b, "x", x)))
			require.NoError(t, b.Err())
			return values(t, out)[0]
		}
		require.InDeltaSlice(t, run(), run("*"), 1e-12, c.Layer)
	}
}

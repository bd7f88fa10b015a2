package layers_test

import (
	"testing"

	"attention/internal/golden"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// some makes parameters a, b.c and b.d.
func some(t *testing.T, dt tensor.Dtype) (p *layers.Params, a, c, d layers.Param) {
	t.Helper()
	p = layers.NewParams(dt, 1)
	a = must(p.Scope("").Param("a", layers.Constant(1), 2, 3))
	c = must(p.Scope("b").Param("c", layers.Constant(2), 5))
	d = must(p.Scope("").Sub("b").Param("d", layers.Constant(3), 1, 1, 7))
	return p, a, c, d
}

func TestParamsAreOrderedAndCounted(t *testing.T) {
	p, a, c, d := some(t, tensor.Float32)
	require.Equal(t, []string{"a", "b.c", "b.d"}, names(p))
	for i, param := range []layers.Param{a, c, d} {
		v, ok := p.Get(names(p)[i])
		require.True(t, ok)
		require.Same(t, param.Value(), v)
	}
	require.Equal(t, 3, p.Len())
	require.Equal(t, 6+5+7, p.Count())
	require.Equal(t, tensor.Float32, p.Dtype())
	v, ok := p.Get("b.c")
	require.True(t, ok)
	require.Same(t, c.Value(), v)
	_, ok = p.Get("c")
	require.False(t, ok)
	for range p.All() {
		break // an early end is fine
	}
	require.Nil(t, layers.Param{}.Value())
}

func TestScopes(t *testing.T) {
	p := layers.NewParams(tensor.Float32, 1)
	for name, s := range map[string]layers.Scope{
		"w":     p.Scope(""),
		"x.w":   p.Scope("x"),
		"x.y.w": p.Scope("x").Sub("y"),
		"y.w":   p.Scope("").Sub("y"),
		"y.z.w": p.Scope("y.z"),
	} {
		w := must(s.Param("w", layers.Init{}, 1))
		v, ok := p.Get(name)
		require.True(t, ok, name)
		require.Same(t, w.Value(), v)
		require.Same(t, p, s.Params())
	}
}

func TestWrongParamsAreRefused(t *testing.T) {
	p, _, _, _ := some(t, tensor.Float64)
	for _, c := range []struct {
		name    string
		shape   []int
		wantErr string
	}{
		{name: "a", shape: []int{2, 3}, wantErr: `layers: parameter "a" is there already`},
		{name: "b.c", shape: []int{1}, wantErr: `layers: parameter "b.c" is there already`},
		{name: "zero", shape: []int{2, 0}, wantErr: "layers: zero: shape (2, 0), want one axis or more, each at least 1"},
		{name: "negative", shape: []int{-1}, wantErr: "layers: negative: shape (-1), want one axis or more, each at least 1"},
		{name: "scalar", wantErr: "layers: scalar: shape (), want one axis or more, each at least 1"},
	} {
		w, err := p.Scope("").Param(c.name, layers.Init{}, c.shape...)
		require.EqualError(t, err, c.wantErr)
		require.Nil(t, w.Value())
	}
	require.Equal(t, 3, p.Len())
	_, err := layers.NewParams(tensor.Int, 1).Scope("").Param("w", layers.Init{}, 1)
	require.EqualError(t, err, "layers: parameters: got int, want float32 or float64")
	// One layer twice at one place.
	must(layers.NewLinear(p.Scope("l"), layers.LinearConfig{InFeatures: 1, OutFeatures: 1}))
	_, err = layers.NewLinear(p.Scope("l"), layers.LinearConfig{InFeatures: 1, OutFeatures: 1})
	require.EqualError(t, err, `layers: parameter "l.weight" is there already`)
}

func TestSetCopies(t *testing.T) {
	for _, p := range torchTypes {
		params, a, _, _ := some(t, p.dt)
		before := a.Value()
		v := golden.Numbers(p.dt, 2, 3)
		require.NoError(t, params.Set("a", v))
		require.Same(t, before, a.Value(), "in place")
		require.Equal(t, v.Data(), a.Value().Data())
		want := golden.Floats(t, v)
		v.Zero()
		require.Equal(t, want, golden.Floats(t, a.Value()), "a copy")
	}
}

// A tensor whose elements lie in another order is copied by its indices.
func TestSetCopiesViews(t *testing.T) {
	p, a, _, _ := some(t, tensor.Float64)
	transposed := golden.Dense(tensor.Float64, []float64{1, 4, 2, 5, 3, 6}, 3, 2)
	require.NoError(t, transposed.T())
	wide := golden.Dense(tensor.Float64, []float64{0, 1, 2, 3, 0, 4, 5, 6}, 2, 4)
	for _, v := range []*tensor.Dense{transposed, must(wide.Slice(nil, G.S(1, 4))).(*tensor.Dense)} {
		require.NoError(t, p.Set("a", golden.Dense(tensor.Float64, make([]float64, 6), 2, 3)))
		require.NoError(t, p.Set("a", v))
		require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, a.Value().Data())
	}
	columns := tensor.New(tensor.WithShape(2, 3), tensor.AsFortran([]float64{6, 5, 4, 3, 2, 1}))
	require.EqualError(t, p.Set("a", columns), "layers: a: got a tensor in column-major order, want row-major")
	require.Equal(t, []float64{1, 2, 3, 4, 5, 6}, a.Value().Data())
}

func TestWrongValuesAreRefused(t *testing.T) {
	p, a, _, _ := some(t, tensor.Float64)
	for _, c := range []struct {
		name    string
		v       *tensor.Dense
		wantErr string
	}{
		{name: "z", v: golden.Numbers(tensor.Float64, 2, 3), wantErr: `layers: parameter "z": unknown; there are [a b.c b.d]`},
		{name: "a", wantErr: "layers: a: got nil, want a tensor"},
		{name: "a", v: golden.Numbers(tensor.Float64, 3, 2), wantErr: "layers: a: shape (3, 2), want (2, 3)"},
		{name: "a", v: golden.Numbers(tensor.Float64, 6), wantErr: "layers: a: shape (6), want (2, 3)"},
		{name: "b.c", v: golden.Numbers(tensor.Float64, 5, 1), wantErr: "layers: b.c: shape (5, 1), want (5)"},
		{name: "a", v: golden.Numbers(tensor.Float32, 2, 3), wantErr: "layers: a: got float32, want float64"},
	} {
		require.EqualError(t, p.Set(c.name, c.v), c.wantErr)
	}
	require.Equal(t, []float64{1, 1, 1, 1, 1, 1}, a.Value().Data(), "nothing was changed")
}

// Blank parameters are those of the others, but 0, and draw nothing.
func TestBlankParams(t *testing.T) {
	c := layers.GPTConfig{VocabSize: 5, ContextLength: 7, EmbedDim: 6, NumLayers: 2, NumHeads: 3, Activation: "gelu_new",
		TieWordEmbeddings: true, Bias: true}
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		drawn, blank := layers.NewParams(dt, 1), layers.NewBlankParams(dt)
		must(layers.NewGPT(drawn.Scope(""), c))
		must(layers.NewGPT(blank.Scope(""), c))
		require.Equal(t, names(drawn), names(blank))
		for name, v := range blank.All() {
			like, _ := drawn.Get(name)
			require.Equal(t, tensor.New(tensor.Of(dt), tensor.WithShape(like.Shape()...)).Data(), v.Data(), name)
		}
	}
}

package layers_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/mask"
	"attention/layers"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A thousand calls with lengths from 1 to 200 build at most eight graphs, and give the results of exact shapes.
func TestBucketsNeedFewGraphs(t *testing.T) {
	for _, c := range []struct {
		dt        tensor.Dtype
		tolerance float64
	}{{tensor.Float32, 1e-6}, {tensor.Float64, 1e-13}} {
		m := newTagger(t, c.dt)
		f := must(layers.NewFunc(m.params, m.formula, layers.FuncConfig{Buckets: []layers.Bucket{
			{Sizes: []int{10, 20, 40, 60, 80, 120, 160, 200}, Inputs: map[string]int{"ids": 1},
				Outputs: map[int]int{0: 1, 2: 1}, Lengths: "lengths"}}}))
		exact := must(layers.NewFunc(m.params, m.nodes, layers.FuncConfig{}))
		calls := 1000
		if testing.Short() || c.dt == tensor.Float64 {
			calls = 100
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range calls {
			v := layers.Values{"ids": someIDs(tensor.Int, 2, 1+random.IntN(200))}
			got := must(f.Call(t.Context(), v))
			want := must(exact.Call(t.Context(), v))
			for _, k := range []int{0, 2} { // the sum, output 1, counts padding
				requireClose(t, want[k], got[k], c.tolerance)
			}
		}
		require.Len(t, m.built, 8)
	}
}

func requireClose(t *testing.T, want, got *tensor.Dense, tolerance float64) {
	t.Helper()
	require.Equal(t, want.Shape(), got.Shape())
	require.InDeltaSlice(t, want.Data(), got.Data(), tolerance)
}

// Several axes are padded together, for values of any type and layout; the padding is zero; the lengths have the axes
// before the padded one; each result is cut where a bucket names it.
func TestBucketsPadAndCut(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	f := must(layers.NewFunc(p, func(b *layers.Build, in layers.Inputs) []*G.Node {
		return []*G.Node{in["x"], in["x"], in["keep"], in["ids"], in["T"], in["B"], in["y"],
			b.Of(graph.MaskedMean(in["x"], mask.KeyLengths{Lengths: in["T"]}))}
	}, layers.FuncConfig{Buckets: []layers.Bucket{
		{Sizes: []int{2, 4}, Inputs: map[string]int{"x": 0, "ids": 0}, Outputs: map[int]int{0: 0, 7: 0}, Lengths: "B"},
		{Sizes: []int{3, 5}, Inputs: map[string]int{"x": 1, "keep": 2, "ids": 1}, Outputs: map[int]int{0: 1}, Lengths: "T"},
	}}))
	x := of([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 4, 1)
	columns := of([]int{1, 5, 9, 2, 6, 10, 3, 7, 11, 4, 8, 12}, 4, 3)
	require.NoError(t, columns.T())
	v := layers.Values{"x": x, "ids": columns, "y": tensor.New(tensor.WithBacking([]float64{1, 2})),
		"keep": of([]bool{true, true, true, true, false, true, true, true}, 1, 2, 4)}
	y, shapes := must(f.Call(t.Context(), v)), must(f.Prepare(v))
	for i, want := range []string{
		"(3, 4, 1) [1 2 3 4 5 6 7 8 9 10 11 12]",
		"(4, 5, 1) [1 2 3 4 0 5 6 7 8 0 9 10 11 12 0 0 0 0 0 0]",
		"(1, 2, 5) [true true true true false false true true true false]",
		"(4, 5) [1 2 3 4 0 5 6 7 8 0 9 10 11 12 0 0 0 0 0 0]",
		"(4) [4 4 4 4]",
		"() 3",
		"(2) [1 2]",
		"(3, 1) [2.5 6.5 10.5]",
	} {
		require.Equal(t, want, fmt.Sprint(y[i].Shape(), y[i].Data()), "result %d", i)
		require.Equal(t, y[i].Shape(), shapes[i], "result %d", i)
	}
	require.Equal(t, tensor.Shape{3, 4, 1}, x.Shape(), "the values stay as they are")

	// After a longer text, a shorter one in the same graph has padding of zeros again.
	y = must(f.Call(t.Context(), layers.Values{"x": part(x, 2, 2, 1), "ids": someIDs(tensor.Int, 2, 2), "y": v["y"],
		"keep": of([]bool{true, true, true, true}, 1, 2, 2)}))
	require.Equal(t, "(2, 3, 1) [1 2 0 3 4 0]", fmt.Sprint(y[1].Shape(), y[1].Data()))
}

// part returns the first elements of a tensor in a shape.
func part(d *tensor.Dense, shape ...int) *tensor.Dense {
	return of(d.Float64s()[:tensor.Shape(shape).TotalSize()], shape...)
}

func TestWrongBucketsAreRefused(t *testing.T) {
	p := layers.NewParams(tensor.Float64, 1)
	formula := func(b *layers.Build, in layers.Inputs) []*G.Node { return []*G.Node{in["x"]} }
	axis := map[string]int{"x": 1}
	for _, c := range []struct {
		bucket layers.Bucket
		want   string
	}{
		{layers.Bucket{Inputs: axis}, "Sizes: got [], want one or more in ascending order, each at least 1"},
		{layers.Bucket{Sizes: []int{0, 2}, Inputs: axis}, "Sizes: got [0 2], want one or more"},
		{layers.Bucket{Sizes: []int{4, 2}, Inputs: axis}, "Sizes: got [4 2], want one or more"},
		{layers.Bucket{Sizes: []int{4}}, "Inputs: got map[], want the names of one input or more, and axes >= 0"},
		{layers.Bucket{Sizes: []int{4}, Inputs: map[string]int{"x": -1}}, "Inputs: got map[x:-1]"},
		{layers.Bucket{Sizes: []int{4}, Inputs: axis, Outputs: map[int]int{0: -1}}, "Outputs: got map[0:-1]"},
	} {
		_, err := layers.NewFunc(p, formula, layers.FuncConfig{Buckets: []layers.Bucket{c.bucket}})
		require.ErrorContains(t, err, "layers: func: Buckets[0]."+c.want)
	}
	floats := func(shape ...int) *tensor.Dense {
		return tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(shape...))
	}
	for _, c := range []struct {
		values layers.Values
		cut    int
		want   string
	}{
		{values: layers.Values{"x": floats(2, 9), "y": floats(9)},
			want: "x float64 (2, 9), y float64 (9): x: got 9 elements on axis 1, want at most 8, the largest size of its bucket"},
		{values: layers.Values{"x": floats(2, 4), "y": floats(3)}, want: "y: got 3 elements on axis 0, want 4 as on axis 1 of x"},
		{values: layers.Values{"x": floats(2, 4)}, want: "y: got nil, want a tensor with axis 0, which is padded"},
		{values: layers.Values{"x": floats(2), "y": floats(2)}, want: "x: got float64 (2), want a tensor with axis 1"},
		{values: layers.Values{"x": floats(2, 4), "y": floats(4), "n": floats(1)},
			want: "n: got a value, want none: it is the name of lengths"},
		{values: layers.Values{"x": floats(2, 4), "y": floats(4)}, cut: 2,
			want: "output 0: shape (2, 5), want at least 4 elements on axis 2, which is cut"},
	} {
		f := must(layers.NewFunc(p, formula, layers.FuncConfig{Buckets: []layers.Bucket{{Sizes: []int{5, 8},
			Inputs: map[string]int{"x": 1, "y": 0}, Outputs: map[int]int{0: c.cut}, Lengths: "n"}}}))
		_, err := f.Call(t.Context(), c.values)
		require.ErrorContains(t, err, "layers: func of ")
		require.ErrorContains(t, err, c.want)
		_, err = f.Prepare(c.values)
		require.ErrorContains(t, err, c.want)
	}
}

package graph_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"attention/graph"
	"attention/graph/machine"
	"attention/internal/testenv"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// transposed returns a tensor of the array's elements whose memory has the axes in the opposite order: a transposition
// that tensor has not carried out yet.
func transposed(t *testing.T, a array, dt tensor.Dtype) *tensor.Dense {
	t.Helper()
	reversed := slices.Clone(a.shape)
	slices.Reverse(reversed)
	b := zeros(reversed...)
	index := make([]int, len(a.shape))
	for i, v := range a.v {
		rest := i
		for k := len(a.shape) - 1; k >= 0; k-- {
			index[len(a.shape)-1-k], rest = rest%a.shape[k], rest/a.shape[k]
		}
		b.v[b.i(index...)] = v
	}
	d := b.dense(dt)
	require.NoError(t, d.T())
	require.True(t, d.RequiresIterator())
	require.Equal(t, a.shape, []int(d.Shape()))
	return d
}

// sliced returns a view of the array's elements inside a wider tensor of other numbers.
func sliced(t *testing.T, a array, dt tensor.Dtype) *tensor.Dense {
	t.Helper()
	cols := a.axis(-1)
	wide := a.like(cols + 2)
	for i := range wide.v {
		wide.v[i] = 5 // a valid id and a harmless number, but the wrong one
	}
	for r, to := 0, wide.rows(); r < to.shape[0]; r++ {
		copy(to.v[to.i(r, 1):], a.v[r*cols:(r+1)*cols])
	}
	cut := make([]tensor.Slice, len(a.shape))
	cut[len(cut)-1] = G.S(1, 1+cols)
	view, err := wide.dense(dt).Slice(cut...)
	require.NoError(t, err)
	require.True(t, view.RequiresIterator() || len(a.shape) == 1)
	require.Equal(t, a.shape, []int(view.Shape()))
	return view.(*tensor.Dense)
}

// below returns a view of the last rows of a taller tensor: its elements are contiguous, but do not start at the
// beginning of the memory.
func below(t *testing.T, a array, dt tensor.Dtype) *tensor.Dense {
	t.Helper()
	tall := zeros(append([]int{a.shape[0] + 1}, a.shape[1:]...)...)
	copy(tall.v[len(tall.v)-len(a.v):], a.v)
	view, err := tall.dense(dt).Slice(G.S(1, 1+a.shape[0]))
	require.NoError(t, err)
	require.Equal(t, a.shape, []int(view.Shape()))
	return view.(*tensor.Dense)
}

// The result has the same bits whatever the order of an input's elements in memory.
func TestInputsMayBeViews(t *testing.T) {
	if testenv.Race {
		t.Skip("one goroutine copies a view")
	}
	views := map[string]func(t *testing.T, a array, dt tensor.Dtype) *tensor.Dense{
		"transposed": transposed, "sliced": sliced, "below": below,
	}
	for _, c := range opCases() {
		for name, view := range views {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				in := c.in(r)
				e := express(t, c.op, in, tensor.Float64)
				e.differentiate(t, in, normal(r, e.out.Shape()...), tensor.Float64)
				want := e.onOurs(t)
				for i, x := range in {
					if n := len(x.shape); n == 0 || n == 1 && name == "transposed" || x.axis(-1) == 1 || x.shape[0] == 1 {
						continue // tensor has no such view: it drops axes of width 1
					}
					require.NoError(t, G.Let(e.in[i], view(t, x.array, e.in[i].Dtype())))
				}
				for _, got := range []result{e.onOurs(t), e.onTape(t)} {
					require.Equal(t, bits(want.out), bits(got.out))
					for i := range want.grads {
						require.Equal(t, bits(want.grads[i]), bits(got.grads[i]), "gradient %d", i)
					}
				}
			})
		}
	}
}

// A tensor in column-major order is read correctly on both machines.
func TestColumnMajorInput(t *testing.T) {
	run := func(v *tensor.Dense, machineOf func(y *G.Node) G.VM) any {
		x := G.NewMatrix(G.NewGraph(), tensor.Float64, G.WithShape(2, 3), G.WithName("x"), G.WithValue(v))
		y, err := graph.Softmax(x)
		require.NoError(t, err)
		require.NoError(t, machineOf(y).RunAll())
		return y.Value().Data()
	}
	ours := func(y *G.Node) G.VM {
		m, err := machine.New(y)
		require.NoError(t, err)
		return m
	}
	tape := func(y *G.Node) G.VM { return G.NewTapeMachine(y.Graph()) }
	columns := tensor.New(tensor.WithShape(2, 3), tensor.AsFortran(nil), tensor.Of(tensor.Float64))
	for i := range 6 {
		require.NoError(t, columns.SetAt(float64(i*i), i/3, i%3))
	}
	want := run(tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{0, 1, 4, 9, 16, 25})), tape)
	require.Equal(t, want, run(columns, ours))
	require.Equal(t, want, run(columns, tape))
}

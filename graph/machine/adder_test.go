package machine_test

import (
	"fmt"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// backwards is an op that reverses a vector and can add the result to a sum.
type backwards struct {
	overwriting
	adds  bool
	added *int // how many times it added
}

func newBackwards(size int, adds bool) backwards {
	into := func(into, x G.Value) (G.Value, error) {
		return into, turn(into, x, func(_, x float64) float64 { return x })
	}
	s := stub{fmt.Sprint("backwards ", adds), tensor.Shape{size}, tensor.Float64, nil}
	s.do = func(x G.Value) (G.Value, error) {
		return into(tensor.New(tensor.Of(tensor.Float64), tensor.WithShape(size)), x)
	}
	return backwards{overwriting{s, into}, adds, new(int)}
}

func turn(into, x G.Value, f func(old, x float64) float64) error {
	to, from := into.Data().([]float64), x.Data().([]float64)
	for i := range to {
		to[i] = f(to[i], from[len(from)-1-i])
	}
	return nil
}

func (b backwards) Adds() bool { return b.adds }

func (b backwards) AddTo(sum G.Value, in ...G.Value) error {
	*b.added++
	return turn(sum, in[0], func(old, x float64) float64 { return old + x })
}

var _ machine.Adder = backwards{}

// An op adds to a sum if only the sum reads the op's result; the values are those of the sum.
func TestAdditions(t *testing.T) {
	type nodes struct{ x, doubled, turned *G.Node } // x is 1 2 3, doubled 2 4 6, reversed 3 2 1
	for _, c := range []struct {
		reason string
		never  bool // Adds is false
		wanted func(n nodes) G.Nodes
		want   [][]float64
		added  int
	}{
		{reason: "to a value that nothing else reads", added: 1,
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.doubled, n.turned))} },
			want:   [][]float64{{5, 6, 7}}},
		{reason: "the other way round", added: 1,
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.turned, n.doubled))} },
			want:   [][]float64{{5, 6, 7}}},
		{reason: "to an input, which stays as it is, also if the op reads it", added: 1,
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.x, n.turned)), n.x} },
			want:   [][]float64{{4, 4, 4}, {1, 2, 3}}},
		{reason: "to a value that is wanted too", added: 1,
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.doubled, n.turned)), n.doubled} },
			want:   [][]float64{{5, 6, 7}, {2, 4, 6}}},
		{reason: "the op cannot add", never: true,
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.doubled, n.turned))} },
			want:   [][]float64{{5, 6, 7}}},
		{reason: "its result is wanted",
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.doubled, n.turned)), n.turned} },
			want:   [][]float64{{5, 6, 7}, {3, 2, 1}}},
		{reason: "its result is read by two sums",
			wanted: func(n nodes) G.Nodes {
				return G.Nodes{G.Must(G.Add(n.doubled, n.turned)), G.Must(G.Add(n.x, n.turned))}
			},
			want: [][]float64{{5, 6, 7}, {4, 4, 4}}},
		{reason: "its result is both parts of the sum",
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Add(n.turned, n.turned))} },
			want:   [][]float64{{6, 4, 2}}},
		{reason: "a difference is no sum",
			wanted: func(n nodes) G.Nodes { return G.Nodes{G.Must(G.Sub(n.doubled, n.turned))} },
			want:   [][]float64{{-1, 2, 5}}},
	} {
		op := newBackwards(3, !c.never)
		x := input(G.NewGraph(), "x", ramp(tensor.Float64, 3))
		wanted := c.wanted(nodes{x, must(t)(graph.Scale(x, 2)), apply(t, op, x)})
		m, err := machine.New(wanted...)
		require.NoError(t, err, c.reason)
		for range 2 { // the second run uses the memory of the first
			*op.added = 0
			require.NoError(t, m.RunAll(), c.reason)
			for i, n := range wanted {
				require.Equal(t, c.want[i], n.Value().Data(), c.reason)
			}
			require.Equal(t, c.added, *op.added, c.reason)
		}
	}
}

// A result that is only added to a sum needs no memory; it is added in the sum's memory.
func TestAdditionsNeedNoMemory(t *testing.T) {
	for _, adds := range []bool{true, false} {
		x := input(G.NewGraph(), "x", ramp(tensor.Float64, 3))
		sum := must(t)(graph.Scale(x, 2))
		for range 4 {
			sum = G.Must(G.Add(sum, apply(t, newBackwards(3, adds), must(t)(graph.Scale(x, 3)))))
			x = must(t)(graph.Scale(x, 0.5))
		}
		m, err := machine.New(sum)
		require.NoError(t, err)
		results := 4 * 3 * 8
		if adds {
			results = 0
		}
		require.Equal(t, (1+4+3+4)*3*8+results, m.Memory().Sum, "the first sum, scaled values, halves, sums and results")
		require.NoError(t, m.RunAll())
	}
}

// An op that adds does not read the memory to which it adds.
func TestAdditionsOfTheSumItself(t *testing.T) {
	op := newBackwards(3, true)
	x := must(t)(graph.Scale(input(G.NewGraph(), "x", ramp(tensor.Float64, 3)), 2))
	y := G.Must(G.Add(x, apply(t, op, x)))
	m, err := machine.New(y)
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	require.Equal(t, []float64{8, 8, 8}, y.Value().Data())
}

// An error while adding is the run's error.
func TestAdditionsFail(t *testing.T) {
	x := input(G.NewGraph(), "x", ramp(tensor.Float64, 3))
	y := G.Must(G.Add(must(t)(graph.Scale(x, 2)), apply(t, failing{newBackwards(3, true)}, x)))
	m, err := machine.New(y)
	require.NoError(t, err)
	require.EqualError(t, m.RunAll(), "machine: got a bad day, want a good one")
}

type failing struct{ backwards }

func (failing) AddTo(G.Value, ...G.Value) error { return fmt.Errorf("got a bad day, want a good one") }

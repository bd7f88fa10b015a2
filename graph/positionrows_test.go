package graph_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"attention/graph"
	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// rowCases select rows of x (rows, 3); each lists the row numbers.
var rowCases = []struct {
	name  string
	op    func(in G.Nodes) (*G.Node, error)
	in    []int // shape of x
	start float64
	out   []int // shape
	taken []int
}{
	{name: "the first", op: positionRows(2), in: s{7, 3}, start: 0, out: s{2, 3}, taken: s{0, 1}},
	{name: "in the middle", op: positionRows(2), in: s{7, 3}, start: 3, out: s{2, 3}, taken: s{3, 4}},
	{name: "the last", op: positionRows(1), in: s{7, 3}, start: 6, out: s{1, 3}, taken: s{6}},
	{name: "all", op: positionRows(5), in: s{5, 3}, start: 0, out: s{5, 3}, taken: s{0, 1, 2, 3, 4}},
	{name: "last of each", op: lastRow, in: s{2, 5, 3}, start: 0, out: s{2, 3}, taken: s{4, 9}},
	{name: "last of one", op: lastRow, in: s{5, 3}, start: 0, out: s{3}, taken: s{4}},
	{name: "first of rows", op: firstRow, in: s{2, 4, 3}, start: 0, out: s{2, 3}, taken: s{0, 4}},
	{name: "last of rows", op: lastRow, in: s{2, 2, 1, 3}, start: 0, out: s{2, 2, 3}, taken: s{0, 1, 2, 3}},
}

func positionRows(T int) func(in G.Nodes) (*G.Node, error) {
	return func(in G.Nodes) (*G.Node, error) { return graph.PositionRows(in[0], in[1], T) }
}

func firstRow(in G.Nodes) (*G.Node, error) { return graph.FirstRow(in[0]) }

func lastRow(in G.Nodes) (*G.Node, error) { return graph.LastRow(in[0]) }

// The rows are copies, and so are their gradients; the other rows have no gradient. This holds on both machines, in
// memory with arbitrary contents.
func TestRowsOfPositions(t *testing.T) {
	for _, c := range rowCases {
		for _, p := range tolerances {
			t.Run(c.name+"/"+p.dt.String(), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				in := append(inputs(normal(r, c.in...)), key(c.start))
				dout := normal(r, c.out...)
				e := express(t, c.op, in, p.dt)
				e.differentiate(t, in, dout, p.dt)
				x, dx := in[0].array, zeros(c.in...)
				want := zeros(c.out...)
				for i, row := range c.taken {
					copy(want.v[3*i:3*i+3], x.v[3*row:])
					copy(dx.v[3*row:3*row+3], dout.v[3*i:])
				}
				for _, got := range []result{e.onOurs(t), e.onTape(t)} {
					require.Len(t, got.grads, 1)
					near(t, "rows", want, got.out, float32Step(p.dt))
					near(t, "gradient", dx, got.grads[0], float32Step(p.dt))
				}
				require.NotZero(t, overwriteAll(t, e.g))
			})
		}
	}
}

// float32Step returns how much a number may change when it is copied in a type.
func float32Step(dt tensor.Dtype) float64 {
	if dt == tensor.Float32 {
		return 1e-7
	}
	return 0
}

// One graph serves every start, and a start outside the table is an error of the run.
func TestPositionRowsOfManyRuns(t *testing.T) {
	b := bench{G.NewGraph()}
	table := zeros(7, 1)
	for i := range table.v {
		table.v[i] = float64(i)
	}
	start := b.ids()
	rows, err := graph.PositionRows(node(b.g, "table", table, tensor.Float64), start, 2)
	require.NoError(t, err)
	m, err := machine.New(rows)
	require.NoError(t, err)
	for _, from := range []int{5, 0, 3} {
		require.NoError(t, G.Let(start, from))
		require.NoError(t, m.RunAll())
		require.Equal(t, []float64{float64(from), float64(from + 1)}, rows.Value().Data())
	}
	for _, wrong := range []int{-1, 6, math.MaxInt, math.MinInt} {
		require.NoError(t, G.Let(start, wrong))
		err := m.RunAll()
		require.ErrorContains(t, err, "graph: PositionRows: start: got ")
		require.ErrorContains(t, err, "for T=2 rows, want 0 <= start <= R−T=5")
	}
}

// Each sequence gets the rows from its own start; the gradients of a row add up.
func TestRowsOfSeveralStarts(t *testing.T) {
	g := G.NewGraph()
	table := normal(rand.New(rand.NewPCG(3, 4)), 7, 3)
	weight, start := node(g, "weight", table, tensor.Float64), node(g, "start", of([]float64{4, 5, 0}, 3, 1), tensor.Int)
	rows, err := graph.PositionRows(weight, start, 2)
	require.NoError(t, err)
	require.Equal(t, tensor.Shape{3, 2, 3}, rows.Shape())
	dout := normal(rand.New(rand.NewPCG(5, 6)), 3, 2, 3)
	grads, err := G.Backpropagate(G.Nodes{rows}, G.Nodes{node(g, "dout", dout, tensor.Float64)}, G.Nodes{weight})
	require.NoError(t, err)
	m, err := machine.New(rows, grads[0])
	require.NoError(t, err)
	require.NoError(t, m.RunAll())
	want := zeros(7, 3)
	for i, row := range []int{4, 5, 5, 6, 0, 1} {
		require.Equal(t, table.v[3*row:][:3], arrayOf(t, rows.Value()).v[3*i:][:3])
		for j := range 3 {
			want.v[3*row+j] += dout.v[3*i+j]
		}
	}
	require.Equal(t, want.v, arrayOf(t, grads[0].Value()).v)
}

func TestPositionRowsRefuses(t *testing.T) {
	b := bench{G.NewGraph()}
	for _, c := range []struct {
		weight, start *G.Node
		T             int
		want          string
	}{
		{weight: b.f(7), start: b.ids(), T: 2, want: "graph: PositionRows: weight: shape (7), want (R, E)"},
		{weight: b.f(7, 3), start: b.ids(1), T: 2, want: "graph: PositionRows: start: shape (1), want () or (…, 1)"},
		{weight: b.f(7, 3), start: b.ids(), T: 0, want: "graph: PositionRows: T: got 0, want 1 <= T <= R=7"},
		{weight: b.f(7, 3), start: b.ids(), T: 8, want: "graph: PositionRows: T: got 8, want 1 <= T <= R=7"},
	} {
		_, err := graph.PositionRows(c.weight, c.start, c.T)
		require.EqualError(t, err, c.want)
	}
	_, err := graph.LastRow(b.f(3))
	require.EqualError(t, err, "graph: LastRow: x: shape (3), want (…, T, E)")
}

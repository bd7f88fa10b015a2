package small

import (
	"io"
	"testing"

	"attention/layers"
	"attention/train"
	"attention/train/loop"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Walk is a Resumable source of numbers, one per step. After each step the parameter of a Walker equals the number, and
// the evaluation's loss is its square.
type Walk struct {
	Numbers []float64
	At      int
}

// Next returns the next number.
func (w *Walk) Next() (train.Batch, error) {
	w.At++
	return train.Batch{Inputs: train.Values{"x": Vector(w.Numbers[w.At-1])}, Tokens: 1}, nil
}

// State returns the position.
func (w *Walk) State() []byte { return []byte{byte(w.At)} }

// SetState sets the position.
func (w *Walk) SetState(state []byte) error {
	w.At = int(state[0])
	return nil
}

// Walker returns a loop over (w − x)², whose steps set w, 9 at first, to x, and w.
func Walker(t testing.TB, c loop.Config) (*loop.Loop, *layers.Params) {
	p := layers.NewParams(tensor.Float64, 1)
	w, err := p.Scope("").Param("w", layers.Constant(9), 1)
	require.NoError(t, err)
	loss := func(b *layers.Build, in layers.Inputs) []*G.Node {
		return b.Nodes(G.Sum(b.Of(G.Square(b.Of(G.Sub(b.Node(w), in["x"]))))))
	}
	c.Solver, c.Schedule = train.SolverConfig{Name: train.SGD}, train.ConstantRate(0.5)
	if c.EvalEvery == 0 {
		c.EvalEvery = 1
	}
	l, err := loop.New(p, loss, c)
	require.NoError(t, err)
	return l, p
}

// AtZero is a Walker's source of evaluations: the loss is w².
func AtZero() train.Source {
	return &List{List: []train.Batch{{Inputs: train.Values{"x": Vector(0)}, Tokens: 1}}, End: io.EOF}
}

// Place returns a Walker's parameter.
func Place(p *layers.Params) float64 {
	w, _ := p.Get("w")
	return w.Float64s()[0]
}

package machine_test

import (
	"math"
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"pgregory.net/rapid"
)

// bits returns the bits of a value's elements.
func bits(t require.TestingT, v G.Value) []uint64 {
	var b []uint64
	switch d := v.Data().(type) {
	case []float64:
		for _, x := range d {
			b = append(b, math.Float64bits(x))
		}
	case []float32:
		for _, x := range d {
			b = append(b, uint64(math.Float32bits(x)))
		}
	case float64:
		b = append(b, math.Float64bits(d))
	case float32:
		b = append(b, uint64(math.Float32bits(d)))
	default:
		require.Fail(t, "value", "got %T", d)
	}
	return b
}

// For any graph, our machine returns the bits of Gorgonia's, in every run and for any
// inputs. Reshape is left out: on Gorgonia's machine its result shares the memory of its
// input, which a later op then overwrites.
func TestRandomGraphsRunAsOnGorgonia(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, opNames("Reshape", "Flip"))
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		read := make([]G.Value, len(wanted))
		for i, n := range wanted {
			G.Read(n, &read[i])
		}
		tape := G.NewTapeMachine(r.g)
		defer tape.Close()
		for round := range 3 {
			r.feed(t, round)
			require.NoError(t, ours.RunAll())
			got := make([][]uint64, len(wanted))
			for i, n := range wanted {
				got[i] = bits(t, n.Value())
			}
			require.NoError(t, tape.RunAll())
			tape.Reset()
			for i, n := range wanted {
				require.Equal(t, bits(t, read[i]), got[i], "round %d, wanted %d: %v", round, i, n)
			}
		}
	})
}

// For any op, our machine returns the bits of one that shares no memory: each op computes
// from copies of its inputs into new memory.
func TestRandomGraphsRunAsOpByOp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, wanted := draw(t, opNames())
		ours, err := machine.New(wanted...)
		require.NoError(t, err)
		for round := range 3 {
			r.feed(t, round)
			want := opByOp(t, r.g)
			require.NoError(t, ours.RunAll())
			for i, n := range wanted {
				require.Equal(t, bits(t, want[n]), bits(t, n.Value()), "round %d, wanted %d: %v", round, i, n)
			}
			for _, n := range r.in {
				require.Equal(t, bits(t, want[n]), bits(t, n.Value()), "input %v", n)
			}
		}
	})
}

// opByOp returns the value of every node of a graph, computed without shared memory.
func opByOp(t require.TestingT, g *G.ExprGraph) map[*G.Node]G.Value {
	values := map[*G.Node]G.Value{}
	for _, n := range g.AllNodes() { // an op comes after its inputs
		if n.Op() == nil {
			v, err := G.CloneValue(n.Value())
			require.NoError(t, err)
			values[n] = v
			continue
		}
		var in []G.Value
		for it := g.From(n.ID()); it != nil && it.Next(); {
			v, err := G.CloneValue(values[it.Node().(*G.Node)])
			require.NoError(t, err)
			in = append(in, v)
		}
		v, err := n.Op().Do(in...)
		require.NoError(t, err)
		values[n] = v
	}
	return values
}

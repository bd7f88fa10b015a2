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

// marked returns a loss of blocks on x, each of a few ops, with or without checkpoints between them. It also returns
// the node in the middle of the second block, and the gradients by x and by the blocks' weight.
func marked(t *testing.T, blocks int, checkpoint bool) (loss, middle *G.Node, grads G.Nodes) {
	g := G.NewGraph()
	x, w := input(g, "x", ramp(tensor.Float64, 8, 8)), input(g, "w", ramp(tensor.Float64, 8, 8))
	mark := func(y *G.Node) *G.Node {
		if !checkpoint {
			return y
		}
		return must(t)(graph.Checkpoint(y))
	}
	y := mark(must(t)(graph.Scale(x, 0.5)))
	for i := range blocks {
		h := must(t)(graph.GELU(must(t)(graph.MatMul(y, w))))
		if i == 1 {
			middle = h
		}
		y = mark(must(t)(graph.Add(y, must(t)(graph.Softmax(h)))))
	}
	loss = G.Must(G.Sum(must(t)(graph.Mul(y, y))))
	grads, err := G.Grad(loss, x, w)
	require.NoError(t, err)
	return loss, middle, grads
}

// Values that are computed again have the same bits, even if they are wanted, and each block adds less to the memory of
// a step.
func TestCheckpointedBlocksAreComputedAgain(t *testing.T) {
	var planned [2][2]int
	for i, blocks := range []int{4, 12} {
		var want [][]uint64
		for j, checkpoint := range []bool{false, true} {
			loss, middle, grads := marked(t, blocks, checkpoint)
			alone, err := machine.New(append(grads, loss)...)
			require.NoError(t, err)
			planned[j][i] = alone.Memory().Planned
			with, err := machine.New(append(grads, loss, middle)...)
			require.NoError(t, err)
			for _, m := range []*machine.Machine{alone, alone, with} {
				require.NoError(t, m.RunAll())
				got := [][]uint64{bits(t, loss.Value()), bits(t, grads[0].Value()), bits(t, grads[1].Value())}
				if want == nil {
					want = got
				}
				require.Equal(t, want, got)
			}
		}
	}
	const value = 8 * 8 * 8
	require.GreaterOrEqual(t, planned[0][1]-planned[0][0], 3*8*value, "three values of each block")
	require.LessOrEqual(t, planned[1][1]-planned[1][0], 8*value, "one value of each block")
}

// The values between two marks are computed twice if the backward pass reads them, except the values of an op that may
// give another result the next time.
func TestOpsWithAModeAreNotComputedAgain(t *testing.T) {
	for _, c := range []struct {
		name  string
		op    func(x *G.Node) (*G.Node, error)
		again int // ops
	}{
		{name: "graph.Softmax", op: graph.Softmax, again: 2},
		// Only its input is computed twice, because its gradient reads the input.
		{name: "gorgonia.Dropout", op: func(x *G.Node) (*G.Node, error) { return G.Dropout(x, 0.5) }, again: 1},
	} {
		const marks = 2
		var nodes [2]int
		for i, mark := range []func(x *G.Node) (*G.Node, error){
			func(x *G.Node) (*G.Node, error) { return x, nil }, graph.Checkpoint,
		} {
			x := input(G.NewGraph(), "x", ramp(tensor.Float64, 7, 5))
			y := must(t)(mark(must(t)(graph.Scale(x, 0.5))))
			y = must(t)(c.op(must(t)(graph.GELU(y))))
			y = must(t)(mark(must(t)(graph.GELU(y))))
			loss := G.Must(G.Sum(must(t)(graph.Mul(y, y))))
			grads, err := G.Grad(loss, x)
			require.NoError(t, err)
			m, err := machine.New(append(grads, loss)...)
			require.NoError(t, err)
			_, err = fmt.Sscanf(m.String(), "machine of %d nodes", &nodes[i])
			require.NoError(t, err)
		}
		require.Equal(t, nodes[0]+marks+c.again, nodes[1], c.name)
	}
}

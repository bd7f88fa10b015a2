package machine_test

import (
	"sync"
	"testing"

	"attention/graph/machine"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Machines of separate graphs that share one set of parameters run concurrently and agree.
func TestMachinesShareParameters(t *testing.T) {
	w, filter := ramp(tensor.Float32, 12, 4), ramp(tensor.Float32, 3, 2, 2, 2)
	for _, v := range [][]float32{w.Float32s(), filter.Float32s()} {
		for i := range v {
			v[i] = float32(i%7)/8 - 0.3
		}
	}
	const workers = 4
	losses, gradients := make([]*G.Node, workers), make([]*G.Node, workers)
	machines := make([]*machine.Machine, workers)
	for i := range workers { // Gorgonia cannot build graphs concurrently
		g := G.NewGraph()
		x := input(g, "x", ramp(tensor.Float32, 5, 2, 4, 4))
		y := G.Must(G.Conv2d(x, input(g, "filter", filter), tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
		y = G.Must(G.MaxPool2D(G.Must(G.Tanh(y)), tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}))
		weights := input(g, "w", w)
		y = G.Must(G.Mul(G.Must(G.Reshape(y, tensor.Shape{5, 12})), weights))
		losses[i] = G.Must(G.Mean(G.Must(G.Square(G.Must(G.SoftMax(y))))))
		grads, err := G.Grad(losses[i], weights)
		require.NoError(t, err)
		gradients[i] = grads[0]
		machines[i], err = machine.ForGraph(g)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	failures := make([]error, workers)
	for i, m := range machines {
		all.Go(func() {
			for range 20 {
				if failures[i] = m.RunAll(); failures[i] != nil {
					return
				}
			}
		})
	}
	all.Wait()
	for i := range workers {
		require.NoError(t, failures[i])
		require.Equal(t, bits(t, losses[0].Value()), bits(t, losses[i].Value()))
		require.Equal(t, bits(t, gradients[0].Value()), bits(t, gradients[i].Value()))
	}
}

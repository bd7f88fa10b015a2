package mask_test

import (
	"fmt"
	"log"

	"attention/graph"
	"attention/graph/machine"
	"attention/graph/mask"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A custom mask: every second key, counted back from the query's own. Equal scores give the visible keys equal weights.
func ExampleFunc() {
	dilated := mask.Func{Name: "dilated", VisibleAt: func(t, s int) bool { return (t-s)%2 == 0 }}
	x := G.NewMatrix(G.NewGraph(), tensor.Float64, G.WithShape(5, 2), G.WithInit(G.Zeroes()), G.WithName("x"))
	_, weights, err := graph.Attention(x, x, x, graph.AttentionConfig{Mask: mask.And(mask.Causal{}, dilated)})
	if err != nil {
		log.Fatal(err)
	}
	m, err := machine.New(weights)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.RunAll(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f", weights.Value())
	// Output:
	// ⎡1.00  0.00  0.00  0.00  0.00⎤
	// ⎢0.00  1.00  0.00  0.00  0.00⎥
	// ⎢0.50  0.00  0.50  0.00  0.00⎥
	// ⎢0.00  0.50  0.00  0.50  0.00⎥
	// ⎣0.33  0.00  0.33  0.00  0.33⎦
}

// A prefill continues: in the first sequence two earlier keys precede the two queries, in the second none.
func ExampleCausalAt() {
	g := G.NewGraph()
	q := G.NewTensor(g, tensor.Float64, 3, G.WithShape(2, 2, 1), G.WithInit(G.Zeroes()), G.WithName("q"))
	k := G.NewTensor(g, tensor.Float64, 3, G.WithShape(2, 4, 1), G.WithInit(G.Zeroes()), G.WithName("k"))
	start := G.NewVector(g, tensor.Int, G.WithValue(tensor.New(tensor.WithBacking([]int{2, 0}))), G.WithName("start"))
	_, weights, err := graph.Attention(q, k, k, graph.AttentionConfig{Mask: mask.CausalAt{Start: start}})
	if err != nil {
		log.Fatal(err)
	}
	m, err := machine.New(weights)
	if err != nil {
		log.Fatal(err)
	}
	if err := m.RunAll(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f", weights.Value().Data())
	// Output: [0.33 0.33 0.33 0.00 0.25 0.25 0.25 0.25 1.00 0.00 0.00 0.00 0.50 0.50 0.00 0.00]
}

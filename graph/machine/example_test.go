package machine_test

import (
	"fmt"
	"log"

	"attention/graph/machine"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A program of Gorgonia's ops and solver learns w with tanh(w) = ½. On gorgonia.NewTapeMachine its loss rises to 2.25.
func ExampleForGraph() {
	g := gorgonia.NewGraph()
	w := gorgonia.NewMatrix(g, tensor.Float64, gorgonia.WithName("w"), gorgonia.WithValue(
		tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{-1, 0, 1, 2}))))
	y := gorgonia.NewVector(g, tensor.Float64, gorgonia.WithName("y"), gorgonia.WithValue(
		tensor.New(tensor.WithShape(4), tensor.WithBacking([]float64{0.5, 0.5, 0.5, 0.5}))))
	guess := gorgonia.Must(gorgonia.Reshape(gorgonia.Must(gorgonia.Tanh(w)), tensor.Shape{4}))
	loss := gorgonia.Must(gorgonia.Mean(gorgonia.Must(gorgonia.Square(gorgonia.Must(gorgonia.Sub(guess, y))))))
	if _, err := gorgonia.Grad(loss, w); err != nil {
		log.Fatal(err)
	}
	vm, err := machine.ForGraph(g) // was: gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(w))
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	solver := gorgonia.NewVanillaSolver(gorgonia.WithLearnRate(1))
	for step := range 51 {
		if err := vm.RunAll(); err != nil {
			log.Fatal(err)
		}
		if step%25 == 0 {
			fmt.Printf("step %d: loss %.4f\n", step, loss.Value().Data())
		}
		if err := solver.Step(gorgonia.NodesToValueGrads(gorgonia.Nodes{w})); err != nil {
			log.Fatal(err)
		}
		vm.Reset()
	}
	// Output:
	// step 0: loss 0.5313
	// step 25: loss 0.0347
	// step 50: loss 0.0000
}

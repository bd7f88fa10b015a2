package gradcheck_test

import (
	"fmt"

	"attention/graph/gradcheck"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Check a graph of stock ops in every element of x and w.
func ExampleCheck() {
	g := G.NewGraph()
	x := G.NewMatrix(g, tensor.Float64, G.WithName("x"), G.WithShape(2, 3), G.WithInit(G.Gaussian(0, 1)))
	w := G.NewMatrix(g, tensor.Float64, G.WithName("w"), G.WithShape(3, 5), G.WithInit(G.Gaussian(0, 1)))
	out := G.Must(G.Tanh(G.Must(G.Mul(x, w))))

	report, err := gradcheck.Check(out, G.Nodes{x, w}, gradcheck.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Compared(), "elements, all right:", report.OK())
	// Output: 21 elements, all right: true
}

// A report of a wrong gradient: Gorgonia's own of 1/√x.
func ExampleReport() {
	g := G.NewGraph()
	x := G.NewVector(g, tensor.Float64, G.WithName("x"), G.WithShape(2),
		G.WithValue(tensor.New(tensor.WithBacking([]float64{0.25, 4}))))
	out := G.Must(G.InverseSqrt(x))

	report, err := gradcheck.Check(out, G.Nodes{x}, gradcheck.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	in := report.Inputs[0]
	fmt.Printf("%s%v: analytic %.4f, numeric %.4f\n", in.Name, in.Worst.Index, in.Worst.Analytic, in.Worst.Numeric)
	// Output: x[0]: analytic -0.0504, numeric -3.2253
}

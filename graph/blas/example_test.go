package blas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/mat"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"attention/graph/blas"
)

// From here on, every function of gonum that multiplies matrices of float64 uses the kernels.
func Example_gonum() {
	blas64.Use(blas.Implementation{})
	defer blas64.Use(gonum.Implementation{}) // only for this example

	a := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	var c mat.Dense
	c.Mul(a, a.T())
	fmt.Println(mat.Formatted(&c))
	// Output:
	// ⎡14  32⎤
	// ⎣32  77⎦
}

// Gorgonia's tape machine uses the kernels for matrix products. For a whole graph machine.ForGraph is faster, and it is
// correct where the tape machine is not.
func Example_gorgonia() {
	gorgonia.Use(blas.Implementation{})
	defer gorgonia.Use(gonum.Implementation{}) // only for this example

	g := gorgonia.NewGraph()
	backing := tensor.WithBacking([]float32{1, 2, 3, 4})
	x := gorgonia.NewMatrix(g, gorgonia.Float32, gorgonia.WithValue(tensor.New(tensor.WithShape(2, 2), backing)))
	y := gorgonia.Must(gorgonia.Mul(x, x))
	vm := gorgonia.NewTapeMachine(g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		fmt.Println(err)
	}
	fmt.Println(y.Value().Data())
	// Output: [7 10 15 22]
}

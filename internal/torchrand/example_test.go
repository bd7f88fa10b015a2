package torchrand_test

import (
	"fmt"

	"attention/internal/torchrand"
)

// torch.manual_seed(123); torch.rand(3, 2)
func Example() {
	g := torchrand.New(123)
	x := make([]float32, 3*2)
	torchrand.Uniform(g, x, 0, 1)
	for i := 0; i < len(x); i += 2 {
		fmt.Printf("%.4f\n", x[i:i+2])
	}
	// Output:
	// [0.2961 0.5166]
	// [0.2517 0.6886]
	// [0.0740 0.8665]
}

// torch.manual_seed(123); nn.Linear(3, 2)
func ExampleKaimingUniformBound() {
	g := torchrand.New(123)
	weight, bias := make([]float32, 2*3), make([]float32, 2)
	w := float32(torchrand.KaimingUniformBound(3))
	torchrand.Uniform(g, weight, -w, w)
	b := float32(torchrand.LinearBiasBound(3))
	torchrand.Uniform(g, bias, -b, b)
	fmt.Printf("%.4f\n%.4f\n", weight, bias)
	// Output:
	// [-0.2354 0.0191 -0.2867 0.2177 -0.4919 0.4232]
	// [-0.4196 -0.4590]
}

package torchrand

import "math"

// KaimingUniformBound returns the bound b of nn.Linear's initial weight, which is uniform
// in [-b, b) (init.kaiming_uniform_ with a = √5):
//
//	gain = √(2/(1+a²)), std = gain/√fanIn, b = √3·std
//
// That is 1/√fanIn with PyTorch's rounding. fanIn is the number of the layer's inputs; the
// bound for 0 or less is 0.
func KaimingUniformBound(fanIn int) float64 {
	if fanIn <= 0 {
		return 0
	}
	a := math.Sqrt(5)
	gain := math.Sqrt(2 / (1 + float64(a*a))) // a² rounds to a little more than 5
	std := gain / math.Sqrt(float64(fanIn))
	return math.Sqrt(3) * std
}

// LinearBiasBound returns the bound b of nn.Linear's initial bias, which is uniform in
// [-b, b): b = 1/√fanIn. fanIn is the number of the layer's inputs; the bound for 0 or less
// is 0.
func LinearBiasBound(fanIn int) float64 {
	if fanIn <= 0 {
		return 0
	}
	return 1 / math.Sqrt(float64(fanIn))
}

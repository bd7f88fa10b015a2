package gradcheck

import (
	"fmt"
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Check compares the symbolic gradients of out with central differences. out is a
// float64 node of any shape, and every node of wrt a float64 input with a value. The
// other inputs need values too and are not moved.
//
// Check returns an error if it cannot make the comparison: an argument is wrong, the graph cannot be differentiated or
// run, or its output differs from run to run. The report contains the findings, whether right or wrong.
//
// The gradient of an input that does not influence out is zero, though gorgonia.Grad
// refuses to return it. So is the gradient through an argument that an op declares not
// differentiable; there the differences decide whether that is right.
//
// Check builds a graph, which Gorgonia allows in one goroutine at a time.
func Check(out *G.Node, wrt G.Nodes, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	s, err := newSubject(out, wrt, tensor.Float64)
	if err != nil {
		return nil, err
	}
	k := checker{Config: c.withDefaults(1e-7, 1e-5), symbolic: s, moved: s, scale: unscaled}
	return k.check()
}

// checker compares the gradients of one graph with the differences of another, or of
// the same.
type checker struct {
	Config
	symbolic, moved *subject
	scale           func(gradient []float64, summed int) float64 // the unit of AbsTol
	random          *rand.Rand
	weights         []float64 // r, one weight for each element of out
}

func unscaled([]float64, int) float64 { return 1 }

// stream selects this package's random stream of a seed; any number would do.
const stream = 0x67726164

func (k *checker) check() (*Report, error) {
	if err := k.symbolic.differentiate(); err != nil {
		return nil, err
	}
	if err := k.checkRepeatable(); err != nil {
		return nil, err
	}
	k.random = rand.New(rand.NewPCG(k.Seed, stream))
	k.weights = k.draw(k.symbolic.size)
	report := &Report{Config: k.Config}
	for _, v := range k.symbolic.variables {
		report.Inputs = append(report.Inputs, Input{Name: v.name, Shape: v.shape})
	}
	gradients, err := k.backwardTwice(report)
	if err != nil {
		return nil, err
	}
	if err := k.backwardOfZero(report); err != nil {
		return nil, err
	}
	for i := range report.Inputs {
		if err := k.compare(&report.Inputs[i], i, gradients[i]); err != nil {
			return nil, err
		}
	}
	return report, nil
}

// draw returns n numbers of random sign and of size between 0.5 and 0.9: each has an effect on a sum, and none is 1.
// They are exact in float32.
func (k *checker) draw(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(0.5 + float32(0.4*k.random.Float32()))
		if k.random.Uint64()%2 == 0 {
			x[i] = -x[i]
		}
	}
	return x
}

// checkRepeatable returns an error if two runs differ: then differences mean nothing.
func (k *checker) checkRepeatable() error {
	first, err := k.moved.run(nil)
	if err != nil {
		return err
	}
	second, err := k.moved.run(nil)
	if err != nil {
		return err
	}
	if at, ok := firstDifference(first, second); ok {
		return fmt.Errorf("gradcheck: out: got %v and then %v at %v for the same inputs, want a graph that repeats itself",
			first[at], second[at], multiIndex(at, k.moved.out.Shape()))
	}
	return nil
}

// backwardTwice runs the backward pass twice, reports gradients that have a wrong shape
// or change from run to run, and returns the first run's.
func (k *checker) backwardTwice(report *Report) ([]gradient, error) {
	first, err := k.symbolic.gradients(k.weights)
	if err != nil {
		return nil, err
	}
	second, err := k.symbolic.gradients(k.weights)
	if err != nil {
		return nil, err
	}
	for i, v := range k.symbolic.variables {
		in := &report.Inputs[i]
		if !first[i].fits(v) || !second[i].fits(v) {
			in.fail("the gradient has shape %v, then %v, want %v", first[i].shape, second[i].shape, v.shape)
			continue
		}
		if at, ok := firstDifference(first[i].data, second[i].data); ok {
			in.fail("the gradient is not repeatable: %v and then %v at %v",
				first[i].data[at], second[i].data[at], multiIndex(at, v.shape))
		}
	}
	return first, nil
}

// backwardOfZero reports gradients that are not zero for an upstream gradient of zeros.
func (k *checker) backwardOfZero(report *Report) error {
	gradients, err := k.symbolic.gradients(make([]float64, k.symbolic.size))
	if err != nil {
		return err
	}
	for i, v := range k.symbolic.variables {
		for j, x := range gradients[i].data {
			if x != 0 && gradients[i].fits(v) {
				report.Inputs[i].fail("an upstream gradient of zeros gives %v at %v, want 0", x, multiIndex(j, v.shape))
				break
			}
		}
	}
	return nil
}

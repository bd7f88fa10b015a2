package gradcheck

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// Check compares the symbolic gradients of out, a float64 node of any shape, by
// every node of wrt, which are float64 inputs with values, against central
// differences. The other inputs need values too and are left alone.
//
// An error says that the check could not be made: an argument is wrong, the graph
// cannot be differentiated or run, or it gives another result in every run. What
// the check found, right or wrong, is in the report.
//
// The gradient by an input that does not influence out is zero, though
// gorgonia.Grad refuses to give it; so is the gradient through arguments that an
// op declares not to be differentiable, and there the differences decide whether
// that is right.
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

// CheckTwin compares the symbolic gradients of the float32 node out32 with the
// central differences of out64, the same graph in float64. wrt32 and wrt64 are the
// inputs of the one and of the other in the same order. Both graphs must hold the
// same values: those of wrt64 may be more precise, and are rounded to float32 for
// the check; other inputs must be equal.
//
// float32 rounds to 6e-8 of a number, and an element of a gradient is a sum of
// terms that may each be as large as the gradient's largest element, so that its
// error is relative to that, not to itself. AbsTol therefore counts in units of
// max(1, the largest |n| of the input); its default 1e-5 leaves room for a few
// hundred roundings, and so does RelTol's 1e-4 where a product of several rounded
// factors makes the element. In mode OneDirection the errors of an input's N
// elements add up, as random ones do, to √N times that.
func CheckTwin(out32 *G.Node, wrt32 G.Nodes, out64 *G.Node, wrt64 G.Nodes, c Config) (*Report, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	narrow, err := newSubject(out32, wrt32, tensor.Float32)
	if err != nil {
		return nil, err
	}
	wide, err := newSubject(out64, wrt64, tensor.Float64)
	if err != nil {
		return nil, err
	}
	if err := alignTwins(narrow, wide); err != nil {
		return nil, err
	}
	k := checker{Config: c.withDefaults(1e-5, 1e-4), symbolic: narrow, moved: wide, scale: byLargest}
	return k.check()
}

// alignTwins gives the float64 graph exactly the values of the float32 one.
func alignTwins(narrow, wide *subject) error {
	if a, b := narrow.out.Shape(), wide.out.Shape(); !slices.Equal(a, b) {
		return fmt.Errorf("gradcheck: out64: shape %v, want out32's %v", b, a)
	}
	if len(narrow.variables) != len(wide.variables) {
		return fmt.Errorf("gradcheck: wrt64: got %d nodes, want wrt32's %d", len(wide.variables), len(narrow.variables))
	}
	for i, v := range narrow.variables {
		w := wide.variables[i]
		if !slices.Equal(v.shape, w.shape) {
			return fmt.Errorf("gradcheck: wrt64: %s: shape %v, want that of wrt32's %s, %v", w.name, w.shape, v.name, v.shape)
		}
		for j, x := range w.data {
			if float64(float32(x)) != v.data[j] {
				return fmt.Errorf("gradcheck: wrt64: %s: got %v at %v, want wrt32's %v", w.name, x, multiIndex(j, w.shape), v.data[j])
			}
		}
		if wide.inputs[i] != nil {
			w.set(v.data)
		}
	}
	return nil
}

// checker compares the gradients of one graph with the differences of another,
// or of the same.
type checker struct {
	Config
	symbolic, moved *subject
	scale           func(gradient []float64, summed int) float64 // what AbsTol counts in
	random          *rand.Rand
	weights         []float64 // r, one for each element of out
}

func unscaled([]float64, int) float64 { return 1 }

// byLargest is the size of the rounding errors of a sum over so many elements of
// the gradient, relative to those of an element of size one.
func byLargest(gradient []float64, summed int) float64 {
	largest := 1.0
	for _, x := range gradient {
		if finite(x) {
			largest = max(largest, math.Abs(x))
		}
	}
	return largest * math.Sqrt(float64(summed))
}

// stream is this package's among the streams of a seed; any number would do.
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

// draw draws n numbers of random sign, between 0.5 and 0.9 in size, so that each
// counts in a sum and none could pass for 1. They are exact in float32.
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

// checkRepeatable refuses a graph of which no difference can be taken.
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

// backwardTwice runs the backward pass, finds gradients of a wrong shape and such
// as change from run to run, and returns the first run's.
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
			in.fail("the gradient is not repeatable: %v and then %v at %v", first[i].data[at], second[i].data[at], multiIndex(at, v.shape))
		}
	}
	return first, nil
}

// backwardOfZero finds gradients that are not zero where the loss is.
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

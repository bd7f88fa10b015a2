package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// lossFunctions are the loss of an element, and its derivatives by input and by target;
// without the last, it is the negative of the one before.
type lossFunctions[F kernel.Float] struct{ each, slope, targetSlope kernel.LossFunction[F] }

// lossesOf returns what computes a loss, which is made once: generic functions take memory.
func lossesOf[F kernel.Float](o elementLoss) *lossFunctions[F] {
	name := o.Name
	if o.LogTarget {
		name += " of logarithms"
	}
	var f F
	if _, ok := any(f).(float32); ok {
		return any(losses32[name]).(*lossFunctions[F])
	}
	return any(losses64[name]).(*lossFunctions[F])
}

var losses32, losses64 = newLosses[float32](), newLosses[float64]()

func newLosses[F kernel.Float]() map[string]*lossFunctions[F] {
	huber := &lossFunctions[F]{each: kernel.HuberError[F], slope: kernel.HuberErrorSlope[F]}
	return map[string]*lossFunctions[F]{
		"MSE":      {each: kernel.SquaredError[F], slope: kernel.SquaredErrorSlope[F]},
		"L1":       {each: kernel.AbsoluteError[F], slope: kernel.AbsoluteErrorSlope[F]},
		"Huber":    huber,
		"SmoothL1": huber,
		"BCEWithLogits": {kernel.BinaryCrossEntropy[F], kernel.BinaryCrossEntropySlope[F],
			kernel.BinaryCrossEntropyTargetSlope[F]},
		"KLDiv": {kernel.Divergence[F], kernel.DivergenceSlope[F], kernel.DivergenceTargetSlope[F]},
		"KLDiv of logarithms": {kernel.LogDivergence[F], kernel.LogDivergenceSlope[F],
			kernel.LogDivergenceTargetSlope[F]},
	}
}

// elementLoss is the settings of a loss of elements.
type elementLoss struct {
	Name      string
	C         float64 // delta
	LogTarget bool
	Weighted  bool
	Reads     kernel.Broadcast // the input and the weight
	Reduction Reduction
}

func lossOf(o elementLoss, input, target, weight *G.Node) (*G.Node, error) {
	if err := o.Reduction.check(o.Name); err != nil {
		return nil, err
	}
	in := G.Nodes{input, target}
	if o.Weighted = weight != nil; o.Weighted {
		in = append(in, weight)
		args := []arg{{name: "input"}, {name: "pos_weight"}}
		reads, out, err := readTogether(o.Name, args, input, weight)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(out, input.Shape()) {
			return nil, &ShapeError{o.Name, "pos_weight", weight.Shape(),
				fmt.Sprintf("one that broadcasts to %v", input.Shape())}
		}
		o.Reads = reads
	}
	return applyTyped(loss[float32]{o}, loss[float64]{o}, in...)
}

// args returns input, target and, if there is one, pos_weight, then more.
func (o elementLoss) args(more ...arg) []arg {
	args := named("input", "target")
	if o.Weighted {
		args = append(args, arg{name: "pos_weight", fixed: true})
	}
	return append(args, more...)
}

// divisor returns what the sum of the losses of an input is divided by.
func (o elementLoss) divisor(input tensor.Shape) float64 {
	d := 1.0
	switch o.Reduction {
	case MeanReduction:
		d = float64(input.TotalSize())
	case BatchMeanReduction:
		d = float64(input[0])
	}
	if o.Name == "SmoothL1" {
		d *= o.C
	}
	return d
}

func lossArguments[F kernel.Float](o elementLoss, in []*tensor.Dense) kernel.LossArguments[F] {
	a := kernel.LossArguments[F]{X: dense.Floats[F](in[0]), Y: dense.Floats[F](in[1]), C: o.C, Reads: o.Reads}
	if o.Weighted {
		a.Weight = dense.Floats[F](in[2])
	}
	return a
}

// loss is the op of a loss of elements.
type loss[F kernel.Float] struct{ elementLoss }

func (o loss[F]) spec() (string, []arg) { return o.Name, o.args() }

func (o loss[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	if o.Reduction == BatchMeanReduction && in[0].Dims() == 0 {
		return nil, &ShapeError{o.Name, "input", in[0], "(B, …) for batchmean"}
	}
	if err := checkSameShape(o.Name, "target", in); err != nil {
		return nil, err
	}
	if o.Reduction == NoReduction {
		return in[0].Clone(), nil
	}
	return tensor.ScalarShape(), nil
}

func (o loss[F]) inPlace() []int {
	if o.Reduction == NoReduction {
		return []int{0, 1}
	}
	return nil
}

func (o loss[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, y, each := lossArguments[F](o.elementLoss, in), dense.Floats[F](out), lossesOf[F](o.elementLoss).each
	divisor := o.divisor(in[0].Shape())
	if o.Reduction == NoReduction {
		kernel.EachLoss(y, each, a, nil, divisor)
	} else {
		y[0] = F(kernel.SumLoss(each, a) / divisor)
	}
	return nil
}

func (o loss[F]) backward(in G.Nodes, _, dloss *G.Node) (G.Nodes, error) {
	with := append(slices.Clone(in), dloss)
	d := make(G.Nodes, len(in))
	var err error
	if d[0], err = apply(lossBackward[F]{elementLoss: o.elementLoss}, with...); err != nil {
		return nil, err
	}
	if lossesOf[F](o.elementLoss).targetSlope == nil {
		d[1], err = Scale(d[0], -1)
	} else {
		d[1], err = apply(lossBackward[F]{elementLoss: o.elementLoss, Target: true}, with...)
	}
	return d, err
}

type lossBackward[F kernel.Float] struct {
	sameShape
	intoFirst
	isGradient
	elementLoss
	Target bool // the gradient of the target, not of the input
}

func (o lossBackward[F]) spec() (string, []arg) {
	return o.Name + "Backward", o.args(arg{name: "dloss"})
}

func (o lossBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	f := lossesOf[F](o.elementLoss)
	slope := f.slope
	if o.Target {
		slope = f.targetSlope
	}
	dloss := dense.Floats[F](in[len(in)-1])
	kernel.EachLoss(dense.Floats[F](out), slope, lossArguments[F](o.elementLoss, in), dloss, o.divisor(in[0].Shape()))
	return nil
}

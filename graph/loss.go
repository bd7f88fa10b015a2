package graph

import (
	"fmt"
	"math"
	"slices"

	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Reduction is what a loss makes of the losses of its elements, or rows.
type Reduction int

const (
	MeanReduction      Reduction = iota // their mean, a scalar
	SumReduction                        // their sum, a scalar
	NoReduction                         // the losses themselves
	BatchMeanReduction                  // their sum divided by the length of the first axis, for KLDiv
)

var reductionNames = []string{"mean", "sum", "none", "batchmean"}

// String returns torch's name of the reduction.
func (r Reduction) String() string {
	if r < MeanReduction || r > BatchMeanReduction {
		return fmt.Sprintf("reduction %d", int(r))
	}
	return reductionNames[r]
}

// check refuses a reduction that a loss does not have.
func (r Reduction) check(op string) error {
	names := reductionNames[:BatchMeanReduction]
	if op == "KLDiv" {
		names = reductionNames
	}
	if r < 0 || int(r) >= len(names) {
		return fmt.Errorf("graph: %s: reduction: got %v, want one of %v", op, r, names)
	}
	return nil
}

// LossConfig sets MSE and L1.
type LossConfig struct{ Reduction Reduction }

// HuberConfig sets Huber and SmoothL1.
type HuberConfig struct {
	Reduction Reduction
	Delta     float64 // where the square ends, above 0 (torch's delta, beta); 0 means 1
}

// BCEConfig sets BCEWithLogits.
type BCEConfig struct {
	Reduction Reduction
	PosWeight *G.Node // of the positive targets, broadcast to the input (torch's pos_weight); nil means 1
}

// KLDivConfig sets KLDiv.
type KLDivConfig struct {
	Reduction Reduction
	LogTarget bool // the target holds logarithms (torch's log_target)
}

// MSE returns the mean of (input − target)² over all elements
// (torch.nn.functional.mse_loss). As in every loss here, both have one shape, gradients flow
// into both, and losses are computed and summed in float64, so that the result agrees with
// float64's to 1e-6 at any size. gorgonia.Mean of gorgonia.Square is 1 % off at 9 million
// elements of float32.
func MSE(input, target *G.Node, c LossConfig) (*G.Node, error) {
	return lossOf(elementLoss{Name: "MSE", Reduction: c.Reduction}, input, target, nil)
}

// L1 returns the mean of |input − target| (torch.nn.functional.l1_loss). Where they are
// equal it passes no gradient.
func L1(input, target *G.Node, c LossConfig) (*G.Node, error) {
	return lossOf(elementLoss{Name: "L1", Reduction: c.Reduction}, input, target, nil)
}

// Huber returns the mean of ½d² where |d| ≤ delta, and of delta·(|d| − ½delta) elsewhere,
// d = input − target (torch.nn.functional.huber_loss).
func Huber(input, target *G.Node, c HuberConfig) (*G.Node, error) {
	return huber("Huber", input, target, c)
}

// SmoothL1 returns Huber divided by delta (torch.nn.functional.smooth_l1_loss, whose beta
// is delta).
func SmoothL1(input, target *G.Node, c HuberConfig) (*G.Node, error) {
	return huber("SmoothL1", input, target, c)
}

func huber(name string, input, target *G.Node, c HuberConfig) (*G.Node, error) {
	if c.Delta < 0 || math.IsNaN(c.Delta) || math.IsInf(c.Delta, 1) {
		return nil, fmt.Errorf("graph: %s: delta: got %v, want a finite number above 0, or 0 for 1", name, c.Delta)
	}
	if c.Delta == 0 {
		c.Delta = 1
	}
	return lossOf(elementLoss{Name: name, C: c.Delta, Reduction: c.Reduction}, input, target, nil)
}

// BCEWithLogits returns the mean of −p·y·log σ(x) − (1 − y)·log(1 − σ(x)) for logits x and
// targets y from 0 to 1, p being the weight of the positive
// (torch.nn.functional.binary_cross_entropy_with_logits).
func BCEWithLogits(input, target *G.Node, c BCEConfig) (*G.Node, error) {
	return lossOf(elementLoss{Name: "BCEWithLogits", Reduction: c.Reduction}, input, target, c.PosWeight)
}

// KLDiv returns the mean of target·(log target − input) for logarithms of probabilities
// and probabilities (torch.nn.functional.kl_div); a target of 0 has none, whatever the
// input. The divergence of distributions, one a row, is the BatchMeanReduction.
func KLDiv(input, target *G.Node, c KLDivConfig) (*G.Node, error) {
	name := "KLDiv"
	if err := c.Reduction.check(name); err != nil {
		return nil, err
	}
	return lossOf(elementLoss{Name: name, LogTarget: c.LogTarget, Reduction: c.Reduction}, input, target, nil)
}

// lossFunctions are the loss of an element, and its derivatives by input and by target;
// without the last, it is the negative of the one before.
type lossFunctions[F kernel.Float] struct{ each, slope, targetSlope kernel.LossFunction[F] }

func lossesOf[F kernel.Float](o elementLoss) lossFunctions[F] {
	switch o.Name {
	case "MSE":
		return lossFunctions[F]{each: kernel.SquaredError[F], slope: kernel.SquaredErrorSlope[F]}
	case "L1":
		return lossFunctions[F]{each: kernel.AbsoluteError[F], slope: kernel.AbsoluteErrorSlope[F]}
	case "Huber", "SmoothL1":
		return lossFunctions[F]{each: kernel.HuberError[F], slope: kernel.HuberErrorSlope[F]}
	case "BCEWithLogits":
		return lossFunctions[F]{kernel.BinaryCrossEntropy[F], kernel.BinaryCrossEntropySlope[F],
			kernel.BinaryCrossEntropyTargetSlope[F]}
	}
	if o.LogTarget {
		return lossFunctions[F]{kernel.LogDivergence[F], kernel.LogDivergenceSlope[F], kernel.LogDivergenceTargetSlope[F]}
	}
	return lossFunctions[F]{kernel.Divergence[F], kernel.DivergenceSlope[F], kernel.DivergenceTargetSlope[F]}
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
	a := kernel.LossArguments[F]{X: floats[F](in[0]), Y: floats[F](in[1]), C: o.C, Reads: o.Reads}
	if o.Weighted {
		a.Weight = floats[F](in[2])
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

func (o loss[F]) inPlace() int {
	if o.Reduction == NoReduction {
		return 0
	}
	return -1
}

func (o loss[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	a, y, each := lossArguments[F](o.elementLoss, in), floats[F](out), lossesOf[F](o.elementLoss).each
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
	dloss := floats[F](in[len(in)-1])
	kernel.EachLoss(floats[F](out), slope, lossArguments[F](o.elementLoss, in), dloss, o.divisor(in[0].Shape()))
	return nil
}

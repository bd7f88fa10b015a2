package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"attention/internal/expr"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// A Reduction is how a loss combines the losses of its elements, or rows.
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
	Delta     float64 // where the quadratic part ends, above 0 (torch's delta, beta); 0 means 1
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

// MSE returns the mean of (input − target)² over all elements (torch.nn.functional.mse_loss). As in every loss here,
// input and target have the same shape, gradients flow into both, and losses are summed in float64, so that the result
// agrees with float64's to 1e-6 at any size. gorgonia.Mean of gorgonia.Square has an error of 1 % at 9 million elements
// of float32.
func MSE(input, target *G.Node, c LossConfig) (*G.Node, error) {
	l := lossOf("MSE", c.Reduction, input, target)
	d := l.Of(Sub(l.input, l.target))
	return l.reduced(l.Of(Mul(d, d)), 1)
}

// L1 returns the mean of |input − target| (torch.nn.functional.l1_loss). Equal elements
// pass no gradient.
func L1(input, target *G.Node, c LossConfig) (*G.Node, error) {
	l := lossOf("L1", c.Reduction, input, target)
	return l.reduced(l.Of(absolute(l.Of(Sub(l.input, l.target)))), 1)
}

// Huber returns the mean of ½d² where |d| ≤ delta, and of delta·(|d| − ½delta) elsewhere,
// d = input − target (torch.nn.functional.huber_loss).
func Huber(input, target *G.Node, c HuberConfig) (*G.Node, error) {
	return huber("Huber", input, target, c, 1)
}

// SmoothL1 returns Huber divided by delta (torch.nn.functional.smooth_l1_loss, whose beta
// is delta).
func SmoothL1(input, target *G.Node, c HuberConfig) (*G.Node, error) {
	return huber("SmoothL1", input, target, c, 1/cmp.Or(c.Delta, 1))
}

func huber(name string, input, target *G.Node, c HuberConfig, factor float64) (*G.Node, error) {
	if c.Delta < 0 || math.IsNaN(c.Delta) || math.IsInf(c.Delta, 1) {
		return nil, fmt.Errorf("graph: %s: delta: got %v, want a finite number above 0, or 0 for 1", name, c.Delta)
	}
	delta := cmp.Or(c.Delta, 1)
	l := lossOf(name, c.Reduction, input, target)
	d := l.Of(Sub(l.input, l.target))
	// The derivative of near·(d − near/2) by d is near, whether or not near is differentiated: d − near or near's
	// derivative is 0.
	near := l.Of(Detach(l.Of(Clamp(d, -delta, delta)))) // d limited to ±delta
	return l.reduced(l.Of(Mul(near, l.Of(Sub(d, l.Of(Scale(near, 0.5)))))), factor)
}

// BCEWithLogits returns the mean of −p·y·log σ(x) − (1 − y)·log(1 − σ(x)) for logits x and
// targets y from 0 to 1, p being the weight of the positive
// (torch.nn.functional.binary_cross_entropy_with_logits).
func BCEWithLogits(input, target *G.Node, c BCEConfig) (*G.Node, error) {
	l := lossOf("BCEWithLogits", c.Reduction, input, target)
	positive := l.target
	if c.PosWeight != nil {
		positive = l.Of(Mul(positive, l.weight(c.PosWeight)))
	}
	negative := l.Of(Sub(constant(l.target, 1), l.target))
	// log(1 − σ(x)) = log σ(−x). The terms are computed separately, because one of them may be infinite.
	yes := l.Of(Mul(positive, l.Of(LogSigmoid(l.input))))
	no := l.Of(Mul(negative, l.Of(LogSigmoid(l.Of(Scale(l.input, -1))))))
	return l.reduced(l.Of(Add(yes, no)), -1)
}

// KLDiv returns the mean of target·(log target − input), where input holds logarithms of probabilities and target holds
// probabilities (torch.nn.functional.kl_div). An element with target 0 contributes 0, whatever the input. With
// BatchMeanReduction it is the mean divergence of distributions, one per row.
func KLDiv(input, target *G.Node, c KLDivConfig) (*G.Node, error) {
	l := lossOf("KLDiv", c.Reduction, input, target)
	p, logs := l.target, l.target
	if c.LogTarget {
		p = l.Of(Exp(logs))
	} else { // log 1 replaces log 0, whose derivative is infinite
		logs = l.Of(logarithm(l.Of(Where(p, p, constant(p, 1)))))
	}
	ratio := l.Of(whereNotZero(p, l.Of(Sub(logs, l.input))))
	return l.reduced(l.Of(Mul(p, ratio)), 1)
}

// lossFormula is the formula of a loss of elements.
type lossFormula struct {
	expr.Formula
	name          string
	reduction     Reduction
	input, target *G.Node
}

// lossOf checks the arguments of a loss and begins its formula.
func lossOf(name string, r Reduction, input, target *G.Node) *lossFormula {
	l := &lossFormula{name: name, reduction: r}
	if err := l.check(input, target); err != nil {
		l.input = l.Of(nil, err)
		l.target = l.input
	}
	return l
}

func (l *lossFormula) check(input, target *G.Node) error {
	if err := l.reduction.check(l.name); err != nil {
		return err
	}
	in, err := checked(l.name, named("input", "target"), input, target)
	if err != nil {
		return err
	}
	l.input, l.target = in[0], in[1]
	x := l.input.Shape()
	if err := checkNotEmpty(l.name, "input", x); err != nil {
		return err
	}
	if l.reduction == BatchMeanReduction && x.Dims() == 0 {
		return &ShapeError{l.name, "input", x, "(B, …) for batchmean"}
	}
	return checkWanted(l.name, named("target"), []tensor.Shape{l.target.Shape()}, x)
}

// weight returns the weight of the elements, without a gradient.
func (l *lossFormula) weight(w *G.Node) *G.Node {
	if l.Err() != nil {
		return l.input
	}
	_, out, err := readTogether(l.name, named("input", "pos_weight"), l.input, w)
	if x := l.input.Shape(); err == nil && !slices.Equal(out, x) {
		err = &ShapeError{l.name, "pos_weight", w.Shape(), fmt.Sprintf("one that broadcasts to %v", x)}
	}
	if err != nil {
		return l.Of(nil, err)
	}
	return l.Of(Detach(w))
}

// reduced combines the losses of the elements, times a factor, to the loss.
func (l *lossFormula) reduced(each *G.Node, factor float64) (*G.Node, error) {
	switch l.reduction {
	case MeanReduction:
		each = l.Of(Mean(each, ReduceConfig{}))
	case SumReduction:
		each = l.Of(Sum(each, ReduceConfig{}))
	case BatchMeanReduction:
		each = l.Of(Sum(each, ReduceConfig{}))
		if l.Err() == nil {
			factor /= float64(l.input.Shape()[0])
		}
	}
	if factor != 1 {
		each = l.Of(Scale(each, factor))
	}
	return l.Result(each)
}

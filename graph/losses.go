package graph

import (
	"cmp"
	"fmt"
	"math"

	G "gorgonia.org/gorgonia"
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
	return lossOf(elementLoss{Name: name, C: cmp.Or(c.Delta, 1), Reduction: c.Reduction}, input, target, nil)
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

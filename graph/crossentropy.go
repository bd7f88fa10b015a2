package graph

import (
	"fmt"
	"slices"

	"attention/internal/dense"
	"attention/internal/kernel"

	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// IgnoreTarget marks a row that CrossEntropy leaves out (torch's ignore_index).
const IgnoreTarget = -100

// CrossEntropyConfig sets CrossEntropy.
type CrossEntropyConfig struct {
	Reduction      Reduction
	LabelSmoothing float64 // the part of each target that is spread evenly over all classes, in [0, 1]
	Weight         *G.Node // (V), of the classes; nil means 1 each. It has no gradient
	Ignore         []int   // targets of rows to leave out, besides IgnoreTarget
}

// CrossEntropy returns the mean of −log softmax(logits)[target] over the rows, a scalar in nats
// (torch.nn.functional.cross_entropy): logits (…, V), targets int (…) with 0 ≤ target < V, or IgnoreTarget for a row to
// leave out. With label smoothing ε and weights w, the loss of a row is
//
//	−(1 − ε)·w[target]·log p[target] − ε/V·Σ w[v]·log p[v]
//
// and the mean is the sum of the losses divided by the sum of the w[target]. With NoReduction the losses are (…), 0 in
// rows that are left out. A mean over no rows, or over weights that sum to 0, is an error when the graph runs, where
// torch gives NaN.
func CrossEntropy(logits, targets *G.Node, c CrossEntropyConfig) (*G.Node, error) {
	s, err := c.resolve("CrossEntropy")
	if err != nil {
		return nil, err
	}
	return applyTyped(crossEntropy[float32]{s}, crossEntropy[float64]{s}, logits, targets, c.Weight)
}

// resolve checks the settings of an op.
func (c CrossEntropyConfig) resolve(op string) (classLoss, error) {
	if err := c.Reduction.check(op); err != nil {
		return classLoss{}, err
	}
	if !(c.LabelSmoothing >= 0 && c.LabelSmoothing <= 1) {
		return classLoss{}, fmt.Errorf("graph: %s: label_smoothing: got %v, want 0 to 1", op, c.LabelSmoothing)
	}
	s := classLoss{Reduction: c.Reduction, Smoothing: c.LabelSmoothing, Ignore: []int64{IgnoreTarget}}
	for _, id := range c.Ignore {
		s.Ignore = append(s.Ignore, int64(id))
	}
	return s, nil
}

// classLoss is the settings of a cross entropy.
type classLoss struct {
	Reduction Reduction
	Smoothing float64
	Ignore    []int64
}

var classLossArgs = []arg{{name: "logits"}, {name: "targets", integer: true},
	{name: "weight", fixed: true, optional: true}}

// targetsOf returns an op's checked targets among cols classes with these weights, and the divisor of the sum of the
// losses.
func targetsOf[F kernel.Float](op string, o classLoss, ids *tensor.Dense, cols int, weight []F) (
	t kernel.Targets[F], divisor float64, err error) {
	t = kernel.Targets[F]{IDs: dense.Ints(ids), Ignore: o.Ignore, Cols: cols, Smoothing: o.Smoothing, Weight: weight}
	n, total := 0, 0.0
	for i, id := range t.IDs {
		if slices.Contains(o.Ignore, id) {
			continue
		}
		if id < 0 || id >= int64(t.Cols) {
			return t, 0, fmt.Errorf("graph: %s: targets: got %d at %d, want 0 <= target < V=%d or %s",
				op, id, i, t.Cols, o.ignored())
		}
		n++
		if weight != nil {
			total += float64(t.Weight[id])
		}
	}
	if o.Reduction != MeanReduction {
		return t, 1, nil
	}
	if n == 0 {
		return t, 0, fmt.Errorf("graph: %s: targets: got %d times %s, want a target that counts",
			op, len(t.IDs), o.ignored())
	}
	if weight == nil {
		return t, float64(n), nil
	}
	if total == 0 {
		return t, 0, fmt.Errorf("graph: %s: weight: got 0 in sum for %d targets, want another sum", op, n)
	}
	return t, total, nil
}

// ignored returns the text that names the targets to leave out.
func (o classLoss) ignored() string {
	if len(o.Ignore) == 1 {
		return fmt.Sprint(o.Ignore[0])
	}
	return fmt.Sprintf("one of %v", o.Ignore)
}

// crossEntropy sums over rows. It is an op because no other op reads the element of a row that a target names.
type crossEntropy[F kernel.Float] struct{ classLoss }

func (o crossEntropy[F]) spec() spec { return spec{name: "CrossEntropy", args: classLossArgs} }

func (o crossEntropy[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	logits, ids := in[0], in[1]
	if logits.Dims() == 0 {
		return nil, &ShapeError{"CrossEntropy", "logits", logits, "(…, V)"}
	}
	rows := logits[:logits.Dims()-1]
	if !slices.Equal(ids, rows) {
		return nil, &ShapeError{"CrossEntropy", "targets", ids, fmt.Sprintf("%v", rows)}
	}
	if in[2] != nil && (in[2].Dims() != 1 || in[2][0] != last(logits)) {
		return nil, &ShapeError{"CrossEntropy", "weight", in[2], fmt.Sprintf("(V=%d)", last(logits))}
	}
	if o.Reduction == NoReduction {
		return rows.Clone(), nil
	}
	return tensor.ScalarShape(), nil
}

func (o crossEntropy[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	t, divisor, err := targetsOf("CrossEntropy", o.classLoss, in[1], last(in[0].Shape()), floats[F](in[2]))
	if err != nil {
		return err
	}
	x, y := dense.Floats[F](in[0]), dense.Floats[F](out)
	if o.Reduction == NoReduction {
		kernel.CrossEntropy(y, x, t)
	} else {
		y[0] = F(kernel.SumCrossEntropy(x, t) / divisor)
	}
	return nil
}

// With p = softmax(x) and the loss of a row as above: dx = dloss·(((1 − ε)·w[target] + ε/V·Σ w)·p − (1 −
// ε)·w[target]·onehot(target) − ε/V·w), divided by the loss's divisor, and 0 in rows that are left out.
func (o crossEntropy[F]) backward(in G.Nodes, _, dloss *G.Node) (G.Nodes, error) {
	return only(apply(crossEntropyBackward[F]{classLoss: o.classLoss}, append(slices.Clone(in), dloss)...))
}

type crossEntropyBackward[F kernel.Float] struct {
	sameShape
	isGradient
	classLoss
}

func (o crossEntropyBackward[F]) spec() spec {
	return spec{name: "CrossEntropyBackward", args: append(slices.Clone(classLossArgs), arg{name: "dloss"}), inPlace: first}
}

func (o crossEntropyBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	t, divisor, err := targetsOf("CrossEntropy", o.classLoss, in[1], last(in[0].Shape()), floats[F](in[2]))
	if err != nil {
		return err
	}
	dloss := dense.Floats[F](in[len(in)-1])
	kernel.CrossEntropyBackward(dense.Floats[F](out), dense.Floats[F](in[0]), t, dloss, divisor)
	return nil
}

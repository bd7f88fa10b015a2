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

// CrossEntropy returns the mean of −log softmax(logits)[target] over the rows, a scalar
// in nats (torch.nn.functional.cross_entropy): logits (…, V), targets int (…) with
// 0 ≤ target < V, or IgnoreTarget for a row that does not count. A run in which no row
// counts fails.
func CrossEntropy(logits, targets *G.Node) (*G.Node, error) {
	return applyTyped(crossEntropy[float32]{}, crossEntropy[float64]{}, logits, targets)
}

type crossEntropy[F kernel.Float] struct{}

func (crossEntropy[F]) spec() (string, []arg) {
	return "CrossEntropy", []arg{{name: "logits"}, {name: "targets", integer: true}}
}

func (crossEntropy[F]) shape(in []tensor.Shape) (tensor.Shape, error) {
	logits, targets := in[0], in[1]
	if logits.Dims() == 0 {
		return nil, &ShapeError{"CrossEntropy", "logits", logits, "(…, V)"}
	}
	if rows := logits[:logits.Dims()-1]; !slices.Equal(targets, rows) {
		return nil, &ShapeError{"CrossEntropy", "targets", targets, fmt.Sprintf("%v", rows)}
	}
	return tensor.ScalarShape(), nil
}

func (crossEntropy[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, v, targets := floats[F](in[0]), last(in[0].Shape()), dense.Ints(in[1])
	rows, err := countTargets(targets, v)
	if err != nil {
		return err
	}
	// Summed in float64, so that the mean over many rows keeps float32's digits.
	total := kernel.CrossEntropy(x, targets, v, IgnoreTarget)
	floats[F](out)[0] = F(total / float64(rows))
	return nil
}

// loss = Σ −log p[target]/N over the N rows that count, p = softmax(x):
// dx = dloss·(p − onehot(target))/N, 0 in the other rows.
func (crossEntropy[F]) backward(in G.Nodes, _, dloss *G.Node) (G.Nodes, error) {
	dx, err := apply(crossEntropyBackward[F]{}, in[0], in[1], dloss)
	return G.Nodes{dx, nil}, err
}

type crossEntropyBackward[F kernel.Float] struct {
	sameShape
	intoFirst
	isGradient
}

func (crossEntropyBackward[F]) spec() (string, []arg) {
	return "CrossEntropyBackward", []arg{{name: "logits"}, {name: "targets", integer: true}, {name: "dloss"}}
}

func (crossEntropyBackward[F]) forward(out *tensor.Dense, in []*tensor.Dense) error {
	x, v, targets := floats[F](in[0]), last(in[0].Shape()), dense.Ints(in[1])
	rows, err := countTargets(targets, v)
	if err != nil {
		return err
	}
	scale := float64(floats[F](in[2])[0]) / float64(rows)
	kernel.CrossEntropyBackward(floats[F](out), x, targets, v, IgnoreTarget, F(scale))
	return nil
}

// countTargets checks the targets and counts those that are not ignored.
func countTargets(targets []int64, v int) (int, error) {
	n := 0
	for i, t := range targets {
		if t == IgnoreTarget {
			continue
		}
		if t < 0 || t >= int64(v) {
			return 0, fmt.Errorf("graph: CrossEntropy: targets: got %d at %d, want 0 <= target < V=%d or %d",
				t, i, v, IgnoreTarget)
		}
		n++
	}
	if n == 0 {
		return 0, fmt.Errorf("graph: CrossEntropy: targets: got %d times %d, want a target that counts",
			len(targets), IgnoreTarget)
	}
	return n, nil
}

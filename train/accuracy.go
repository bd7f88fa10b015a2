package train

import (
	"cmp"
	"fmt"
	"slices"

	"attention/graph"
	"attention/internal/dense"

	"gorgonia.org/tensor"
)

// Accuracy returns the share of the rows of logits (…, V) whose largest element, the first of equal ones, is at the
// row's label: (logits.argmax(-1) == labels).mean() in torch. labels are int or int64 (…), 0 ≤ label < V; rows with
// graph.IgnoreTarget are left out.
func Accuracy(logits, labels *tensor.Dense) (float64, error) {
	if err := checkLogits(logits, labels); err != nil {
		return 0, fmt.Errorf("train: %w", err)
	}
	right, rows, v := 0, 0, logits.Shape()[logits.Dims()-1]
	all := dense.Float64s(logits)
	for i, label := range dense.Ints(labels) {
		if label == graph.IgnoreTarget {
			continue
		}
		if label < 0 || label >= int64(v) {
			return 0, fmt.Errorf("train: labels: got %d at %d, want 0 <= label < V=%d or %d", label, i, v, graph.IgnoreTarget)
		}
		row := all[i*v:][:v]
		best := slices.Index(row, slices.Max(row)) // equal elements contain no NaN
		if best < 0 {
			return 0, fmt.Errorf("train: logits: got NaN in row %d, want numbers", i)
		}
		if int64(best) == label {
			right++
		}
		rows++
	}
	if rows == 0 {
		return 0, fmt.Errorf("train: labels: got %d alone, want a label that counts", graph.IgnoreTarget)
	}
	return float64(right) / float64(rows), nil
}

// checkLogits returns an error for logits and labels that do not fit each other.
func checkLogits(logits, labels *tensor.Dense) error {
	if err := cmp.Or(checkDense("logits", logits), checkLayout("labels", labels)); err != nil {
		return err
	}
	last := logits.Dims() - 1
	switch dt := labels.Dtype(); {
	case dt != tensor.Int && dt != tensor.Int64:
		return fmt.Errorf("labels: got %v, want int or int64", dense.TypeName(dt))
	case last < 0 || logits.Shape()[last] == 0:
		return fmt.Errorf("logits: shape %v, want (…, V)", logits.Shape())
	case !slices.Equal(labels.Shape(), logits.Shape()[:last]):
		return fmt.Errorf("labels: shape %v, want %v", labels.Shape(), logits.Shape()[:last])
	}
	return nil
}

package train

import (
	"fmt"
	"math"
	"slices"

	"attention/graph"
	"attention/internal/dense"
	"attention/internal/kernel"

	"gorgonia.org/tensor"
)

// Accuracy returns the share of the rows of logits (…, V) whose largest element, the first
// of equal ones, is at the row's label: (logits.argmax(-1) == labels).mean() in torch.
// labels are int or int64 (…), 0 ≤ label < V; rows with graph.IgnoreTarget do not count.
func Accuracy(logits, labels *tensor.Dense) (float64, error) {
	if err := checkLogits(logits, labels); err != nil {
		return 0, err
	}
	right, rows, v := 0, 0, logits.Shape()[logits.Dims()-1]
	largest := dense.ByType(logits.Dtype(), largestOf[float32], largestOf[float64])
	for i, label := range dense.Ints(labels) {
		if label == graph.IgnoreTarget {
			continue
		}
		if label < 0 || label >= int64(v) {
			return 0, fmt.Errorf("train: labels: got %d at %d, want 0 <= label < V=%d or %d", label, i, v,
				graph.IgnoreTarget)
		}
		best, ok := largest(logits, i*v, v)
		if !ok {
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

// checkLogits refuses logits and labels that do not belong together.
func checkLogits(logits, labels *tensor.Dense) error {
	if err := checkDense("logits", logits); err != nil {
		return err
	}
	if err := checkLayout("labels", labels); err != nil {
		return err
	}
	if dt := labels.Dtype(); dt != tensor.Int && dt != tensor.Int64 {
		return fmt.Errorf("train: labels: got %v, want int or int64", dense.TypeName(dt))
	}
	if logits.Dims() == 0 || logits.Shape()[logits.Dims()-1] == 0 {
		return fmt.Errorf("train: logits: shape %v, want (…, V)", logits.Shape())
	}
	if rows := logits.Shape()[:logits.Dims()-1]; !slices.Equal(labels.Shape(), rows) {
		return fmt.Errorf("train: labels: shape %v, want %v", labels.Shape(), rows)
	}
	return nil
}

// largestOf returns the index of the first of the largest of n elements from one on, and false if one is NaN.
func largestOf[F kernel.Float](logits *tensor.Dense, from, n int) (index int, ok bool) {
	row := dense.Floats[F](logits)[from:][:n]
	for i, v := range row {
		if math.IsNaN(float64(v)) {
			return 0, false
		}
		if v > row[index] {
			index = i
		}
	}
	return index, true
}

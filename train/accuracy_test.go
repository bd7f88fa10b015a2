package train_test

import (
	"math"
	"testing"

	"attention/graph"
	"attention/internal/golden"
	"attention/internal/small"
	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func labels(shape []int, v ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v))
}

func TestAccuracy(t *testing.T) {
	const none = graph.IgnoreTarget
	logits := []float64{1, 3, 2, 5, 5, 4, math.Inf(-1), -9, math.Inf(1), math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, c := range []struct {
		about  string
		labels []int
		want   float64
	}{
		{about: "all right; of equal ones the first is the largest", labels: []int{1, 0, 2, 0}, want: 1},
		{about: "none", labels: []int{0, 1, 1, 2}, want: 0},
		{about: "one of four", labels: []int{0, 0, 1, 1}, want: 0.25},
		{about: "ignored ones do not count", labels: []int{1, none, 0, none}, want: 0.5},
	} {
		for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
			got := must(train.Accuracy(golden.Dense(dt, logits, 4, 3), labels([]int{4}, c.labels...)))
			require.Equal(t, c.want, got, c.about)
			got = must(train.Accuracy(golden.Dense(dt, logits, 2, 2, 3), labels([]int{2, 2}, c.labels...)))
			require.Equal(t, c.want, got, c.about)
		}
	}
	got := must(train.Accuracy(small.Vector(1, 2), tensor.New(tensor.FromScalar(int64(1)))))
	require.Equal(t, 1.0, got, "one row without axes")
}

func TestWrongAccuraciesAreRefused(t *testing.T) {
	x, y := golden.Dense(tensor.Float32, []float64{1, 2, 3, 4}, 2, 2), labels([]int{2}, 0, 1)
	for _, c := range []struct {
		logits, labels *tensor.Dense
		wantErr        string
	}{
		{nil, y, "logits: got nil or the zero value, want a tensor"},
		{x, nil, "labels: got nil or the zero value, want a tensor"},
		{&tensor.Dense{}, y, "logits: got nil or the zero value, want a tensor"},
		{x, &tensor.Dense{}, "labels: got nil or the zero value, want a tensor"},
		{y, y, "logits: got int, want float32 or float64"},
		{x, x, "labels: got float32, want int or int64"},
		{tensor.New(tensor.FromScalar(1.0)), y, "logits: shape (), want (…, V)"},
		{x, labels([]int{2, 1}, 0, 1), "labels: shape (2, 1), want (2)"},
		{x, labels([]int{2}, 0, 2), "labels: got 2 at 1, want 0 <= label < V=2 or -100"},
		{x, labels([]int{2}, -1, 0), "labels: got -1 at 0, want 0 <= label < V=2 or -100"},
		{x, labels([]int{2}, -100, -100), "labels: got -100 alone, want a label that counts"},
		{golden.Dense(tensor.Float64, []float64{1, 2, math.NaN(), 4}, 2, 2), y, "logits: got NaN in row 1, want numbers"},
	} {
		_, err := train.Accuracy(c.logits, c.labels)
		require.EqualError(t, err, "train: "+c.wantErr)
	}
}

package train_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"attention/train"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

var _ train.Resumable = (*train.Batches)(nil)

// rowsOf returns rows of two tensors whose values identify the row.
func rowsOf(n int) train.Values {
	x, y := make([]float32, 2*n), make([]int, n)
	for i := range n {
		x[2*i], x[2*i+1], y[i] = float32(i), float32(-i), i
	}
	return train.Values{"x": tensor.New(tensor.WithShape(n, 2), tensor.WithBacking(x)),
		"y": tensor.New(tensor.WithShape(n), tensor.WithBacking(y))}
}

// take reads n batches and returns their rows, with −1 for io.EOF.
func take(t *testing.T, s *train.Batches, n int) (rows []int) {
	for range n {
		b, err := s.Next()
		if errors.Is(err, io.EOF) {
			rows = append(rows, -1)
			continue
		}
		require.NoError(t, err)
		y := b.Inputs["y"].Ints()
		require.Equal(t, len(y), b.Tokens)
		for i, row := range y {
			require.Equal(t, []float32{float32(row), float32(-row)}, b.Inputs["x"].Float32s()[2*i:2*i+2], "rows stay together")
		}
		rows = append(rows, y...)
	}
	return rows
}

func TestBatchesInOrder(t *testing.T) {
	for _, c := range []struct {
		about  string
		config train.BatchConfig
		want   []int // of five calls
	}{
		{"endless", train.BatchConfig{BatchSize: 2}, []int{0, 1, 2, 3, 4, 5, 0, 1, 2, 3}},
		{"an end", train.BatchConfig{BatchSize: 3, Epochs: 1}, []int{0, 1, 2, 3, 4, 5, -1, 0, 1, 2, 3, 4, 5}},
		{"the rest is left out", train.BatchConfig{BatchSize: 4, DropLast: true, Epochs: 2},
			[]int{0, 1, 2, 3, 0, 1, 2, 3, -1, 0, 1, 2, 3, 0, 1, 2, 3}},
		{"fewer rows at the end", train.BatchConfig{BatchSize: 4, Epochs: 2}, []int{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, -1}},
		{"all rows", train.BatchConfig{BatchSize: 6, Epochs: 1},
			[]int{0, 1, 2, 3, 4, 5, -1, 0, 1, 2, 3, 4, 5, -1, 0, 1, 2, 3, 4, 5}},
	} {
		require.Equal(t, c.want, take(t, must(train.NewBatches(rowsOf(6), c.config)), 5), c.about)
	}
}

// Each epoch contains every row once, in its own order, which the seed determines, and so does the epoch after io.EOF.
func TestBatchesShuffle(t *testing.T) {
	orders := map[uint64][][]int{}
	for _, seed := range []uint64{1, 2} {
		for _, epochs := range []int{0, 1} {
			s := must(train.NewBatches(rowsOf(12), train.BatchConfig{BatchSize: 4, Shuffle: true, Seed: seed, Epochs: epochs}))
			for i := range 3 {
				order := take(t, s, 3)
				if epochs == 0 {
					orders[seed] = append(orders[seed], order)
				} else {
					require.Equal(t, orders[seed][i], order)
					require.Equal(t, []int{-1}, take(t, s, 1))
				}
				sorted := slices.Sorted(slices.Values(order))
				require.Equal(t, rowsOf(12)["y"].Ints(), sorted)
				require.NotEqual(t, sorted, order)
			}
		}
		require.NotEqual(t, orders[seed][0], orders[seed][1])
	}
	require.NotEqual(t, orders[1], orders[2])
}

// A source that gets the state of another returns that source's next batches, whatever its own position is.
func TestBatchesResume(t *testing.T) {
	c := train.BatchConfig{BatchSize: 3, Shuffle: true, Seed: 7, Epochs: 2}
	for n := range 18 {
		c.DropLast = n < 8
		first := must(train.NewBatches(rowsOf(10), c))
		take(t, first, n)
		second := must(train.NewBatches(rowsOf(10), c))
		take(t, second, 2)
		require.NoError(t, second.SetState(first.State()))
		require.Equal(t, take(t, first, 9), take(t, second, 9), n)
	}
	s := must(train.NewBatches(rowsOf(10), c))
	before := s.State()
	for wantErr, state := range map[string][]byte{
		"got 0 bytes, want 16": nil,
		"got row 12, want a multiple of 3 up to 10: was it other data?": append(make([]byte, 15), 12),
		"got row 4, want a multiple of 3 up to 10: was it other data?":  append(make([]byte, 15), 4),
	} {
		require.EqualError(t, s.SetState(state), "train: batches: state: "+wantErr)
		require.Equal(t, before, s.State())
	}
}

func TestWrongBatchesAreRefused(t *testing.T) {
	x := rowsOf(6)["x"]
	view := must(x.Slice(nil, tensor.S(0, 1)))
	for _, c := range []struct {
		values  train.Values
		config  train.BatchConfig
		wantErr string
	}{
		{values: rowsOf(6), wantErr: "BatchSize: got 0, want at least 1"},
		{values: rowsOf(6), config: train.BatchConfig{BatchSize: 2, Epochs: -1}, wantErr: "Epochs: got -1, want at least 0"},
		{values: rowsOf(6), config: train.BatchConfig{BatchSize: math.MaxInt, DropLast: true},
			wantErr: "BatchSize: got 9223372036854775807 for 6 rows, want at most as many"},
		{config: train.BatchConfig{BatchSize: 2}, wantErr: "values: got none, want a tensor"},
		{values: train.Values{"x": nil}, config: train.BatchConfig{BatchSize: 2},
			wantErr: `"x": got nil or the zero value, want a tensor`},
		{values: train.Values{"x": {}}, config: train.BatchConfig{BatchSize: 2},
			wantErr: `"x": got nil or the zero value, want a tensor`},
		{values: train.Values{"x": tensor.New(tensor.FromScalar(1.0))}, config: train.BatchConfig{BatchSize: 1},
			wantErr: `"x": shape (), want one row or more`},
		{values: train.Values{"x": view.(*tensor.Dense)}, config: train.BatchConfig{BatchSize: 1},
			wantErr: `"x": got a view or a column-major tensor of shape (6), want contiguous row-major data`},
		{values: train.Values{"x": x, "y": rowsOf(5)["y"]}, config: train.BatchConfig{BatchSize: 1},
			wantErr: `"y": got 5 rows, want 6 as of "x"`},
	} {
		_, err := train.NewBatches(c.values, c.config)
		require.EqualError(t, err, "train: batches: "+c.wantErr)
	}
}

func TestBatchConfigJSON(t *testing.T) {
	const text = `{"batch_size":8,"shuffle":true,"seed":18446744073709551615,"drop_last":true,"epochs":2}`
	var c train.BatchConfig
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	require.Equal(t, train.BatchConfig{BatchSize: 8, Shuffle: true, Seed: math.MaxUint64, DropLast: true, Epochs: 2}, c)
	require.Equal(t, text, string(must(json.Marshal(c))))
}

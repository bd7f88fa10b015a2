package dense_test

import (
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestRowMajor(t *testing.T) {
	ramp := func() *tensor.Dense {
		return tensor.New(tensor.WithShape(2, 3, 4), tensor.WithBacking(tensor.Range(tensor.Float32, 0, 24)))
	}
	columns := func(backing any, shape ...int) *tensor.Dense {
		return tensor.New(tensor.WithShape(shape...), tensor.AsFortran(backing))
	}
	slice := func(d *tensor.Dense, parts ...tensor.Slice) *tensor.Dense {
		s, err := d.Slice(parts...)
		require.NoError(t, err)
		return s.(*tensor.Dense)
	}
	transposed := ramp()
	require.NoError(t, transposed.T(2, 0, 1))
	for _, row := range []struct {
		name string
		of   *tensor.Dense
	}{
		{name: "as it is", of: ramp()},
		{name: "a part", of: slice(ramp(), nil, tensor.S(1, 3), tensor.S(0, 4, 2))},
		{name: "transposed", of: transposed},
		{name: "by columns", of: columns([]float32{1, 2, 3, 4, 5, 6}, 2, 3)},
		{name: "float64 of three axes by columns", of: columns(tensor.Range(tensor.Float64, 0, 24), 2, 3, 4)},
		{name: "a number by columns", of: columns([]float32{3}, 1, 1)},
		{name: "a row by columns", of: columns([]float32{1, 2, 3, 4}, 1, 4)},
		{name: "a column by columns", of: columns([]float32{1, 2, 3, 4}, 4, 1)},
		{name: "a column of a tensor by columns", of: slice(columns([]float32{1, 2, 3, 4, 5, 6}, 2, 3), nil, tensor.S(1))},
		{name: "a row of a tensor by columns", of: slice(columns([]float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.S(1))},
		{name: "integers by columns", of: columns([]int{1, 2, 3, 4, 5, 6}, 3, 2)},
		{name: "bools by columns", of: columns([]bool{true, false, false, true, true, false}, 3, 2)},
		{name: "a part by columns", of: slice(columns(tensor.Range(tensor.Float64, 0, 24), 4, 6), tensor.S(1, 3),
			tensor.S(2, 5))},
	} {
		got, err := dense.RowMajor(row.of)
		require.NoError(t, err, row.name)
		require.Equal(t, row.of.Shape(), got.Shape(), row.name)
		require.False(t, got.RequiresIterator() || got.DataOrder().IsColMajor(), row.name)
		for i := range got.Shape().TotalSize() {
			var at []int
			rest := i
			for axis := range got.Shape() {
				inner := got.Shape()[axis+1:].TotalSize()
				at, rest = append(at, rest/inner), rest%inner
			}
			want, err := row.of.At(at...)
			require.NoError(t, err, row.name)
			have, err := got.At(at...)
			require.NoError(t, err, row.name)
			require.Equal(t, want, have, "%s, element %v", row.name, at)
		}
	}
	same := ramp()
	got, err := dense.RowMajor(same)
	require.NoError(t, err)
	require.Same(t, same, got)
	_, err = dense.RowMajor(columns([]int8{1, 2, 3, 4, 5, 6}, 3, 2))
	require.EqualError(t, err, "got a tensor of int8 in column-major order, want row-major")
}

func TestRowMajorOfOtherValues(t *testing.T) {
	got, err := dense.RowMajor(G.NewF64(2))
	require.NoError(t, err)
	require.Equal(t, 2., got.Data())
	_, err = dense.RowMajor(nil)
	require.EqualError(t, err, "got a <nil>, want a *tensor.Dense or a scalar")
}

func TestCopyHasMemoryOfItsOwn(t *testing.T) {
	turned := tensor.New(tensor.WithShape(2, 3), tensor.WithBacking([]float64{1, 2, 3, 4, 5, 6}))
	require.NoError(t, turned.T())
	number := G.NewF64(1)
	for _, row := range []struct {
		name string
		of   G.Value
		want []float64
	}{
		{name: "a tensor", of: tensor.New(tensor.WithBacking([]float64{1, 2})), want: []float64{1, 2}},
		{name: "transposed", of: turned, want: []float64{1, 4, 2, 5, 3, 6}},
		{name: "a scalar", of: number, want: []float64{1}},
	} {
		got, err := dense.Copy(row.of)
		require.NoError(t, err, row.name)
		require.Equal(t, row.of.Shape(), got.Shape(), row.name)
		dense.Floats[float64](row.of)[0] = 9
		require.Equal(t, row.want, dense.Float64s(got), row.name)
	}
	_, err := dense.Copy(nil)
	require.Error(t, err)
}

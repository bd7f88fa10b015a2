package dense_test

import (
	"reflect"
	"testing"

	"attention/internal/dense"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// A slice is copied into the tensor's own memory, for every type that a file may hold.
func TestSetSlice(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64, tensor.Int, tensor.Int64, tensor.Int32, tensor.Int16,
		tensor.Int8, tensor.Uint8, tensor.Bool, tensor.Uint16} {
		from, to := tensor.New(tensor.Of(dt), tensor.WithShape(2, 3)), tensor.New(tensor.Of(dt), tensor.WithShape(2, 3))
		one := reflect.ValueOf(from.Data()).Index(4)
		if dt == tensor.Bool {
			one.SetBool(true)
		} else {
			one.Set(reflect.ValueOf(1).Convert(dt.Type))
		}
		require.NotEqual(t, from.Data(), to.Data(), dt)
		dense.SetSlice(to, dense.Slice(from))
		require.Equal(t, from.Data(), to.Data(), dt)
	}
	x := tensor.New(tensor.WithShape(3), tensor.WithBacking([]float32{1, 2, 3}))
	require.Equal(t, []float32{2, 3}, dense.FromBytes[float32](dense.BytesOf(x, 1, 3)))
	copy(dense.BytesOf(x, 0, 1), dense.Bytes([]float32{7}))
	require.Equal(t, []float32{7, 2, 3}, dense.Floats[float32](x))
}

func TestForm(t *testing.T) {
	x := tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Float32))
	require.Equal(t, "float32 (2, 3)", dense.Form(x))
	require.NoError(t, x.T())
	require.Equal(t, "a view of float32 (3, 2)", dense.Form(x))
	require.Equal(t, "nil", dense.Form(nil))
	require.Equal(t, "an empty tensor", dense.Form(new(tensor.Dense)))
	require.False(t, dense.IsTensor(nil))
	require.False(t, dense.IsTensor(new(tensor.Dense)))
	require.True(t, dense.IsTensor(x))
}

package shapes_test

import (
	"testing"

	"attention/internal/shapes"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

type values = map[string]*tensor.Dense

func of(dt tensor.Dtype, shape ...int) *tensor.Dense {
	return tensor.New(tensor.Of(dt), tensor.WithShape(shape...))
}

// Names, types and shapes distinguish tensors, and nothing else does.
func TestCacheOfForms(t *testing.T) {
	var c shapes.Cache[int]
	all := []values{
		{"x": of(tensor.Float32, 2, 3)},
		{"x": of(tensor.Float32, 3, 2)},
		{"x": of(tensor.Float32, 6)},
		{"x": of(tensor.Float64, 2, 3)},
		{"y": of(tensor.Float32, 2, 3)},
		{"x": of(tensor.Float32, 2, 3), "y": of(tensor.Float32, 2, 3)},
		{"x": of(tensor.Int, 2, 3), "y": of(tensor.Int64, 2, 3)},
		{"x": of(tensor.Int64, 2, 3), "y": of(tensor.Int, 2, 3)},
		{"x": tensor.New(tensor.FromScalar(1.0))},
		{"x": of(tensor.Float64, 1)},
		{},
	}
	for i, v := range all {
		_, ok := c.Get(v)
		require.False(t, ok, "%v", v)
		_, dropped := c.Add(v, i, len(all))
		require.False(t, dropped)
	}
	for i, v := range all {
		same := values{}
		for name, d := range v {
			same[name] = d.Clone().(*tensor.Dense)
		}
		got, ok := c.Get(same)
		require.True(t, ok)
		require.Equal(t, i, got)
	}
	for _, v := range []values{{"x": nil}, {"x": {}}, {"x": of(tensor.Float32, 2, 3), "y": nil}, {"z": of(tensor.Int, 2)}} {
		_, ok := c.Get(v)
		require.False(t, ok)
	}
}

// A cache copies the shapes.
func TestCacheDropsTheLeastRecentlyUsed(t *testing.T) {
	var c shapes.Cache[string]
	a, b, d := values{"x": of(tensor.Int, 1)}, values{"x": of(tensor.Int, 2)}, values{"x": of(tensor.Int, 3)}
	c.Add(a, "a", 2)
	c.Add(b, "b", 2)
	_, ok := c.Get(a)
	require.True(t, ok)
	dropped, ok := c.Add(d, "d", 2)
	require.True(t, ok)
	require.Equal(t, "b", dropped)
	_, ok = c.Get(b)
	require.False(t, ok)

	changed := of(tensor.Int, 2, 3)
	c.Add(values{"x": changed}, "x", 2)
	require.NoError(t, changed.Reshape(3, 2))
	_, ok = c.Get(values{"x": of(tensor.Int, 2, 3)})
	require.True(t, ok)
}

func TestText(t *testing.T) {
	require.Equal(t, "no values", shapes.Text(nil))
	require.Equal(t, "ids int (2, 9), n int (), x nil",
		shapes.Text(values{"x": nil, "ids": of(tensor.Int, 2, 9), "n": tensor.New(tensor.FromScalar(1))}))
}

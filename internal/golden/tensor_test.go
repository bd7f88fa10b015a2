package golden

import (
	"testing"

	"github.com/stretchr/testify/assert"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

func TestDenseAndFloats(t *testing.T) {
	v := []float64{0.1, -2, 3, 4, 5, 6}
	for _, row := range []struct {
		dt    tensor.Dtype
		first float64
	}{{dt: tensor.Float64, first: 0.1}, {dt: tensor.Float32, first: float64(float32(0.1))}} {
		d := Dense(row.dt, v, 2, 3)
		assert.Equal(t, row.dt, d.Dtype())
		assert.Equal(t, tensor.Shape{2, 3}, d.Shape())
		floats := Floats(t, d)
		assert.Equal(t, []float64{row.first, -2, 3, 4, 5, 6}, floats)
		floats[0] = 9
		assert.Equal(t, row.first, Floats(t, d)[0], "a copy")
		if row.dt == tensor.Float64 {
			d.Float64s()[0] = 9
		}
	}
	assert.Equal(t, 0.1, v[0], "a copy")
	r := record(func(t testing.TB) { Floats(t, G.NewI(3)) })
	assert.Equal(t, []string{"golden: got a value of type int, want a tensor of float32 or float64"}, r.messages)
	assert.True(t, r.stopped)
}

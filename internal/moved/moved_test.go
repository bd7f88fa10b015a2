package moved_test

import (
	"fmt"
	"testing"

	"attention/internal/moved"
	"attention/layers"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

func TestSnapshot(t *testing.T) {
	for _, dt := range []tensor.Dtype{tensor.Float32, tensor.Float64} {
		p := layers.NewParams(dt, 1)
		for i := range 7 {
			_, err := p.Scope("").Param(fmt.Sprint(i), layers.Constant(3), 2, 2)
			require.NoError(t, err)
		}
		names := func(all []moved.Tensor) (list []string) {
			for _, m := range all {
				list = append(list, m.Name)
			}
			return list
		}
		require.Len(t, moved.Snapshot(p.All(), p.Len(), 7, 2), 7, "all of a small model")
		shown := moved.Snapshot(p.All(), p.Len(), 5, 2)
		require.Equal(t, []string{"0", "1", "2", "5", "6"}, names(shown), "the first and the last two")
		value, _ := p.Get("1")
		require.NoError(t, value.Memset(map[tensor.Dtype]any{tensor.Float32: float32(5), tensor.Float64: 5.0}[dt]))
		before, now, change := shown[1].Norms()
		require.Equal(t, []float64{6, 10, 4}, []float64{before, now, change})
		_, _, change = shown[0].Norms()
		require.Zero(t, change)
	}
}

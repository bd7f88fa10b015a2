package apply

import (
	"math"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// TestApplyWidens: F16, BF16 and F32 files can be computed with in float64; the
// reference is rounded to float32.
func TestApplyWidens(t *testing.T) {
	f := caseFiles(t, "half")
	compareWithTorch(t, "half", f, nil, tensor.Float64, 1e-7, tensor.Float64)
}

// TestApplyMaskTypes: a mask is the same in every type, and so are whole numbers.
func TestApplyMaskTypes(t *testing.T) {
	keep := []int8{1, 1, 0, 1, 0, 1, 1}
	shown := make([]bool, len(keep))
	for i, v := range keep {
		shown[i] = v == 1
	}
	places := []int8{0, 1, 2, 3, 5, 6, 100}
	for _, row := range []struct {
		name  string
		types []any
	}{
		{name: "keep", types: []any{shown, keep, safetensors.Convert[uint8](keep),
			safetensors.Convert[int16](keep), safetensors.Convert[int32](keep), safetensors.Convert[int64](keep),
			safetensors.Convert[float32](keep), safetensors.Convert[float64](keep)}},
		{name: "key_positions", types: []any{places, safetensors.Convert[uint8](places),
			safetensors.Convert[int16](places), safetensors.Convert[int32](places), safetensors.Convert[int64](places)}},
	} {
		var first *safetensors.File
		for _, data := range row.types {
			f := caseFiles(t, "attention_inputs")
			f.input = withTensor(t, f.input, safetensors.Tensor{Name: row.name, Shape: []int{7}, Data: data})
			out := applied(t, f)
			if first == nil {
				first = out
			}
			require.Equal(t, first, out, "%s as %T", row.name, data)
		}
	}
}

// TestApplyReadsWholeNumbersExactly: segments that round to the same float64 stay different.
func TestApplyReadsWholeNumbersExactly(t *testing.T) {
	ids := func(to int64) []int64 {
		list := make([]int64, 14)
		for i := range list {
			list[i] = math.MaxInt64 - to*int64(i%2)
		}
		return list
	}
	weights := func(ids []int64) []float64 {
		f := caseFiles(t, "attention_gpt2")
		f.input = withTensor(t, f.input, safetensors.Tensor{Name: "segments", Shape: []int{2, 7}, Data: ids})
		w, ok := applied(t, f).Get("weights")
		require.True(t, ok)
		return w.Data.([]float64)
	}
	near, far, same := weights(ids(1)), weights(ids(1<<40)), weights(ids(0))
	require.Equal(t, far, near)
	require.NotEqual(t, same, near)
	require.Zero(t, near[7], "query 1 does not see key 0")
}

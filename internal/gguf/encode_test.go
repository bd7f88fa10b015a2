package gguf

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"attention/internal/safetensors"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Decoded numbers differ from the originals by at most half a step, and the scale is determined by the largest number.
func TestQ8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		block := make([]float32, 32)
		for i := range block {
			block[i] = float32(r.NormFloat64() * 0.1)
		}
		stored := appendQ8(nil, block)
		require.Len(t, stored, 34)
		scale := float64(safetensors.Round(safetensors.F16, largest(block)/127))
		require.Equal(t, binary.LittleEndian.Uint16(stored), safetensors.Half(float32(scale)))
		for i, v := range block {
			// Half a step, and the rounding of the scale, which matters for the largest number.
			require.InDelta(t, v, scale*float64(int8(stored[2+i])), 0.5*scale+127*scale*0x1p-11, i)
		}
		require.Contains(t, []int8{127, -127}, slices.MaxFunc(int8s(stored[2:]), func(a, b int8) int {
			return max(int(a), -int(a)) - max(int(b), -int(b))
		}))
	}
	// The largest is 127: the scale is 1, and ties go away from zero.
	stored := appendQ8(nil, append([]float32{127, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997}, make([]float32, 25)...))
	assert.Equal(t, []int8{127, 1, -1, 2, 3, -3, 0}, int8s(stored[2:9]))
	assert.Equal(t, make([]byte, 34), appendQ8(nil, make([]float32, 32)), "all zeros")
}

func largest(block []float32) (most float32) {
	for _, v := range block {
		most = max(most, v, -v)
	}
	return most
}

func int8s(b []byte) (to []int8) {
	for _, v := range b {
		to = append(to, int8(v))
	}
	return to
}

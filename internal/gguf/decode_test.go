package gguf

import (
	"math"
	"testing"

	"attention/internal/golden"
	"attention/internal/safetensors"
	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

// onSets runs a test with each set of kernels.
func onSets(t *testing.T, test func(set string)) {
	before := simd.Current()
	t.Cleanup(func() { simd.Use(before) })
	for _, s := range simd.Sets() {
		simd.Use(s)
		test(s.String())
	}
	simd.Use(before)
}

// Blocks decode to the numbers of the Python package gguf, bit for bit (testdata/gguf/blocks.py). All NaNs count as
// equal.
func TestDecode(t *testing.T) {
	path, err := golden.Path("gguf", "blocks.safetensors")
	require.NoError(t, err)
	r, err := safetensors.Open(path)
	require.NoError(t, err)
	defer r.Close()
	f, err := r.ReadAll()
	require.NoError(t, err)
	data := map[string]any{}
	for _, of := range f.Tensors {
		data[of.Name] = of.Data
	}
	for _, typ := range readTypes() {
		if typ == F32 {
			continue
		}
		t.Run(string(typ), func(t *testing.T) {
			blocks, want := data[string(typ)+".blocks"].([]uint8), data[string(typ)+".values"].([]float32)
			numbers, size := types[typ].block, types[typ].bytes
			require.Len(t, want, len(blocks)/size*numbers)
			onSets(t, func(set string) {
				got := make([]float32, len(want))
				types[typ].decode(got, blocks)
				different := 0
				for i := range want {
					both := want[i] != want[i] && got[i] != got[i]
					if !both && math.Float32bits(want[i]) != math.Float32bits(got[i]) {
						different++
					}
				}
				require.Zero(t, different, "of %d with %s", len(want), set)
			})
		})
	}
	require.Len(t, data, 2*(len(readTypes())-1))
}

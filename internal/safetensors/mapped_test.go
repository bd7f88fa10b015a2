package safetensors

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The bytes of a tensor are those in the file, in the file's memory or in a copy.
func TestBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.safetensors")
	require.NoError(t, WriteFile(path, &File{Tensors: []Tensor{
		{Name: "a", Shape: []int{2}, Data: []float32{1, -2}}, {Name: "b", Shape: []int{3}, Data: []uint8{7, 8, 9}},
	}}))
	for _, unmapped := range []bool{false, true} {
		r := must(Open(path))
		r.unmapped = unmapped
		a, isMapped, err := r.Bytes("a")
		require.NoError(t, err)
		require.Equal(t, !r.unmapped, isMapped)
		require.Equal(t, float32(1), math.Float32frombits(binary.LittleEndian.Uint32(a)))
		require.Equal(t, float32(-2), math.Float32frombits(binary.LittleEndian.Uint32(a[4:])))
		b, _, err := r.Bytes("b")
		require.NoError(t, err)
		require.Equal(t, []byte{7, 8, 9}, b)
		require.Equal(t, len(b), cap(b))
		_, _, err = r.Bytes("c")
		require.EqualError(t, err, `safetensors: `+path+`: tensor "c": there is none of this name, only "a", "b"`)
		require.NoError(t, r.Close())
		b[0] = 1 // the change stays in this process
		require.Equal(t, []uint8{7, 8, 9}, must(ReadFile(path)).Tensors[1].Data)
	}
}

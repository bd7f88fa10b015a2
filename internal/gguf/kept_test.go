package gguf

import (
	"math/rand/v2"
	"testing"

	"attention/internal/dense"
	"attention/internal/kernel"

	"github.com/stretchr/testify/require"
	"gorgonia.org/tensor"
)

// finiteBlocks returns random blocks of a type whose numbers are finite.
func finiteBlocks(r *rand.Rand, t Type, numbers int) (blocks []byte) {
	of := types[t]
	one, decoded := make([]byte, of.bytes), tensor.New(tensor.Of(tensor.Float32), tensor.WithShape(of.block))
	for len(blocks) < numbers/of.block*of.bytes {
		for i := range one {
			one[i] = byte(r.Uint32())
		}
		if of.decode(decoded.Float32s(), one); dense.IsFinite(decoded) {
			blocks = append(blocks, one...)
		}
	}
	return blocks
}

// Products of one row, a few and many with a weight of every type, transposed or not, have the bits of products with
// the weight's numbers in float32.
func TestKeptProducts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const rows, width = 70, 512
	for _, typ := range readTypes() {
		t.Run(string(typ), func(t *testing.T) {
			stored := dense.OfBytes(typ.Kept(), finiteBlocks(r, typ, rows*width), false, rows, width)
			wide := make([]float32, rows*width)
			types[typ].decode(wide, dense.BytesOf(stored, 0, len(wide)))
			require.Equal(t, wide, dense.Float32s(stored, 0, len(wide)))
			require.Equal(t, wide[5:717], dense.Float32s(stored, 5, 717))
			require.True(t, dense.IsFinite(stored))
			if typ == F32 {
				return
			}
			for _, trans := range []bool{false, true} {
				n, k := width, rows
				if trans {
					n, k = k, n
				}
				for _, m := range []int{1, 3, 150} {
					x := make([]float32, m*k)
					for i := range x {
						x[i] = float32(r.NormFloat64())
					}
					product := func(w kernel.Matrix[float32]) []float32 {
						y := make([]float32, m*n)
						kernel.Product[float32]{M: m, N: n, K: k, Alpha: 1, A: kernel.Rows(x, k), B: w.Op(trans),
							C: kernel.Rows(y, n)}.Compute()
						return y
					}
					onSets(t, func(set string) {
						want, got := product(kernel.Rows(wide, width)), product(dense.StoredMatrix[float32](stored, width))
						for i := range want {
							if both := want[i] != want[i] && got[i] != got[i]; !both {
								require.Equal(t, want[i], got[i], "%d rows, transposed %v, %s", m, trans, set)
							}
						}
					})
				}
			}
		})
	}
}

// A NaN or an infinity in one block of many is found.
func TestKeptNotFinite(t *testing.T) {
	blocks := finiteBlocks(rand.New(rand.NewPCG(1, 2)), Q8, 64*100)
	require.True(t, dense.IsFinite(dense.OfBytes(Q8.Kept(), blocks, false, 64, 100)))
	blocks[34*199+1] = 0x7c
	require.False(t, dense.IsFinite(dense.OfBytes(Q8.Kept(), blocks, false, 64, 100)))
}

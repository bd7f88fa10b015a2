package kernel

import (
	"math/rand/v2"
	"testing"

	"attention/internal/simd"

	"github.com/stretchr/testify/require"
)

func testCopyTransposed[F Float](t *testing.T, _ simd.Set) {
	r := rand.New(rand.NewPCG(29, 30))
	for range 200 {
		rows, cols, pad := r.IntN(40), r.IntN(40), r.IntN(3)
		src := normals[F](r, rows*(cols+pad)+1)
		dst := make([]F, cols*(rows+pad)+1)
		CopyTransposed(rows, cols, dst, rows+pad, src, cols+pad)
		for j := range cols {
			for i := range rows + pad {
				want := F(0) // behind a row nothing is written
				if i < rows {
					want = src[i*(cols+pad)+j]
				}
				require.Equal(t, want, dst[j*(rows+pad)+i], "%d×%d: (%d,%d)", rows, cols, i, j)
			}
		}
	}
}

func TestCopyTransposed(t *testing.T) {
	onPaths(t, testCopyTransposed[float32], testCopyTransposed[float64])
}

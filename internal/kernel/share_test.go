package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// squares is a call that sets each item to its square.
type squares struct{ out []int }

func (c squares) Do(lo, hi int) {
	for i := lo; i < hi; i++ {
		c.out[i] = i * i
	}
}

func TestShareDoesEveryItem(t *testing.T) {
	setProcs(t, 3)
	for _, n := range []int{0, 1, 9, 10, 1000} {
		out := make([]int, n)
		Share(squares{out}, n, 5)
		for i, v := range out {
			require.Equal(t, i*i, v)
		}
		noAllocations(t, "Share", func() { Share(squares{out}, n, 5) })
	}
}

func testCopyTransposed[F Float](t *testing.T, _ path) {
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

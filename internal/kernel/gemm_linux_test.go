package kernel

import (
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"attention/internal/simd"
)

// guarded moves x into memory with inaccessible pages on both sides, adjacent to the page behind it or to the one
// before it. A kernel that reads or writes outside then ends the test with a fault.
func guarded[F Float](t *testing.T, x []F, flushEnd bool) []F {
	if len(x) == 0 {
		return x
	}
	page, size := os.Getpagesize(), len(x)*simd.SizeOf[F]()
	inside := (size + page - 1) / page * page
	const access, kind = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_ANON | syscall.MAP_PRIVATE
	all, err := syscall.Mmap(-1, 0, inside+2*page, access, kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, guard := range [][]byte{all[:page], all[page+inside:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if flushEnd {
		at += inside - size
	}
	y := unsafe.Slice((*F)(unsafe.Pointer(&all[at])), len(x))
	copy(y, x)
	return y
}

func testGuarded[F Float](t *testing.T, p simd.Set) {
	r := rand.New(rand.NewPCG(13, uint64(p)))
	rows, lanes := simd.TileShape[F]()
	ms := []int{1, 3, rows, 2*rows + 5}
	ns := []int{1, lanes - 1, 2 * lanes, 2*lanes + 1, 3*lanes + 2}
	ks := []int{1, 3, lanes + 1, 67}
	for i := range len(ms) * len(ns) * len(ks) * 8 {
		m, n, k := ms[i/8%len(ms)], ns[i/8/len(ms)%len(ns)], ks[i/8/len(ms)/len(ns)]
		x := newProblem[F](r, 1, i&1 != 0, i&2 != 0, m, n, k, 1, F(i&4), 0)
		for _, o := range []*operand[F]{&x.a, &x.b, &x.c} {
			// The guard elements of an operand would be at the position of the inaccessible page.
			o.data = guarded(t, o.data[:(o.rows-1)*o.ld+o.cols], r.IntN(3) > 0)
		}
		x.check(t)
	}
	// Strides that make the kernels copy.
	for _, trans := range bothWays {
		x := newProblem[F](r, 1, trans, trans, 4096/simd.SizeOf[F](), 61, 35, 1, 0, 0)
		x.a.data, x.b.data = guarded(t, x.a.data, true), guarded(t, x.b.data, true)
		x.check(t)
	}
	// Columns that make them copy.
	for i, trans := range bothWays {
		x := newProblem[F](r, 1, trans, trans, rows+5, manyColumns+3, 35, 1, F(i), 0)
		x.a.data, x.b.data = guarded(t, x.a.data, true), guarded(t, x.b.data, true)
		x.check(t)
	}
}

func TestGemmStaysInsideItsSlices(t *testing.T) {
	onPaths(t, testGuarded[float32], testGuarded[float64])
}

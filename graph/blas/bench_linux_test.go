package blas

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// benchShapes are products of float32: squares, skinny matrices, those of attention with B 2, T 1024 and width 768, and
// products of the other layers.
var benchShapes = []struct {
	name, way string
	m, n, k   int
}{
	{"gemm", "NN", 64, 64, 64}, {"gemm", "NN", 128, 128, 128}, {"gemm", "NN", 256, 256, 256},
	{"gemm", "NN", 512, 512, 512}, {"gemm", "NN", 1024, 1024, 1024},
	{"gemm", "NN", 1024, 64, 1024}, {"gemm", "NT", 1024, 1024, 64},
	{"gemm", "NN", 2048, 768, 768}, {"gemm", "NT", 2048, 2304, 768}, {"gemm", "TN", 768, 768, 2048},
	{"trsm", "N", 1024, 1024, 0}, {"syrk", "N", 1024, 768, 0},
}

// BenchmarkAgainstOthers reports, for each shape, the rate and its ratio to the rates of gonum and of OpenBLAS if that
// is installed (the best of its kernels). The libraries take turns, and the best turn of each counts, so that other
// work on the machine affects all alike. With -cpu 1 all use one thread and the benchmark counts processor time, which
// other work affects least.
func BenchmarkAgainstOthers(b *testing.B) {
	others := startOpenBLAS(b)
	for _, s := range benchShapes {
		b.Run(fmt.Sprintf("%s/%s/%dx%dx%d", s.name, s.way, s.m, s.n, s.k), func(b *testing.B) {
			ours := benchCall(Implementation{}, s.name, s.way, s.m, s.n, s.k)
			theirs := benchCall(gonum.Implementation{}, s.name, s.way, s.m, s.n, s.k)
			var best, gonums, openBLAS = math.Inf(1), math.Inf(1), math.Inf(1)
			for round := range 4 {
				best = min(best, bestTurn(ours))
				if round == 0 || gonums < 0.1 {
					gonums = min(gonums, bestTurn(theirs))
				}
				for _, o := range others {
					openBLAS = min(openBLAS, o.time(b, fmt.Sprintln(s.name, s.way, s.m, s.n, s.k)))
				}
			}
			work := 2 * float64(s.m) * float64(s.n)
			switch s.name {
			case "gemm":
				work *= float64(s.k)
			case "trsm":
				work *= float64(s.m) / 2
			case "syrk":
				work *= float64(s.m) / 2
			}
			b.ReportMetric(work/best/1e9, "GFLOP/s")
			b.ReportMetric(gonums/best, "of-gonum")
			if len(others) > 0 {
				b.ReportMetric(openBLAS/best, "of-OpenBLAS")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

// benchCall returns a call whose repetition leaves its numbers as they are.
func benchCall(i blas.Float32, name, way string, m, n, k int) func() {
	transpose := func(at, rows, cols int) (blas.Transpose, int) {
		if way[at] == 'T' {
			return blas.Trans, rows
		}
		return blas.NoTrans, cols
	}
	switch name {
	case "gemm":
		tA, lda := transpose(0, m, k)
		tB, ldb := transpose(1, k, n)
		x, y, z := numbers(m*k), numbers(k*n), numbers(m*n)
		return func() { i.Sgemm(tA, tB, m, n, k, 1, x, lda, y, ldb, 0, z, n) }
	case "trsm":
		x, y := numbers(m*m), numbers(m*n)
		for i := range m {
			x[i*m+i] = 1
		}
		return func() { i.Strsm(blas.Left, blas.Lower, blas.NoTrans, blas.NonUnit, m, n, 1, x, m, y, n) }
	}
	x, z := numbers(m*n), numbers(m*m)
	return func() { i.Ssyrk(blas.Lower, blas.NoTrans, m, n, 1, x, n, 0, z, m) }
}

func numbers(count int) []float32 {
	x := make([]float32, count)
	for i := range x {
		x[i] = float32(i%7-3) / 1024
	}
	return x
}

// bestTurn returns the seconds of one run in the fastest of some turns.
func bestTurn(f func()) float64 {
	best := math.Inf(1)
	for turn, times := 0, 1; turn < 5; {
		start := now()
		for range times {
			f()
		}
		took := now() - start
		if took < 2*time.Millisecond {
			times *= 2
			continue
		}
		best = min(best, took.Seconds()/float64(times))
		turn++
		if took > 200*time.Millisecond {
			break
		}
	}
	return best
}

// now returns the time or, on one thread, the processor time of the process.
func now() time.Duration {
	if runtime.GOMAXPROCS(0) > 1 {
		return time.Since(begin)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

var begin = time.Now()

// openBLAS is a running program that times OpenBLAS.
type openBLAS struct {
	name string
	in   io.Writer
	out  *bufio.Scanner
}

// startOpenBLAS compiles testdata/openblas.c and starts it once for each kind of kernels that OpenBLAS may choose, or
// none if it is not installed.
func startOpenBLAS(b *testing.B) (all []*openBLAS) {
	program := filepath.Join(b.TempDir(), "openblas")
	compile := exec.Command("cc", "-O2", "-o", program, "testdata/openblas.c", "-lopenblas")
	if out, err := compile.CombinedOutput(); err != nil {
		b.Logf("OpenBLAS is not compared: %v %s", err, out)
		return nil
	}
	seen := map[string]bool{}
	for _, kind := range []string{"", "SKYLAKEX", "COOPERLAKE", "HASWELL"} {
		c := exec.CommandContext(b.Context(), program)
		c.Env = append(os.Environ(), fmt.Sprintf("OPENBLAS_NUM_THREADS=%d", runtime.GOMAXPROCS(0)))
		if runtime.GOMAXPROCS(0) == 1 {
			c.Args = append(c.Args, "cpu")
		}
		if kind != "" {
			c.Env = append(c.Env, "OPENBLAS_CORETYPE="+kind)
		}
		in, err := c.StdinPipe()
		require.NoError(b, err)
		out, err := c.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, c.Start())
		b.Cleanup(func() { _ = in.Close(); _ = c.Wait() })
		o := &openBLAS{in: in, out: bufio.NewScanner(out)}
		require.True(b, o.out.Scan())
		if o.name = o.out.Text(); !seen[o.name] {
			seen[o.name] = true
			all = append(all, o)
		}
	}
	return all
}

// time returns the seconds of a call. Then time waits until OpenBLAS's threads sleep.
func (o *openBLAS) time(b *testing.B, call string) float64 {
	_, err := io.WriteString(o.in, call)
	require.NoError(b, err)
	require.True(b, o.out.Scan(), "%s has ended", o.name)
	var seconds float64
	_, err = fmt.Sscan(strings.TrimSpace(o.out.Text()), &seconds)
	require.NoError(b, err)
	if runtime.GOMAXPROCS(0) > 1 {
		time.Sleep(60 * time.Millisecond)
	}
	return seconds
}

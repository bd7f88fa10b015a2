package blas

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

func timeIt(f func(), least time.Duration) float64 {
	n := 1
	for {
		s := time.Now()
		for range n {
			f()
		}
		if d := time.Since(s); d > least {
			return d.Seconds() / float64(n)
		}
		n *= 2
	}
}

func TestScratch(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512}
	if v := os.Getenv("SIZES"); v != "" {
		sizes = nil
		for _, x := range strings.Split(v, ",") {
			n, _ := strconv.Atoi(x)
			sizes = append(sizes, n)
		}
	}
	only := os.Getenv("ONLY")
	for _, f := range functions {
		if only != "" && f.name != only {
			continue
		}
		for way := range 4 {
			for _, single := range []bool{true, false} {
				line := fmt.Sprintf("%s %d s=%v:", f.name, way, single)
				for _, n := range sizes {
					d := &drawer{single: single, r: rand.New(rand.NewPCG(1, 2))}
					d.tA, d.tB, d.ul, d.d, d.s = blas.NoTrans, blas.NoTrans, blas.Upper, blas.NonUnit, blas.Left
					if way&1 != 0 {
						d.tA, d.ul = blas.Trans, blas.Lower
					}
					if way&2 != 0 {
						d.tB, d.s = blas.Trans, blas.Right
					}
					d.m, d.n, d.k, d.alpha, d.beta, d.incX, d.incY = n, n, n, 1, 1e-3, 1, 1
					f.draw(d)
					for i := range d.a {
						if d.a[i] != d.a[i] {
							d.a[i] = 0.1
						}
					}
					if f.name == "trmm" || f.name == "trmv" || f.solves {
						for i := range n {
							d.a[i*d.lda+i] = 1
						}
					}
					p, q := mapped(&d.arguments, narrow), mapped(&d.arguments, narrow)
					P, Q := mapped(&d.arguments, same), mapped(&d.arguments, same)
					var a, b float64 = 1e9, 1e9
					for range 40 {
						if single {
							a = min(a, timeIt(func() { f.single(Implementation{}, p) }, 20*time.Microsecond))
							b = min(b, timeIt(func() { f.single(gonum.Implementation{}, q) }, 20*time.Microsecond))
						} else {
							a = min(a, timeIt(func() { f.double(Implementation{}, P) }, 20*time.Microsecond))
							b = min(b, timeIt(func() { f.double(gonum.Implementation{}, Q) }, 20*time.Microsecond))
						}
					}
					mark := ""
					if b/a < 1 {
						mark = "!"
					}
					line += fmt.Sprintf(" %d:%.2f%s(%.0f)", n, b/a, mark, a*1e9)
				}
				fmt.Println(line)
			}
		}
	}
}

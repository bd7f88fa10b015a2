package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
)

// functions are the functions of a number, in float64.
var functions = map[Function]func(x float64) float64{
	Abs: math.Abs,
	Sign: func(x float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return x // 0, −0, NaN
	},
	Ceil:        math.Ceil,
	Floor:       math.Floor,
	Sqrt:        math.Sqrt,
	Inverse:     func(x float64) float64 { return 1 / x },
	Square:      func(x float64) float64 { return x * x },
	Cube:        func(x float64) float64 { return x * x * x },
	ReLU:        func(x float64) float64 { return max(x, 0) },
	InverseSqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
	Log: func(x float64) float64 {
		if x > 0 && x < 0x1p-1022 { // for these math.Log is wrong on amd64
			return math.Log(x*0x1p52) - 52*math.Ln2
		}
		return math.Log(x)
	},
}

// fusedLog says whether Go's compiler fuses products and sums in math.Log, which changes its last digit.
const fusedLog = runtime.GOARCH == "arm64"

// All paths give the results of package math, rounded once.
func testApply[F Float](t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	x := edges[F]()
	for exponent := -60; exponent <= 60; exponent++ { // of every size
		for _, v := range normals[F](r, 300) {
			x = append(x, F(math.Ldexp(float64(v), exponent)))
		}
	}
	for i := range 2000 { // close to 1, and to √½
		x = append(x, 1+F(i-1000)*1e-7, math.Sqrt2/2+F(i-1000)*6e-8)
	}
	for f, exact := range functions {
		for _, p := range paths() {
			t.Run(fmt.Sprint(f, p), func(t *testing.T) {
				onPath(t, p)
				y := nans[F](len(x))
				Apply(f, Settings{-3.7, 2.9}, y, x)
				for i, v := range x {
					want := F(exact(float64(v)))
					if f == Cube { // rounds twice
						want = v * v * v
					}
					if fusedLog && f == Log && math.Abs(float64(y[i]-want)) <= 0x1p-52*math.Abs(float64(want)) {
						continue
					}
					requireSame(t, want, y[i], "function %d of %v", f, v)
				}
			})
		}
	}
}

func TestApply(t *testing.T) {
	t.Run("float32", testApply[float32])
	t.Run("float64", testApply[float64])
}
